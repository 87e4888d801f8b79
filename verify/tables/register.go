package tables

import (
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

// ofFewRows lists the touches of a product of few rows, or of a product by a weight of eight bits, whose scales follow
// it.
func ofFewRows(row fewrows.Row) touch.Func {
	return func(params unsafe.Pointer, to []touch.Touch) []touch.Touch {
		p, weight := (*fewrows.Params)(params), row.Type
		if row.Boxes {
			p = &(*fewrows.Boxed)(params).Params
		}
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
		return to
	}
}
