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

// types are the element types that packages take.
var types = []Type{BF16, FP16, FP32}

// WithDefaults returns the schedule with the element types that it leaves open. The ways
// that it leaves open are filled in by package lower, which knows what has to travel.
func (s Schedule) WithDefaults() Schedule {
	if len(s.Types) == 0 {
		s.Types = slices.Clone(types)
	}
	return s
}

// checkTypes refuses element types that there are not, and those of single tensors, which
// nothing lowers yet.
func (s Schedule) checkTypes(v *validation) {
	for i, t := range s.Types {
		path := fmt.Sprintf("Types[%d]", i)
		oneOf(v, path, t, types...)
		if t == "" {
			v.add(path, "use one of the element types", "no type")
		} else if slices.Contains(s.Types[:i], t) {
			v.add(path, "leave it out", "%s is there already", t)
		}
	}
	for i, t := range s.Tensors {
		path := fmt.Sprintf("Tensors[%d].Type", i)
		oneOf(v, path, t.Type, types...)
		if slices.Contains(types, t.Type) {
			v.add(path, "leave it out, and set Types", "no pass lowers a tensor with an element type of its own")
		}
	}
}
