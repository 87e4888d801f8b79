package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// kind is the computation of an operation, by its name.
type kind string

// Kinds.
const (
	linear   kind = "linear"   // C = A * Bᵀ
	matmul   kind = "matmul"   // C = A * B
	gradient kind = "gradient" // C = Aᵀ * B
	copied   kind = "copy"     // C = A
	summedUp kind = "sum"      // C = A, added up over its first axis
)

// productOf is the index of a product with a weight, and the weight's axis of the result's columns.
func productOf(o schedule.Op) (index string, columns int, is bool) {
	switch kind(o.Name()) {
	case linear:
		return hostir.Linear, 0, true
	case matmul:
		return hostir.Matmul, 1, true
	case gradient:
		return hostir.Gradient, 1, true
	}
	return "", 0, false
}

// byProduct says that an operation other than a call makes a tensor.
func byProduct(s schedule.Schedule, name string) bool {
	o, made := s.Maker(name)
	return made && o.Call == ""
}

// ofProducts says that an operation other than a call reads a tensor.
func ofProducts(s schedule.Schedule, name string) bool {
	return slices.ContainsFunc(s.Ops, func(o schedule.Op) bool {
		return o.Call == "" && reads(o, name)
	})
}
