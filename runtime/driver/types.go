package driver

import "fmt"

// Type is the element type of a tensor; sums are kept in fp32.
type Type uint8

// Element types.
const (
	BF16 Type = iota + 1
	FP16
	FP32 // computed in fp32, not TF32
)

// element describes an element type.
type element struct {
	name   string
	size   int64 // in bytes
	digits int   // of the significand, in binary: integers up to 2^digits are exact
}

// elements is the table of the element types. What computes with the elements of one has a
// branch of its own for it: the products of drivers, conversions and templates.
var elements = map[Type]element{
	BF16: {"bf16", 2, 8},
	FP16: {"fp16", 2, 11},
	FP32: {"fp32", 4, 24},
}

// Types are all element types.
func Types() []Type { return []Type{BF16, FP16, FP32} }

// ParseType is the element type of a name.
func ParseType(name string) (Type, bool) {
	for _, t := range Types() {
		if elements[t].name == name {
			return t, true
		}
	}
	return 0, false
}

// Valid reports whether the number is that of an element type.
func (t Type) Valid() bool {
	_, ok := elements[t]
	return ok
}

// described is the type's row. What is no type has none: it panics, so that no memory is
// measured by a guess. New of a generated package and MatmulCreate refuse such a type.
func (t Type) described() element {
	e, ok := elements[t]
	if !ok {
		panic(fmt.Sprintf("driver: there is no element type %d", uint8(t)))
	}
	return e
}

// Size of an element in bytes.
func (t Type) Size() int64 { return t.described().size }

// Digits are the binary digits of an element's significand.
func (t Type) Digits() int { return t.described().digits }

// Bytes is the size of so many elements.
func (t Type) Bytes(elements int) int64 { return int64(elements) * t.Size() }

// String is the type's name as commands take it: bf16, fp16 or fp32.
func (t Type) String() string {
	if e, ok := elements[t]; ok {
		return e.name
	}
	return "no type"
}
