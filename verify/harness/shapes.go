package harness

import (
	"fmt"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/reference"
)

// String is "m,k,n".
func (s Shape) String() string { return fmt.Sprintf("%d,%d,%d", s.M, s.K, s.N) }

// fit derives the extents that m, k and n leave open. Further products of one A are
// key and value beside the query of grouped-query attention, a quarter as wide, or,
// where there are two products, gate and up of the same width. In an MLP n is what
// the other programs take it for, a rank's share of the first layer: F is n*D, and
// the second layer leads back to k columns.
func (s Shape) fit(p *Program, ranks int) Shape {
	if schedule.Op(p.Op) == schedule.MLP && s.F == 0 {
		s.F, s.N = s.N*ranks, s.K
	}
	narrow := max(s.N/4/8*8, 8)
	if !p.has("B3") {
		narrow = s.N
	}
	if s.N2 == 0 {
		s.N2 = narrow
	}
	if s.N3 == 0 {
		s.N3 = narrow
	}
	if s.P == 0 && p.uneven() {
		s.P = slices.Max(counts(s.M, ranks))
	}
	return s
}

// extents are the values of the symbols.
func (s Shape) extents(ranks int) reference.Extents {
	return reference.Extents{schedule.M: s.M, schedule.K: s.K, schedule.N: s.N, schedule.N2: s.N2, schedule.N3: s.N3,
		schedule.F: s.F, schedule.P: s.P, schedule.D: ranks}
}

// problem is the program at a shape, as the reference takes it.
func (p *Program) problem(s Shape, ranks int) (*reference.Problem, error) {
	s = s.fit(p, ranks)
	x := &reference.Problem{Op: schedule.Op(p.Op), Tensors: p.Tensors, Extents: s.extents(ranks), Type: s.Type}
	if p.uneven() {
		x.Counts = counts(s.M, ranks)
		if _, ok := reference.Ragged(x.Tensor("A")); ok {
			x.Counts = pairs(x.Counts)
		}
	}
	return x, x.Check()
}

func (p *Program) uneven() bool {
	return slices.ContainsFunc(p.Tensors, unevenly)
}

// unevenly says that the ranks' parts of a tensor differ in size.
func unevenly(t Tensor) bool {
	return slices.ContainsFunc(t.Axes, func(a Axis) bool {
		return slices.ContainsFunc(a.Outer, func(o Split) bool { return o.Uneven })
	})
}

// counts are parts of m that differ: every second rank has up to three more than
// its share and the next as many fewer.
func counts(m, ranks int) []int {
	list := make([]int, ranks)
	share := m / ranks
	for r := range list {
		list[r] = share
		if r%2 == 1 {
			moved := min(share, 3)
			list[r-1], list[r] = share+moved, share-moved
		}
	}
	list[ranks-1] += m % ranks
	return list
}

// pairs are counts for each pair of ranks, of which every rank sends and receives as
// much as the given ones hold.
func pairs(counts []int) (list []int) {
	for from := range counts {
		for to := range counts {
			list = append(list, counts[(to-from+len(counts))%len(counts)])
		}
	}
	return list
}

// fits says which extent of a shape the program's placements can't be cut by.
func (p *Program) fits(s Shape, ranks int) error {
	for _, x := range []struct {
		name   string
		symbol schedule.Extent
		value  int
	}{{"m", schedule.M, s.M}, {"k", schedule.K, s.K}, {"n", schedule.N, s.fit(p, ranks).N}} {
		if d := p.divisor(x.symbol, ranks); x.value%d != 0 {
			return fmt.Errorf("shape %s: %s must be a multiple of %d for %s on %d ranks", s, x.name, d, p.Name, ranks)
		}
	}
	return nil
}

func (p *Program) divisor(x schedule.Extent, ranks int) int {
	return reference.Divisor(x, p.Tensors, reference.Extents{schedule.D: ranks})
}

// uses says whether an axis of the program has that extent.
func (p *Program) uses(x schedule.Extent) bool {
	for _, t := range p.Tensors {
		if slices.ContainsFunc(t.Axes, func(a Axis) bool { return a.Extent == x }) {
			return true
		}
	}
	return false
}

