package tables

import (
	"cmp"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	"ovgen/runtime/plan"
	"ovgen/verify/touch"
)

func init() {
	touch.Register(ofTable)
	touch.Register(ofCall)
	touch.Register(ofFewRows)
}

// ofCall lists the touches of the caller's kernel. The parameters have the address and the bytes of the result and of
// each operand.
func ofCall(c kernels.Call) touch.Func {
	return func(params unsafe.Pointer, to []touch.Touch) []touch.Touch {
		p := unsafe.Slice((*uint64)(params), 2*(1+c.Operands))
		for i := 1; i <= c.Operands; i++ {
			to = append(to, touch.Reads(driver.Ptr(p[2*i]), int64(p[2*i+1])))
		}
		return append(to, touch.Writes(driver.Ptr(p[0]), int64(p[1])))
	}
}

// ofFewRows lists the touches of a product of few rows: the operands, the scales of a weight of eight bits, the bias
// and the result, and then the operands and the result of its function.
func ofFewRows(row fewrows.Row) touch.Func {
	return func(params unsafe.Pointer, to []touch.Touch) []touch.Touch {
		p, weight := row.Params(params), row.Type
		use := func(kind touch.Kind, at driver.Ptr, elements uint64, typ driver.Type) {
			to = append(to, touch.Touch{Kind: kind, At: at, Bytes: int64(elements) * typ.Size(), Type: typ})
		}
		if row.Narrow {
			weight = driver.E4M3
		}
		use(touch.Read, p.A, p.Rows*p.Depth, row.Type)
		use(touch.Read, p.B, p.Columns*p.Depth, weight)
		if row.Narrow {
			use(touch.Read, p.Scale, p.Scales, driver.FP32)
		}
		if p.Bias != plan.NoBias {
			use(touch.Read, p.Bias, p.Columns, row.Type)
		}
		use(touch.Write, p.To, p.Rows*p.Columns, row.Type)
		if row.Function == nil || row.Function.Made == nil {
			return to
		}
		elements := map[kernels.Lies]uint64{kernels.InPlace: p.Rows * p.Columns, kernels.ByColumn: p.Columns,
			kernels.ByRow: p.Rows}
		made := row.Function.Made
		use(touch.Read, p.To, elements[made.X.Lies], cmp.Or(made.X.Type, row.Type))
		for i, o := range made.Operands {
			use(touch.Read, p.Operands[i], elements[o.Lies], cmp.Or(o.Type, row.Type))
		}
		use(touch.Write, p.Made, p.Rows*p.Columns, cmp.Or(made.Type, row.Type))
		return to
	}
}
