package emit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// buffersComment is the comment of type Buffers.
const buffersComment = "Buffers are the caller's device memory, row-major, of elements of %s; Shape.Memory says how " +
	"many bytes each takes, and plan.Plan.Bind what must hold of it."

// elements names the types of the caller's tensors, with their sizes.
func (u *unit) elements() string {
	bytes := map[int64][]string{}
	for _, t := range driver.Types() {
		if slices.Contains(u.program.Schedule.Types, schedule.Type(t.String())) {
			bytes[t.Size()] = append(bytes[t.Size()], strings.ToUpper(t.String()))
		}
	}
	var sizes []string
	for _, size := range slices.Sorted(maps.Keys(bytes)) {
		sizes = append(sizes, fmt.Sprintf("%d bytes (%s)", size, strings.Join(bytes[size], ", ")))
	}
	text := "Shape.Type, " + strings.Join(sizes, " or ")
	if slices.ContainsFunc(u.callers(), func(b hostir.Buffer) bool { return b.Tensor.Type != "" }) {
		text += ", or of the type that a field names"
	}
	return text
}

// declared is a buffer's tensor as the schedule declares it.
func (u *unit) declared(b hostir.Buffer) schedule.Tensor {
	if t, ok := u.program.Schedule.Tensor(b.Name); ok {
		return t
	}
	return b.Tensor
}

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
	for _, a := range u.declared(b).Axes {
		for _, x := range inMemory(a) {
			if x != "1" || len(b.Tensor.Axes) == 1 {
				axes = append(axes, x)
			}
		}
	}
	if elements += " elements"; elements == " elements" {
		elements = "1 element"
	}
	elements += ofBits(b.Tensor.Type.Bits())
	of := u.declared(b)
	of.Type, of.Scale = "", ""
	if shape := "[" + strings.Join(axes, ", ") + "]"; shape != of.String() {
		return shape + " in memory, " + elements
	}
	return elements
}

// ofBits is the size of a tensor's elements as text; empty where they have the plan's type.
func ofBits(bits int64) string {
	switch bits {
	case 0:
		return ""
	case 4:
		return " of half a byte"
	case 8:
		return " of a byte"
	}
	return fmt.Sprintf(" of %d bytes", bits/8)
}

// inMemory returns the extents of an axis on one rank. It is one extent; where each batch is spread over the ranks, it
// is the counts of the batches and then their rows.
func inMemory(a schedule.Axis) []string {
	spread := slices.IndexFunc(a.Outer, func(s schedule.Split) bool { return s.Kind == schedule.DeviceX })
	switch {
	case spread < 0:
		return []string{string(a.Extent)}
	case a.Extent == schedule.D:
		return []string{"1"}
	case spread == 0:
		return []string{string(a.Extent) + "/" + string(schedule.D)}
	}
	var list, counts []string
	for _, s := range a.Outer[:spread] {
		list, counts = append(list, string(s.Count)), append(counts, string(s.Count))
	}
	return append(list, fmt.Sprintf("%s/(%s*%s)", a.Extent, strings.Join(counts, "*"), schedule.D))
}
