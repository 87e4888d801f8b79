package tables

import (
	"cmp"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/touch"
)

// finish lists what the function of each element of a sum reads, for so many elements of the sum from one on. Elements
// that are parts of rows have the operands of these rows.
func (x *launched) finish(first, count int64) {
	if x.Finish == nil || count == 0 {
		return
	}
	operands := x.Finish.Operands
	columns := int64(1)
	if x.Finish.Rowed() {
		columns = int64(x.p[x.At.Finish+len(operands)])
	}
	for i, o := range operands {
		from, n := first, count
		switch o.Lies {
		case kernels.ByColumn:
			from, n = 0, columns
		case kernels.ByRow:
			from = first / columns
			n = (first+count+columns-1)/columns - from
		}
		typ := cmp.Or(o.Type, x.Type)
		x.add(touch.Touch{Kind: touch.Read, At: driver.Ptr(x.p[x.At.Finish+i]) + driver.Ptr(typ.Bytes(int(from))),
			Bytes: typ.Bytes(int(n)), Type: typ})
	}
}
