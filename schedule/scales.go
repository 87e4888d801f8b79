package schedule

import (
	"fmt"
	"slices"
)

// Elements of eight bits have few digits, so each tensor of them has scales beside it, which multiply it: a tensor of
// fp32 with one scale, or with one for each row. A row has one scale on all ranks that have columns of it. Scales of
// rows travel with the rows, under the same words.

// OneScale is the extent of the only axis of a scale that a whole tensor has.
const OneScale Extent = "1"

// Scaled says that some tensor has scales.
func (s Schedule) Scaled() bool {
	return slices.ContainsFunc(s.Tensors, func(t Tensor) bool { return t.Scale != "" })
}

// ScaledBy is the tensor that another one has the scales of, and whether there is one.
func (s Schedule) ScaledBy(scale string) (Tensor, bool) {
	i := slices.IndexFunc(s.Tensors, func(t Tensor) bool { return t.Scale != "" && t.Scale == scale })
	if i < 0 {
		return Tensor{}, false
	}
	return s.Tensors[i], true
}

// OfRows says that scales are one for each row.
func (t Tensor) OfRows() bool { return len(t.Axes) == 1 && t.Axes[0].Extent != OneScale }

// checkScales refuses tensors of eight bits without scales, scales that are placed otherwise than their rows, and
// operations that no device does on eight bits.
func (s Schedule) checkScales(v *validation) {
	for i, t := range s.Tensors {
		if t.Type == E4M3 || t.Scale != "" {
			s.checkScale(v, fmt.Sprintf("Tensors[%d]", i), t)
		}
	}
	for i, o := range s.Ops {
		s.checkEight(v, fmt.Sprintf("Ops[%d]", i), o)
	}
}

// checkScale holds a tensor of eight bits against its scales.
func (s Schedule) checkScale(v *validation, path string, t Tensor) {
	of, at := t.Axes, path+".Scale"
	scale, declared := s.Tensor(t.Scale)
	first, _ := s.ScaledBy(t.Scale)
	switch {
	case t.Type != E4M3:
		v.add(at, "leave it out, or set Type: schedule.E4M3", "only elements of eight bits have scales")
	case s.Made(t.Name):
		v.add(path+".Type", "leave it out", "%s is made by an operation, and none makes eight bits", t.Name)
	case t.Root || t.Within != "" || len(of) != 2:
		v.add(path+".Type", "let it be a matrix of its own that ranks have a part of, or all",
			"no pass takes eight bits otherwise")
	case slices.ContainsFunc(of[0].Outer, func(x Split) bool { return x.Uneven }):
		v.add(path+".Axes[0]", "let the ranks have equal parts", "no pass takes uneven rows of eight bits")
	case t.Scale == "":
		v.add(at, fmt.Sprintf("declare a tensor of fp32 with one axis, %s, or that of the rows of %s, and name it",
			OneScale, t.Name), "%s has eight bits, and no scale", t.Name)
	case !declared:
		v.add(at, "declare it with Type: schedule.FP32", "there is no tensor %q", t.Scale)
	case first.Name != t.Name:
		v.add(at, "declare another one", "%s is the scale of %s already", t.Scale, first.Name)
	case s.reads(t.Scale):
		v.add(at, "let no operation read or make it", "%s is a scale, and operations have it as well", t.Scale)
	case scale.Type != FP32 || scale.Within != "" || scale.Root:
		v.add(at, "declare "+t.Scale+" with Type: schedule.FP32 and with axes alone",
			"scales are numbers of fp32, in memory of their own")
	case !slices.ContainsFunc([]Axis{Dim(OneScale), of[0]}, func(a Axis) bool {
		return Tensor{Axes: scale.Axes}.String() == Tensor{Axes: []Axis{a}}.String()
	}):
		i := slices.IndexFunc(s.Tensors, func(t Tensor) bool { return t.Name == scale.Name })
		v.add(fmt.Sprintf("Tensors[%d]", i), "place it "+Tensor{Axes: of[:1]}.String(),
			"%s is %s, and scales of %s are one, or lie as its rows do", t.Scale, Tensor{Axes: scale.Axes}, t.Name)
	}
}

// reads says that an operation reads or makes a tensor.
func (s Schedule) reads(tensor string) bool {
	return s.Made(tensor) ||
		slices.ContainsFunc(s.Ops, func(o Op) bool { return slices.Contains(o.operands(), tensor) })
}

// checkEight refuses what no product does of operands of eight bits.
func (s Schedule) checkEight(v *validation, path string, o Op) {
	eight := func(name string) bool {
		t, _ := s.Tensor(name)
		return t.Type == E4M3
	}
	wide := slices.IndexFunc(o.In, func(name string) bool { return !eight(name) })
	if !slices.ContainsFunc(o.operands(), eight) {
		return
	}
	linear := o
	linear.Index = Linear("", "", "").Index
	if o.Call != "" || s.pattern(o) != s.pattern(linear) {
		v.add(path, "use schedule.Linear, with a weight [N, K]", "%s takes no operand of eight bits", o.Name())
		return
	}
	if wide >= 0 {
		v.add(fmt.Sprintf("%s.In[%d]", path, wide), "set Type: schedule.E4M3 for both, or for none",
			"%s has eight bits, and %s has not", o.In[1-wide], o.In[wide])
		return
	}
	for i, f := range o.Then {
		if slices.ContainsFunc(f.Reads(), eight) {
			v.add(fmt.Sprintf("%s.Then[%d]", path, i), "let it read tensors of 16 bits",
				"%s takes no eight bits", f.Name())
		}
	}
	a, b := s.scaleOf(o.In[0]), s.scaleOf(o.In[1])
	if a.Name != "" && b.Name != "" && a.OfRows() != b.OfRows() {
		rows, one := o.In[0], o.In[1]
		if b.OfRows() {
			rows, one, a, b = one, rows, b, a
		}
		v.add(path, "give both a scale for each row, or both one",
			"%s has one for each row of %s, and %s one for all of %s", a.Name, rows, b.Name, one)
	}
}

// scaleOf is the tensor with the scales of one; the zero Tensor where it has none.
func (s Schedule) scaleOf(tensor string) Tensor {
	t, _ := s.Tensor(tensor)
	scale, _ := s.Tensor(t.Scale)
	return scale
}
