package emit

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// buffersComment is the comment of type Buffers.
const buffersComment = "Buffers are the caller's device memory, row-major, of elements of Shape.Type; plan.Plan.Bind " +
	"says what must hold of it."

// held says how a buffer lies in a rank's memory: "[M/D, K] in memory, M/D*K elements".
func (u *unit) held(b hostir.Buffer) string {
	ones := func(factor string) bool { return factor == "1" }
	elements := strings.Join(slices.DeleteFunc(strings.Split(b.Elements.String(), "*"), ones), "*")
	e, balanced := u.program.Balanced()
	_, _, sharded := b.Tensor.Sharded()
	switch {
	case balanced && sharded && !b.Counts.IsZero():
		return fmt.Sprintf("%s/D rows, and on the first %[1]s %% D ranks one more; at most %s elements", e, elements)
	case !balanced && !b.Counts.IsZero():
		return "as many elements as the counts say, at most " + elements
	}
	var axes []string
	for _, a := range b.Tensor.Axes {
		if x := inMemory(a); x != "1" || len(b.Tensor.Axes) == 1 {
			axes = append(axes, x)
		}
	}
	if elements += " elements"; elements == " elements" {
		elements = "1 element"
	}
	of := b.Tensor
	of.Type = ""
	if shape := "[" + strings.Join(axes, ", ") + "]"; shape != of.String() {
		return shape + " in memory, " + elements
	}
	return elements
}

// inMemory is the extent of an axis on one rank.
func inMemory(a schedule.Axis) string {
	text := string(a.Extent)
	if slices.ContainsFunc(a.Outer, func(s schedule.Split) bool { return s.Kind == schedule.DeviceX }) {
		if text += "/" + string(schedule.D); a.Extent == schedule.D {
			text = "1"
		}
	}
	return text
}
