package prove

import (
	"fmt"
	"slices"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// flat: a program that cuts a result by its elements is proven at shapes whose rows the ranks divide, and New also
// accepts other shapes. The other shapes have the same operations. They have the same contents if only copies and sums
// by elements use a part of a buffer: a product makes rows of rows, and the functions of a sum and others may
// read rows.
func flat(p *hostir.Program, m Model, lists [][]ops.Op) error {
	if !slices.ContainsFunc(p.Checks, func(c hostir.Divide) bool {
		rows := c
		rows.With = ""
		return c.With != "" && !slices.Contains(p.Checks, rows)
	}) {
		return nil
	}
	for _, list := range lists {
		for _, o := range list {
			if elementwise(o) {
				continue
			}
			for _, u := range o.Uses {
				b, ok := m.buffer(u.At.Buffer)
				if ok && (u.At.Offset != 0 || u.Bytes != b.Bytes) {
					return notAll(p, len(lists), fmt.Sprintf("%s is a part, of which a %s takes rows, and the "+
						"ranks need not divide the rows", u, o.Kind))
				}
			}
		}
	}
	return nil
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
