package schedule

import (
	"fmt"
	"slices"
)

// Type is an element type; sums are kept in fp32.
type Type string

// Element types.
const (
	BF16 Type = "bf16"
	FP16 Type = "fp16"
	FP32 Type = "fp32"
)

// types are all element types. Packages take one that is asked only where Types names it.
var types = []struct {
	name  Type
	asked bool
}{{name: BF16}, {name: FP16}, {name: FP32}}

// ElementTypes are all element types.
func ElementTypes() (list []Type) {
	for _, t := range types {
		list = append(list, t.name)
	}
	return list
}

// WithDefaults returns the schedule with the element types that it leaves open. The ways
// that it leaves open are filled in by package lower, which knows what has to travel.
func (s Schedule) WithDefaults() Schedule {
	if len(s.Types) == 0 {
		for _, t := range types {
			if !t.asked {
				s.Types = append(s.Types, t.name)
			}
		}
	}
	return s
}

// checkTypes refuses unknown element types, and types of single tensors, which nothing
// lowers yet.
func (s Schedule) checkTypes(v *validation) {
	all := ElementTypes()
	for i, t := range s.Types {
		path := fmt.Sprintf("Types[%d]", i)
		oneOf(v, path, t, all...)
		if t == "" {
			v.add(path, "use one of the element types", "no type")
		} else if slices.Contains(s.Types[:i], t) {
			v.add(path, "leave it out", "%s is there already", t)
		}
	}
	for i, t := range s.Tensors {
		path := fmt.Sprintf("Tensors[%d].Type", i)
		oneOf(v, path, t.Type, all...)
		if slices.Contains(all, t.Type) {
			v.add(path, "leave it out, and set Types", "no pass lowers a tensor with an element type of its own")
		}
	}
}
