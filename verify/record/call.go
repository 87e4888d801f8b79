package record

import (
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
	"ovgen/verify/ops"
)

// called records work of the caller's own, with the memory that it is given.
func (d *Driver) called(name string) plan.Call {
	return func(on driver.Stream, to plan.Range, from []plan.Range) error {
		from = slices.Clone(from)
		return d.take(call{stream: on, kind: ops.Call, operations: func(n *Names, o ops.Op) ([]ops.Op, error) {
			o.Form = name
			var list []use
			for _, x := range from {
				list = append(list, use{x.At, x.Bytes, false})
			}
			err := n.uses(&o, append(list, use{to.At, to.Bytes, true})...)
			return []ops.Op{o}, err
		}})
	}
}
