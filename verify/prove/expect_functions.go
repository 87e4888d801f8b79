package prove

import (
	"fmt"
	"slices"

	"ovgen/schedule"
)

// severalRows reports whether a result has more than one row there.
func severalRows(out []rune, bound map[rune]interval) bool {
	return slices.ContainsFunc(out[:len(out)-1], func(l rune) bool { return bound[l].len() > 1 })
}

// behind are the terms that the functions add to a sum of partial results: tensors, and then rows.
func (x *expectation) behind(op schedule.Op, out []rune, rank int, bound map[rune]interval) (list []expr, err error) {
	var rows []expr
	for _, f := range op.Then[:x.Schedule.MadeFrom(op)] {
		if f.Do == schedule.ApplyToFP32 || f.Joins {
			continue // of the sum, or ahead of it
		}
		if len(f.In) != 1 || f.Do != schedule.AddBias && f.Do != schedule.AddTensor {
			return nil, fmt.Errorf("no rule for %s behind a sum", f)
		}
		axes := out
		if f.Do == schedule.AddBias {
			axes = out[len(out)-1:]
		}
		part, err := x.boxOf(axes, bound)
		if err != nil {
			return nil, err
		}
		if f.Do == schedule.AddTensor {
			added, err := x.chunk(f.In[0], rank, part)
			if err != nil {
				return nil, err
			}
			list = append(list, added)
			continue
		}
		added, err := x.operand(f.In[0], rank, part)
		if err != nil {
			return nil, err
		}
		if severalRows(out, bound) {
			added = x.row(added)
		}
		rows = append(rows, added)
	}
	return append(list, rows...), nil
}
