package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// bases are the extents of a small shape, and of an odd one, before they are fitted to a program.
var bases = []map[schedule.Extent]int64{
	{schedule.M: 1, schedule.K: 2, schedule.N: 4, schedule.N2: 2, schedule.N3: 8, schedule.F: 2, schedule.P: 6,
		schedule.W: 4},
	{schedule.M: 3, schedule.K: 5, schedule.N: 7, schedule.N2: 9, schedule.N3: 11, schedule.F: 13, schedule.P: 15,
		schedule.W: 6},
}

const (
	scale     = 1 << 15   // from an odd shape to a large one: a chunk of two such extents is wide
	wide      = 1<<32 + 1 // the least number of bytes of a chunk of a large shape, if extents allow it
	maxExtent = 1 << 29   // of a large shape
)

// shape is a shape to record at. large says that its chunks are wide.
type shape struct {
	ops.Case
	large bool
}

// odd is the index of the odd shape among the cases.
const odd = 1

// cases returns the shapes at which a program is recorded, for a number of ranks and the bytes of an element: a small,
// an odd and a large shape. For kernels that multiply few rows it adds a shape with few rows. For uneven parts it adds
// the odd shape with counts of zero.
func cases(p *hostir.Program, ranks int, element int64) ([]shape, error) {
	n := countsOf(p, ranks)
	var list []shape
	for _, base := range bases {
		list = append(list, shape{Case: fit(p, ranks, element, base, ramp(n, 1))})
	}
	large, err := grown(p, fit(p, ranks, element, scaled(bases[1], scaleOf(p)), ramp(n, scale)))
	list = append(list, shape{large, true})
	if p.Schedule.FewRows > 0 {
		// The second one by several tiles a block.
		for _, of := range []struct{ rows, scale int64 }{{1, 256}, {16 * int64(ranks), 1 << 16}} {
			few := scaled(bases[0], of.scale)
			few[schedule.M] = of.rows
			list = append(list, shape{Case: fit(p, ranks, element, few, ramp(n, 1))})
		}
	}
	if n > 0 {
		zeros := make([]int64, n)
		first, second, last := slices.Clone(zeros), slices.Clone(zeros), slices.Clone(zeros)
		first[0], second[min(1, n-1)], last[n-1] = 7, 3, 1 // the second of each pair travels
		odd := [][]int64{first, second, last, zeros}
		if _, all := p.Schedule.Multiplied(); all { // without rows there is no product
			odd = odd[:3]
		}
		for _, counts := range odd {
			list = append(list, shape{Case: fit(p, ranks, element, bases[1], counts)})
		}
	}
	return list, err
}

// scaled multiplies all extents, and gives heads their usual width.
func scaled(base map[schedule.Extent]int64, by int64) map[schedule.Extent]int64 {
	large := maps.Clone(base)
	for e := range large {
		large[e] *= by
	}
	large[schedule.W] = 128
	return large
}

// scaleOf is the scale of a program's extents: of three or more extents, several together are wide.
func scaleOf(p *hostir.Program) int64 {
	by := int64(scale)
	for _, b := range p.Buffers {
		if n := len(extentsOf(b)); n > 2 {
			by = min(by, 1<<(30/n))
		}
	}
	return by
}

// ramp is n counts; neighbours differ.
func ramp(n int, unit int64) []int64 {
	var list []int64
	for i := range n {
		list = append(list, unit*int64(1+i%3))
	}
	return list
}

// countsOf is the number of counts that the program's Bind takes.
func countsOf(p *hostir.Program, ranks int) int {
	if _, balanced := p.Balanced(); balanced {
		return 0
	}
	return p.CountsTaken(ranks)
}

