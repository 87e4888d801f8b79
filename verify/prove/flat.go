package prove

import (
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// flat: a program that cuts a result by its elements is proven at shapes whose rows the ranks divide, and New also
// accepts other shapes. The other shapes have the same operations. They have the same contents if only copies and sums
// by elements use a part of a buffer that may end within a row: a product makes rows of rows, and the functions of a
// sum and others may read rows.
func flat(p *hostir.Program, m Model, x ops.Case, lists [][]ops.Op) error {
	odd := undivided(p, x)
	if odd == nil {
		return nil
	}
	for _, list := range lists {
		for _, o := range list {
			if elementwise(o) {
				continue
			}
			for _, u := range o.Uses {
				b, ok := m.buffer(u.At.Buffer)
				if ok && (u.At.Offset != 0 || u.Bytes != b.Bytes) && !ofRows(p, b.Name, odd) {
					return notAll(p, len(lists), fmt.Sprintf("%s is a part, of which a %s takes rows, and the "+
						"ranks need not divide the rows", u, o.Kind))
				}
			}
		}
	}
	return nil
}

// undivided is a shape like another, but for one row of each result whose rows the ranks need not divide, and more of
// its columns; nil: there is no such result.
func undivided(p *hostir.Program, x ops.Case) hostir.Env {
	odd, found := x.Env(p), false
	for _, c := range p.Checks {
		rows := c
		if rows.With = ""; c.With != "" && !slices.Contains(p.Checks, rows) {
			found = true
			odd[string(c.Extent)], odd[string(c.With)] = 1, odd[string(c.With)]*odd[string(schedule.D)]
		}
	}
	if !found {
		return nil
	}
	return odd
}

// ofRows reports whether the chunks of a buffer are whole rows at a shape.
func ofRows(p *hostir.Program, buffer string, at hostir.Env) bool {
	b, ok := p.Buffer(buffer)
	if !ok || len(b.Tensor.Axes) == 0 {
		return false
	}
	row, axes := int64(1), b.Tensor.Axes
	of, scales := p.Schedule.ScaledBy(buffer) // one a row, or one a block of it
	if len(axes) > 1 && (!scales || len(axes) == len(of.Axes)) {
		columns := hostir.Elements(schedule.Tensor{Axes: axes[len(axes)-1:]})
		row, _ = columns.Eval(at)
	}
	chunk, err := b.Chunk.Eval(at)
	return err == nil && chunk > 0 && row > 0 && chunk%row == 0
}

// elementwise reports whether an operation uses the elements of its operands and of its result each for itself.
func elementwise(o ops.Op) bool {
	switch o.Kind {
	case ops.Sum: // of terms as large as the result, and of what lies in place
		terms, _ := ops.FinishOf(&o, o.Reads())
		return o.Columns == 0 && !slices.ContainsFunc(terms, func(u ops.Use) bool {
			return u.Bytes != o.Result().Bytes
		})
	case ops.Copy, ops.Take, ops.Collective, ops.Signal, ops.Record, ops.WaitEvent, ops.After, ops.Done:
		return true
	}
	return false
}
