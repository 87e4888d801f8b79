package prove

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Unroll is the model and the operations of all ranks for a mesh size, at a small shape. It refuses, with a
// *Counterexample of Shapes, a program whose proof at one shape would not hold at others. A program with uneven parts
// is unrolled with equal counts, and a program over hosts for its fewest hosts above one.
func Unroll(p *hostir.Program, d int) (Model, [][]ops.Op, error) {
	if d < 1 {
		return Model{}, nil, fmt.Errorf("prove %s: %d ranks", p.Name, d)
	}
	return unroll(p, d, p.FewestHosts(d))
}

func unroll(p *hostir.Program, d, hosts int) (Model, [][]ops.Op, error) {
	if err := hostir.Check(append(p.Setup[:len(p.Setup):len(p.Setup)], p.Body...)); err != nil {
		return Model{}, nil, fmt.Errorf("prove %s: %w", p.Name, err)
	}
	if wrong := dependsOnShape(p); wrong != "" {
		return Model{}, nil, notAll(p, d, wrong)
	}
	counts := samples(p, d)[0]
	small := shape(p, d, counts, sizes{2, 3, 5, 2}, 2)
	large := shape(p, d, counts, sizes{3, 7, 4, 5}, 4)
	if p.OverHosts() {
		small.Hosts, large.Hosts = hosts, hosts
	}
	m, lists, err := at(p, small)
	if err != nil {
		return Model{}, nil, err
	}
	n, other, err := at(p, large)
	if err != nil {
		return Model{}, nil, err
	}
	if err := compare(p, m, lists, n, other); err != nil {
		return Model{}, nil, err
	}
	if err := flat(p, m, small, lists); err != nil {
		return Model{}, nil, err
	}
	return m, lists, nil
}

// compare checks that the lists of two shapes are the same in units of chunks.
func compare(p *hostir.Program, m Model, lists [][]ops.Op, n Model, other [][]ops.Op) error {
	d := len(lists)
	a, err := units(m, lists)
	if err != nil {
		return notAll(p, d, err.Error())
	}
	b, err := units(n, other)
	if err != nil {
		return notAll(p, d, err.Error())
	}
	for r := range a {
		for i := range min(len(a[r]), len(b[r])) {
			if a[r][i] != b[r][i] {
				return notAll(p, d, fmt.Sprintf("rank %d: %s at one shape, %s at another", r, a[r][i], b[r][i]))
			}
		}
		if len(a[r]) != len(b[r]) {
			return notAll(p, d, fmt.Sprintf("rank %d has %d operations at one shape and %d at another", r,
				len(a[r]), len(b[r])))
		}
	}
	return nil
}

// sizes are extents: of rows, of the contracted axis, of columns, and of the columns
// between two layers.
type sizes struct{ m, k, n, f int64 }

// shape is a shape that New accepts, with about s.m rows a part.
func shape(p *hostir.Program, d int, counts []int64, s sizes, element int64) ops.Case {
	extents := map[schedule.Extent]int64{schedule.M: s.m, schedule.K: s.k, schedule.N: s.n, schedule.F: s.f,
		schedule.N2: s.n + 1, schedule.N3: s.n + 2, schedule.W: 2 * s.f, schedule.P: 1}
	for _, check := range p.Checks {
		if check.Extent == schedule.W {
			extents[schedule.W] = multiple(extents[schedule.W], check.Divisor(int64(d), 0))
		}
	}
	parts := map[schedule.Extent]int64{}
	for _, check := range p.Checks {
		if check.Extent == schedule.W {
			continue
		}
		parts[check.Extent] = multiple(max(parts[check.Extent], 1), check.Divisor(int64(d), extents[schedule.W]))
	}
	for e, n := range parts {
		extents[e] *= n
	}
	if counts != nil {
		rows := schedule.M
		if e, ok := p.Balanced(); ok {
			rows = e
		}
		extents[rows] = 0
		for _, n := range counts {
			extents[rows] += n
		}
		if p.Schedule.Bounded() { // no part has more
			extents[schedule.P] = multiple(max(slices.Max(counts), 1), max(parts[schedule.P], 1))
		}
	}
	c := ops.Case{Ranks: d, ElementBits: 8 * element, Counts: counts, Extents: hostir.Env{}}
	for _, e := range schedule.Extents() {
		c.Extents[string(e)] = extents[e]
	}
	return c
}

// multiple is the least number of times n that by divides.
func multiple(n, by int64) int64 {
	a, b := n, by
	for b != 0 {
		a, b = b, a%b
	}
	return n * (by / max(a, 1))
}

func at(p *hostir.Program, c ops.Case) (Model, [][]ops.Op, error) {
	m, err := Of(p, c)
	if err != nil {
		return Model{}, nil, err
	}
	lists, err := c.Unroll(p)
	return m, lists, err
}

func notAll(p *hostir.Program, d int, problem string) *Counterexample {
	return &Counterexample{Program: p.Name, Ranks: d, Property: Shapes, Problem: problem,
		Suggestion: "let indices, bounds, peers and branches depend on r, D and loop indices only, and " +
			"slices be whole chunks"}
}

