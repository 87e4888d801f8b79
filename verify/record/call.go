package record

import (
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
	"ovgen/verify/ops"
)

// called says how a kernel of the caller was launched. The kernel's parameters are two words for each tensor that it
// touches, and then its arguments.
func (l *launch) called() string {
	var args []int64
	for _, w := range l.words[min(2*len(l.touches), len(l.words)):] {
		args = append(args, int64(w))
	}
	return ops.LaunchOf(int64(l.grid.X), int64(l.block.X), args...)
}

// called records a call, with the memory that it gets.
func (d *Driver) called(name string) plan.Call {
	return func(on driver.Stream, to plan.Range, from []plan.Range) error {
		from = slices.Clone(from)
		return d.take(call{stream: on, kind: ops.Call, operations: func(n *Names, o ops.Op) ([]ops.Op, error) {
			o.Form = name
			var list []use
			for _, x := range from {
				list = append(list, use{x.At, x.Bytes, false})
			}
			list = append(list, use{to.At, to.Bytes, true})
			if o.LeavesScales = to.Scales != 0; o.LeavesScales {
				list = append(list, use{to.Scales, to.Rows * driver.FP32.Size(), true})
			}
			err := n.uses(&o, list...)
			return []ops.Op{o}, err
		}})
	}
}