// shapesOf are the shapes to run with a type: those asked for, or the defaults.
func (o *options) shapesOf(p *Program, t driver.Type, onGPU bool) []Shape {
	list := o.shapes
	if len(list) == 0 && o.command == "bench" {
		list = p.benchShapes(o.ranks, onGPU)
	} else if len(list) == 0 {
		list = p.verifyShapes(t, o.ranks, onGPU)
	}
	typed := make([]Shape, len(list))
	for i, s := range list {
		s.Type = t
		typed[i] = s
	}
	return typed
}

// verifyShapes are a plain one and one whose rows a rank are no multiple of 8,
// where the type allows with odd K and N too; GPUs get one that fills them. All are
// widened to what the placements need, rows to an even number a part, since parts
// may travel in halves.
func (p *Program) verifyShapes(t driver.Type, ranks int, onGPU bool) []Shape {
	odd := Shape{M: 26 * ranks, K: 72, N: 40, N2: 16, N3: 24}
	granule := 8
	if t == driver.FP32 {
		odd.K, odd.N, odd.N2, odd.N3, granule = 67, 35, 9, 11, 1
	}
	list := []Shape{{M: 16 * ranks, K: 64, N: 48}, odd}
	if onGPU {
		list = append(list, Shape{M: 500 * ranks, K: 4096, N: 3584})
	}
	for i, s := range list {
		rows := 2 * p.divisor(schedule.M, ranks)
		s.M = multiple(s.M, rows)
		if i == 1 && s.M/rows%2 == 0 && rows > 2*ranks {
			s.M += rows
		}
		s.K = p.widen(schedule.K, s.K, ranks, granule)
		s.N = p.widen(schedule.N, s.N, ranks, granule)
		list[i] = s
	}
	return list
}

// widen makes an extent a multiple of what its placements are cut in, parts being
// multiples of granule where they are cut.
func (p *Program) widen(x schedule.Extent, value, ranks, granule int) int {
	d := p.divisor(x, ranks)
	if d > 1 {
		d *= granule
	}
	return multiple(value, d)
}

func multiple(x, of int) int { return (x + of - 1) / of * of }

func (p *Program) benchShapes(ranks int, onGPU bool) []Shape {
	var list []Shape
	switch {
	case !onGPU:
		list = []Shape{{M: 64 * ranks, K: 256, N: 256}}
	case !p.uses(schedule.N): // an all-to-all of vectors
		for m := 1 << 10; m <= 1<<26; m *= 8 {
			list = append(list, Shape{M: m, K: 1, N: 1})
		}
	case p.bare():
		for m := 64; m <= 1<<16; m *= 8 {
			list = append(list, Shape{M: m, K: 1, N: 8192})
		}
	default:
		list = []Shape{
			{M: 32768, K: 16384, N: 8192}, {M: 16384, K: 8192, N: 8192}, {M: 8192, K: 8192, N: 8192}, {M: 4096, K: 8192, N: 7168},
			{M: 2048, K: 8192, N: 3584}, {M: 1024, K: 4096, N: 3584}, {M: 512, K: 4096, N: 3584},
		}
	}
	for i, s := range list {
		s.M, s.K, s.N = p.widen(schedule.M, s.M, ranks, 2), p.widen(schedule.K, s.K, ranks, 8), p.widen(schedule.N, s.N, ranks, 8)
		list[i] = s
	}
	return list
}

// bare says that the program only communicates.
func (p *Program) bare() bool {
	return schedule.Op(p.Op) == schedule.Copy || schedule.Op(p.Op) == schedule.Sum
}

// staging is what the plans of this command line need of the arena at most.
func (o *options) staging(onGPU bool) (bytes int64) {
	for _, p := range o.programs {
		for _, t := range o.typesOf(&p) {
			for _, s := range o.shapesOf(&p, t, onGPU) {
				if x, err := p.problem(s, o.ranks); err == nil { // else said where it runs
					bytes = max(bytes, staged(x))
				}
			}
		}
	}
	return bytes
}

// slack is room for what alignment takes, beside staged.
const slack = 288 << 10

// staged bounds what a plan of any schedule stages: what it gathers, what lies
// between two layers, and of partial results every rank's.
func staged(x *reference.Problem) int64 {
	ranks, elements := x.Extents[schedule.D], 0
	for _, t := range x.Tensors {
		n := x.Elements(t.Name)
		if reference.Result(t.Name) && x.Reduces() {
			n *= ranks + 1
		}
		elements += n
	}
	if x.Op == schedule.MLP {
		elements += x.Elements(reference.Hidden)
	}
	return int64(elements) * x.Type.Size()
}