// units prints lists with offsets and sizes counted in each buffer's chunks.
func units(m Model, lists [][]ops.Op) ([][]string, error) {
	lines := make([][]string, len(lists))
	for r, list := range lists {
		for _, o := range list {
			o.Uses, o.Launch, o.Columns, o.Heads = slices.Clone(o.Uses), "", 0, nil
			o.Scaled = 0
			for i, u := range o.Uses {
				b, ok := m.buffer(u.At.Buffer)
				if !ok || u.At.Rank < 0 || u.At.Rank >= len(lists) {
					continue
				}
				from, to, ok := b.span(u.At.Rank, u.At.Offset, u.Bytes)
				if !ok {
					return nil, fmt.Errorf("%s: not whole chunks of %d bytes", u, b.Chunk)
				}
				o.Uses[i].At.Offset, o.Uses[i].Bytes = int64(from), int64(to-from)
			}
			lines[r] = append(lines[r], o.String())
		}
	}
	return lines, nil
}

// dependsOnShape names an expression of the body that mentions an extent.
func dependsOnShape(p *hostir.Program) (wrong string) {
	see := func(what string, e hostir.Expr) {
		e.Vars(func(v string) {
			if wrong == "" && slices.Contains(schedule.Extents(), schedule.Extent(v)) {
				wrong = fmt.Sprintf("%s %s depends on %s", what, e, v)
			}
		})
	}
	hostir.Walk(p.Body, func(n hostir.Node) {
		if s, ok := n.(hostir.Step); ok {
			// These expressions do not change which bytes the step uses.
			s = hostir.Changed(s, func(x *hostir.Apply) { *x = x.OfAnyColumns() })
			s = hostir.Changed(s, func(x *hostir.Product) { x.Then = x.Then.OfAnyColumns() })
			s = hostir.Changed(s, func(x *hostir.Sum) { x.Columns, x.Finish.Columns = hostir.Expr{}, hostir.Expr{} })
			s = hostir.Changed(s, func(x *hostir.Packets) {
				x.Then, x.Finish.Columns = x.Then.OfAnyColumns(), hostir.Expr{}
			})
			s = hostir.Changed(s, func(x *hostir.PacketSpread) {
				x.Sum.Then, x.Sum.Finish.Columns = x.Sum.Then.OfAnyColumns(), hostir.Expr{}
			})
			s = hostir.Changed(s, func(x *hostir.PacketRows) {
				x.Make, x.Then = x.Make.OfAnyColumns(), x.Then.OfAnyColumns()
			})
			s = hostir.Changed(s, func(x *hostir.Scatter) { x.Finish.Columns = hostir.Expr{} })
			n = hostir.Changed(s, func(x *hostir.Call) { x.Launch = hostir.Launch{} })
		}
		hostir.Exprs(n, see)
	})
	for _, b := range p.Buffers {
		see("the count of a chunk of "+b.Name, b.Counts)
	}
	for _, s := range p.Semaphores {
		see("the members of "+s.Name, s.Count)
	}
	return wrong
}

// samples lists the counts for which a program with uneven parts is proven: equal counts, growing counts, counts with
// one zero, and all rows in one part. Where there is no room for counts that are all different, there are further
// samples, and any two counts differ in one of them. Balanced parts have a sample for every number of longer parts.
// Without uneven parts there is one sample, without counts.
func samples(p *hostir.Program, d int) [][]int64 {
	n := p.CountsTaken(d)
	if n == 0 {
		return [][]int64{nil}
	}
	if e, ok := p.Balanced(); ok {
		return balanced(p, string(e), int64(d))
	}
	equal, ramp, hole, one := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	room := roomOf(p.Schedule)
	for i := range n {
		equal[i], ramp[i], hole[i] = min(2, room), min(int64(i+1), room), min(3, room)
	}
	if _, all := p.Schedule.Multiplied(); !all || n > 1 { // without rows there is no product
		hole[n/2] = 0
	}
	one[n-1] = min(3, room)
	return append([][]int64{equal, ramp, hole, one}, toldApart(n, room)...)
}

// toldApart lists counts of at most 2, by the binary digits of their numbers, where growing counts have no room.
func toldApart(n int, room int64) (list [][]int64) {
	for digit := 1; digit < n && room < int64(n); digit *= 2 {
		counts := make([]int64, n)
		for i := range counts {
			counts[i] = min(2, room) - int64(i/digit%2)
		}
		list = append(list, counts)
	}
	return list
}

// roomOf is the greatest count that Bind takes, where tensors bound it by a constant.
func roomOf(s schedule.Schedule) int64 {
	room := int64(math.MaxInt64)
	for _, t := range s.Tensors {
		if axis, split, ok := t.Sharded(); ok {
			if most, err := strconv.ParseInt(string(t.Axes[axis].Outer[split].Most), 10, 64); err == nil {
				room = min(room, most)
			}
		}
	}
	return room
}

// balanced lists the counts for which a program with balanced parts is proven: equal counts, a sample for each number
// of parts that have a row more, and one part that alone has a row. So any two parts differ in one of the samples.
func balanced(p *hostir.Program, extent string, d int64) (list [][]int64) {
	for more := range d {
		list = append(list, p.Counts(hostir.Env{extent: 2*d + more, "D": d}))
	}
	return append(list, p.Counts(hostir.Env{extent: 1, "D": d}))
}
