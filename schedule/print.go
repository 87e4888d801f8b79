package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Tensor returns the tensor of that name, and whether the schedule has it.
func (s Schedule) Tensor(name string) (Tensor, bool) {
	for _, t := range s.Tensors {
		if t.Name == name {
			return t, true
		}
	}
	return Tensor{}, false
}

// String writes the placement as papers do, [DIDx(D), M/D, K], followed by the tensor within which it lies.
func (t Tensor) String() string {
	var parts []string
	for _, a := range t.Axes {
		parts = append(parts, a.parts()...)
	}
	text := "[" + strings.Join(parts, ", ") + "]"
	if t.Type != "" {
		text = string(t.Type) + " " + text
	}
	if t.Scale != "" {
		text += " times " + t.Scale
	}
	if t.Within != "" {
		text += " within " + t.Within
	}
	if t.Constant {
		text += " constant"
	}
	return text
}

func (a Axis) parts() []string {
	var parts, counts []string
	for _, s := range a.Outer {
		switch s.Kind {
		case Plain:
			parts = append(parts, string(s.Count))
		default:
			parts = append(parts, string(s.Kind)+"("+string(s.Count)+s.remarks()+")")
		}
		counts = append(counts, string(s.Count))
	}
	switch len(counts) {
	case 0:
		return append(parts, string(a.Extent))
	case 1:
		if counts[0] == string(a.Extent) {
			return parts // each part is one index
		}
		return append(parts, string(a.Extent)+"/"+counts[0])
	}
	return append(parts, string(a.Extent)+"/("+strings.Join(counts, "*")+")")
}

// remarks say how the parts of a split are spread, where they are not in order.
func (s Split) remarks() string {
	text := ""
	if s.Shift != 0 {
		text += fmt.Sprintf(", shift %d", s.Shift)
	}
	switch {
	case s.Balanced:
		text += ", balanced"
	case s.Uneven:
		text += ", uneven"
	}
	if s.Most != "" {
		text += ", at most " + string(s.Most)
	}
	return text
}

// Sharded returns the index of the axis and split that spread the tensor over the
// mesh, and whether there is one.
func (t Tensor) Sharded() (axis, split int, ok bool) { return t.find(DeviceX) }

// InSteps says that the tensor is made, or taken, a part after another.
func (t Tensor) InSteps() bool {
	_, _, stream := t.find(StreamAxis)
	return stream
}

// Reduces says that the ranks hold partial results: that an axis which an operation sums
// over is spread over the mesh.
func (s Schedule) Reduces() bool { return slices.ContainsFunc(s.Ops, s.Partial) }

func (t Tensor) find(kind SplitKind) (axis, split int, ok bool) {
	for i, a := range t.Axes {
		for j, s := range a.Outer {
			if s.Kind == kind {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}
