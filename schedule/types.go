package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Type is an element type; sums are kept in fp32.
type Type string

// Element types.
const (
	BF16 Type = "bf16"
	FP16 Type = "fp16"
	FP32 Type = "fp32"
)

// I32 is the type of tensors that only calls read, such as a position: 32-bit integers.
const I32 Type = "i32"

// Types of codes, which have few digits, and scales. The first two have eight bits, the second with more exponent and
// fewer digits; the third has four. Products take E4M3, and E5M2 beside it.
const (
	E4M3 Type = "e4m3"
	E5M2 Type = "e5m2"
	E2M1 Type = "e2m1"
)

// UE8M0 is a type for scales alone, of blocks of 32 columns: powers of two.
const UE8M0 Type = "ue8m0"

// own has the types that a tensor may have whatever the plan's type is: their bits and, for codes, the types of their
// scales, the usual one first.
var own = map[Type]struct {
	bits   int64
	scales []Type
}{I32: {bits: 32}, FP32: {bits: 32}, UE8M0: {bits: 8}, E4M3: {8, []Type{FP32, UE8M0}}, E5M2: {8, []Type{FP32, UE8M0}},
	E2M1: {4, []Type{E4M3, UE8M0}}}

// Bits is the number of bits of an element of such a type; 0 where a tensor has the type of the plan.
func (t Type) Bits() int64 { return own[t].bits }

// Coded reports whether elements are codes, which have scales.
func (t Type) Coded() bool { return len(own[t].scales) > 0 }

// bits is the number of bits of a code, as a word.
func (t Type) bits() string {
	if t.Bits() < 8 {
		return "four"
	}
	return "eight"
}

// named is the type's name in a program.
func (t Type) named() string { return "schedule." + strings.ToUpper(string(t)) }

// types are all element types of plans. Packages take a type that is asked only where Types names it.
var types = []struct {
	name  Type
	asked bool
}{{name: BF16}, {name: FP16}, {name: FP32}}

// ElementTypes are all element types of plans.
func ElementTypes() (list []Type) {
	for _, t := range types {
		list = append(list, t.name)
	}
	return list
}

// WithDefaults returns the schedule with the element types that it leaves open. Package lower fills in the ways that it
// leaves open, since lower knows the tensors that have to travel.
func (s Schedule) WithDefaults() Schedule {
	if len(s.Types) == 0 {
		for _, t := range types {
			if !t.asked && !(t.name == FP32 && s.Scaled()) {
				s.Types = append(s.Types, t.name)
			}
		}
	}
	return s
}

// checkTypes refuses unknown element types, and types of single tensors that no pass lowers.
func (s Schedule) checkTypes(v *validation) {
	all := ElementTypes()
	for i, t := range s.Types {
		path := fmt.Sprintf("Types[%d]", i)
		oneOf(v, path, t, all...)
		if t == "" {
			v.add(path, "use one of the element types", "no type")
		} else if slices.Contains(s.Types[:i], t) {
			v.add(path, "leave it out", "%s is there already", t)
		} else if t == FP32 && s.Scaled() {
			v.add(path, "leave it out", "products of eight bits have results of 16")
		}
	}
	for i, t := range s.Tensors {
		path := fmt.Sprintf("Tensors[%d].Type", i)
		oneOf(v, path, t.Type, append(all, I32, E4M3, E5M2, E2M1, UE8M0)...)
		switch _, scales := s.ScaledBy(t.Name); {
		case scales:
		case t.Type == UE8M0:
			v.add(path, "name it as the Scale of a tensor of codes", "only scales are powers of two")
		case t.Type == FP32:
			s.checkFP32(v, path, t)
		case slices.Contains(all, t.Type):
			v.add(path, "leave it out, and set Types", "no pass lowers a tensor with an element type of its own")
		case t.Type == I32 && !s.calledFor(t.Name):
			v.add(path, "leave it out", "only calls read tensors of integers, as second operands or later ones")
		}
	}
}

// calledFor reports whether only calls read a tensor, and not as their first operand.
func (s Schedule) calledFor(tensor string) bool {
	t, _ := s.Tensor(tensor)
	return t.Within == "" && !slices.ContainsFunc(s.Ops, func(o Op) bool {
		return o.Out == tensor || o.Operands()[0] == tensor || o.Call == "" && o.Reads(tensor)
	})
}

// OfPlan are the tensors of a list that have the type of the plan.
func (s Schedule) OfPlan(tensors []string) []string {
	return slices.DeleteFunc(slices.Clone(tensors), func(name string) bool {
		t, _ := s.Tensor(name)
		return t.Type != ""
	})
}
