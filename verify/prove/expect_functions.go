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
	for _, f := range x.Schedule.With(op).Then {
		if f.Joins {
			continue // ahead of the sum
		}
		axes, tensor, row := out, f.Adds(), f.AddsRow()
		switch {
		case row != "":
			axes = out[len(out)-1:]
		case tensor == "":
			return nil, fmt.Errorf("no rule for %s behind a sum", f)
		}
		part, err := x.boxOf(axes, bound)
		if err != nil {
			return nil, err
		}
		if tensor != "" {
			added, err := x.chunk(tensor, rank, part)
			if err != nil {
				return nil, err
			}
			list = append(list, added)
			continue
		}
		added, err := x.operand(row, rank, part)
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
