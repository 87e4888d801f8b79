package hostir

import (
	"strconv"

	"ovgen/schedule"
)

// Balanced is the extent that a program spreads over the ranks in balanced parts, and whether it does.
func (p *Program) Balanced() (e schedule.Extent, ok bool) {
	for _, t := range p.Schedule.Tensors {
		if axis, split, sharded := t.Sharded(); sharded && t.Axes[axis].Outer[split].Balanced {
			return t.Axes[axis].Extent, true
		}
	}
	return "", false
}

// Counts are the rows of each rank's part of the extent that is spread in balanced parts, where env has the extents
// and D. There are none of another program: where its parts are uneven, Bind takes their counts.
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
