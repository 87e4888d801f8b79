package driver

import "fmt"

// Type is the element type of a tensor; sums are kept in fp32.
type Type uint8

// Element types.
const (
	BF16 Type = iota + 1
	FP16
	FP32 // computed in fp32, not TF32
	E4M3 // OCP's E4M3FN
	E5M2
	E2M1  // two share a byte, the first in its low four bits
	UE8M0 // powers of two, for scales: no sign, and no zero
)

// element describes a type: a sign, an exponent, and a significand whose first digit is not stored.
type element struct {
	name     string
	exponent int  // bits of the exponent
	digits   int  // binary digits of the significand: integers up to 2^digits are exact; 0: only powers of two, no sign
	finite   bool // the greatest exponent has numbers and one NaN, instead of infinities
	numbers  bool // the greatest exponent has only numbers: no NaN either
}

// elements is the table of the types. Sizes, conversions and bounds follow from it; products depend on the driver.
var elements = [...]element{
	BF16:  {name: "bf16", exponent: 8, digits: 8},
	FP16:  {name: "fp16", exponent: 5, digits: 11},
	FP32:  {name: "fp32", exponent: 8, digits: 24},
	E4M3:  {name: "e4m3", exponent: 4, digits: 4, finite: true},
	E5M2:  {name: "e5m2", exponent: 5, digits: 3},
	E2M1:  {name: "e2m1", exponent: 2, digits: 2, finite: true, numbers: true},
	UE8M0: {name: "ue8m0", exponent: 8, finite: true},
}

// Types are all element types, by their numbers.
func Types() (list []Type) {
	for t := BF16; t.Valid(); t++ {
		list = append(list, t)
	}
	return list
}

// ParseType returns the element type with the given name.
func ParseType(name string) (Type, bool) {
	for _, t := range Types() {
		if elements[t].name == name {
			return t, true
		}
	}
	return 0, false
}

// Valid reports whether t is the number of an element type.
func (t Type) Valid() bool { return int(t) < len(elements) && elements[t].name != "" }

// described is the type's row. It panics for an unknown type, so that no memory is measured by a guess.
func (t Type) described() element {
	if !t.Valid() {
		panic(fmt.Sprintf("driver: there is no element type %d", uint8(t)))
	}
	return elements[t]
}

// Bits of an element.
func (t Type) Bits() int64 { return int64(t.described().exponent + t.described().digits) }

// Size of an element in bytes. Elements that share a byte have no size: Bytes measures their memory.
func (t Type) Size() int64 { return t.Bytes(1) }

// Exponent is the number of bits of an element's exponent.
func (t Type) Exponent() int { return t.described().exponent }

// Finite reports whether the type has no infinities.
func (t Type) Finite() bool { return t.described().finite }

// NaN reports whether the type has a NaN. Without one, a NaN becomes the type's greatest number.
func (t Type) NaN() bool { return !t.described().numbers }

// Saturates reports whether too large a number becomes the greatest number: devices convert to 8 bits in no other way.
func (t Type) Saturates() bool { return t.Bits() <= 8 }

// Digits is the number of binary digits of an element's significand. Without digits they are powers of two.
func (t Type) Digits() int { return t.described().digits }

// Bytes is the size of the given number of elements. It panics where they do not fill whole bytes.
func (t Type) Bytes(elements int) int64 {
	bits := int64(elements) * t.Bits()
	if bits%8 != 0 {
		panic(fmt.Sprintf("driver: %d elements of %s are no whole number of bytes", elements, t))
	}
	return bits / 8
}

// String is the type's name as commands take it: "bf16".
func (t Type) String() string {
	if t.Valid() {
		return elements[t].name
	}
	return "no type"
}
