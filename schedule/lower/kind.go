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

// multiplies says that an operation is a product with a weight.
func multiplies(o schedule.Op) bool { return o.Call == "" && len(o.In) == 2 }

// indices are those of products in programs.
var indices = map[kind]string{linear: hostir.Linear, matmul: hostir.Matmul, gradient: hostir.Gradient}

// columnsAt is the axis of a product's weight that its result has for columns.
func columnsAt(o schedule.Op) int {
	if kind(o.Name()) == linear {
		return 0
	}
	return 1
}

// byProduct says that an operation other than a call makes a tensor.
func byProduct(s schedule.Schedule, name string) bool {
	o, made := s.Maker(name)
	return made && o.Call == ""
}

// ofProducts says that an operation other than a call reads a tensor.
func ofProducts(s schedule.Schedule, name string) bool {
	return slices.ContainsFunc(s.Ops, func(o schedule.Op) bool {
		return o.Call == "" && o.Reads(name)
	})
}
