package hostir

import (
	"strconv"

	"ovgen/schedule"
)

// Balanced is the extent that a program spreads over the ranks in balanced parts, and whether there is one.
func (p *Program) Balanced() (e schedule.Extent, ok bool) {
	for _, t := range p.Schedule.Tensors {
		if axis, split, sharded := t.Sharded(); sharded && t.Axes[axis].Outer[split].Balanced {
			return t.Axes[axis].Extent, true
		}
	}
	return "", false
}

// MostBalanced is the number of rows of the largest balanced part, which the first rank has; absent: there is none.
func (p *Program) MostBalanced() Expr {
	e, ok := p.Balanced()
	if !ok {
		return Expr{}
	}
	return Div(Sub(Add(Extent(e), Size), Const(1)), Size)
}

// Counts are the numbers of rows of the ranks' parts of the extent that is spread in balanced parts; env has the
// extents and D. It is nil for other programs: Bind takes the counts of uneven parts.
func (p *Program) Counts(env Env) []int64 {
	e, ok := p.Balanced()
	if !ok {
		return nil
	}
	rows, constant := strconv.ParseInt(string(e), 10, 64)
	if constant != nil {
		rows = env[string(e)]
	}
	counts := make([]int64, env[string(schedule.D)])
	for r, ranks := 0, len(counts); r < ranks; r++ {
		counts[r] = (rows + int64(ranks-1-r)) / int64(ranks)
	}
	return counts
}