// fit rounds extents up to the multiples that the program requires.
func fit(p *hostir.Program, ranks int, element int64, base map[schedule.Extent]int64, counts []int64) ops.Case {
	extents := maps.Clone(base)
	for range 2 { // a second check of an extent may undo the first
		for _, c := range p.Checks {
			by := c.Divisor(int64(ranks), extents[schedule.W])
			if n, ok := extents[c.Extent]; ok && n%by != 0 {
				extents[c.Extent] *= by
			}
		}
	}
	counts = bounded(p, counts)
	if len(counts) > 0 {
		rows := int64(0)
		for _, n := range counts {
			rows += n
		}
		if extents[schedule.M] = max(rows, 1); p.Schedule.Bounded() {
			extents[schedule.P] = slices.Max(counts) + 1
		}
	}
	maps.Copy(extents, p.Schedule.Constants())
	c := ops.Case{Ranks: ranks, Counts: counts, ElementBits: 8 * element, Extents: hostir.Env{}}
	for _, e := range schedule.Extents() {
		c.Extents[string(e)] = extents[e]
	}
	return c
}

// bounded limits counts to the most rows of a part, where that number is a constant.
func bounded(p *hostir.Program, counts []int64) []int64 {
	most, constant := p.Schedule.Constants()[schedule.P]
	if !constant || !p.Schedule.Bounded() {
		return counts
	}
	list := slices.Clone(counts)
	for i, n := range list {
		list[i] = min(n, most)
	}
	return list
}

// grown doubles extents until a chunk of each buffer is wide: of each buffer the least extent, and of the smallest
// chunk first, since New counts the largest extents together. A chunk of a single extent need not be wide. A bias,
// which is not cut, keeps its size. So does a chunk of an extent and a constant where there are chunks of two extents:
// two such extents would make the other chunks too large to address.
func grown(p *hostir.Program, c ops.Case) (ops.Case, error) {
	c.Extents = maps.Clone(c.Extents)
	grows := func(e schedule.Extent) bool {
		_, constant := p.Schedule.Constants()[e]
		return !constant && c.Extents[string(e)] <= maxExtent/2 && (e != schedule.P || !p.Schedule.Bounded()) &&
			(len(c.Counts) == 0 || e != schedule.M)
	}
	most := 0
	for _, b := range p.Buffers {
		most = max(most, len(extentsOf(b)))
	}
	buffers, env := slices.Clone(p.Buffers), c.Env(p)
	slices.SortStableFunc(buffers, func(a, b hostir.Buffer) int {
		x, _ := a.Chunk.Eval(env) // an error is found below
		y, _ := b.Chunk.Eval(env)
		return cmp.Compare(x, y)
	})
	for _, b := range buffers {
		used := extentsOf(b)
		if len(b.Tensor.Axes) == 1 || len(used) < min(most, 2) {
			continue
		}
		for {
			n, err := b.Chunk.Eval(c.Env(p))
			if err != nil {
				return c, err
			}
			var least schedule.Extent
			for _, e := range schedule.Extents() {
				if used[e] && grows(e) && (least == "" || c.Extents[string(e)] < c.Extents[string(least)]) {
					least = e
				}
			}
			if n*c.ElementBits/8 >= wide || least == "" {
				break
			}
			c.Extents[string(least)] *= 2
		}
	}
	return c, nil
}

// extentsOf are the symbols in the size of a buffer's chunk, but not the width of heads, which stays the same.
func extentsOf(b hostir.Buffer) map[schedule.Extent]bool {
	used := map[schedule.Extent]bool{}
	b.Chunk.Vars(func(v string) {
		if e := schedule.Extent(v); e != schedule.W && slices.Contains(schedule.Extents(), e) {
			used[e] = true
		}
	})
	return used
}

// String is "M 3, K 5, N 7".
func (c shape) String() string {
	s := fmt.Sprintf("M %d, K %d, N %d", c.Extents["M"], c.Extents["K"], c.Extents["N"])
	if len(c.Counts) > 0 {
		s += fmt.Sprintf(", counts %d", c.Counts[:min(len(c.Counts), 8)])
	}
	return s
}
