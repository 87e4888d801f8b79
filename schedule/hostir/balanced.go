package hostir

import (
	"maps"
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

// CountsTaken is how many counts the sizes of chunks are made of, one for each rank or for each pair of ranks; 0: all
// chunks of a buffer are of one size. It is the same however many ranks a host has.
func (p *Program) CountsTaken(ranks int) int {
	most, env := int64(-1), Env{string(schedule.D): int64(ranks), PerHost.String(): 1}
	maps.Copy(env, p.Constants)
	for _, b := range p.Buffers {
		for env["q"] = range int64(ranks) {
			for env["c"] = range int64(ranks) {
				if i, err := b.Counts.Eval(env); err == nil {
					most = max(most, i)
				}
			}
		}
	}
	return int(most + 1)
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
