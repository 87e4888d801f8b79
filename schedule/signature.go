package schedule

import (
	"cmp"
	"slices"
	"strings"
)

// Signature is the part of the schedule that a caller sees: the operation, and the part of each tensor that each rank
// brings or gets. Schedules of one signature compute the same results from the same buffers, so one can stand for
// another: package tuned chooses among them.
func (s Schedule) Signature() string {
	var b strings.Builder
	for i, o := range s.Apart().Ops {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(o.String())
	}
	for _, t := range s.Tensors {
		b.WriteString(" " + t.Name + t.held().String())
		if t.Root {
			b.WriteString(" on rank 0")
		}
	}
	if s.OverHosts() {
		b.WriteString(" over hosts")
	}
	switch {
	case s.Invariant && s.FewRows > 0:
		b.WriteString(" with the equal bits of kernels of few rows")
	case s.Invariant:
		b.WriteString(" with equal bits")
	}
	return b.String()
}

// Families groups a list by the signature of its schedules, in the order of the list. All schedules of a family compute
// the same. A family whose schedules call weights Constant ends with the schedules that compute the same and leave the
// caller free to write them.
func Families[T any](list []T, of func(T) Schedule) [][]T {
	index := map[string]int{}
	var families [][]T
	for _, x := range list {
		key := of(x).Signature()
		if _, ok := index[key]; !ok {
			index[key] = len(families)
			families = append(families, nil)
		}
		families[index[key]] = append(families[index[key]], x)
	}
	free := slices.Clone(families)
	for i, f := range free {
		s := of(f[0])
		if at, ok := index[s.unpromised().Signature()]; ok && at != i {
			families[i] = slices.Concat(f, free[at])
		}
	}
	return families
}

// unpromised is the schedule without Constant tensors.
func (s Schedule) unpromised() Schedule {
	s.Tensors = slices.Clone(s.Tensors)
	for i := range s.Tensors {
		s.Tensors[i].Constant = false
	}
	return s
}

// Last orders two schedules of a family. Schedules by NCCL come last, since a machine may lack it. Schedules with
// kernels of few rows come before these and behind all others, since only a measurement may choose them.
func Last(a, b Schedule) int { return cmp.Compare(a.last(), b.last()) }

func (s Schedule) last() int {
	switch {
	case s.UsesNCCL():
		return 2
	case s.FewRows > 0:
		return 1
	}
	return 0
}

// held is the tensor without the splits that do not change which part a rank has: steps, and all splits within a rank's
// part.
func (t Tensor) held() Tensor {
	h := Tensor{Name: t.Name, Type: t.Type, Scale: t.Scale, Within: t.Within, Constant: t.Constant}
	for _, a := range t.Axes {
		last := -1
		for j, s := range a.Outer {
			if s.Kind == DeviceX {
				last = j
			}
		}
		axis := Axis{Extent: a.Extent}
		for _, s := range a.Outer[:last+1] {
			if s.Count != "1" {
				axis.Outer = append(axis.Outer, s)
			}
		}
		h.Axes = append(h.Axes, axis)
	}
	return h
}
