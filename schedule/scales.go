package schedule

import (
	"fmt"
	"slices"
)

// Elements of eight bits have few digits, so each tensor of them has scales beside it, which multiply it: a tensor of
// fp32 with one scale, or with one for each row. A row has one scale on all ranks that have columns of it, or one for
// each rank's part. Scales of rows travel with the rows, under the same words.

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

// OfRows says that scales are one for each row, or for each rank's part of one.
func (t Tensor) OfRows() bool { return len(t.Axes) > 0 && t.Axes[0].Extent != OneScale }

// OfParts says that scales are one for each rank's part of a row: [M, DIDx(D), 1].
func (t Tensor) OfParts() bool { return len(t.Axes) == 2 }

// InParts says that a tensor has scales of each rank's part of a row: so to the function that makes them, the last one,
// a row is such a part.
func (s Schedule) InParts(tensor string) bool { return s.scaleOf(tensor).OfParts() }

// scalePlaces are the placements that scales of a tensor may have: one, that of the rows, or of each rank's parts.
func scalePlaces(of []Axis) [][]Axis {
	list := [][]Axis{{Dim(OneScale)}, of[:len(of)-1]}
	if len(of) == 2 && slices.Equal(of[1].Outer, []Split{DIDx(D)}) {
		list = append(list, []Axis{of[0], Dim(D, DIDx(D))})
	}
	return list
}

// checkScales refuses tensors of eight bits without scales, scales that are placed otherwise than their rows, and
// operations that no device does on eight bits.
func (s Schedule) checkScales(v *validation) {
	for i, t := range s.Tensors {
		if t.Type == E4M3 || t.Scale != "" {
			s.checkScale(v, fmt.Sprintf("Tensors[%d]", i), t)
			s.checkQuantised(v, fmt.Sprintf("Tensors[%d]", i), t)
		}
	}
	for i, o := range s.Ops {
		s.checkEight(v, fmt.Sprintf("Ops[%d]", i), o)
	}
}

// checkScale holds a tensor of eight bits against its scales.
func (s Schedule) checkScale(v *validation, path string, t Tensor) {
	of, at, last := t.Axes, path+".Scale", max(len(t.Axes)-1, 0)
	scale, declared := s.Tensor(t.Scale)
	first, _ := s.ScaledBy(t.Scale)
	switch {
	case t.Type != E4M3:
		v.add(at, "leave it out, or set Type: schedule.E4M3", "only elements of eight bits have scales")
	case t.Root || t.Within != "" || len(of) != 2 && !(len(of) == 4 && s.onlyCopied(t.Name)):
		v.add(path+".Type", "let it be a matrix of its own that ranks have a part of, or all",
			"no pass takes eight bits otherwise")
	case slices.ContainsFunc(of[0].Outer, func(x Split) bool { return x.Balanced }):
		v.add(path+".Axes[0]", "let the ranks have equal parts", "no pass takes balanced rows of eight bits")
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
	case !slices.ContainsFunc(scalePlaces(of), func(axes []Axis) bool {
		return Tensor{Axes: scale.Axes}.String() == Tensor{Axes: axes}.String()
	}):
		i := slices.IndexFunc(s.Tensors, func(t Tensor) bool { return t.Name == scale.Name })
		v.add(fmt.Sprintf("Tensors[%d]", i), "place it "+Tensor{Axes: of[:last]}.String(),
			"%s is %s, and scales of %s are one, or lie as its rows do", t.Scale, Tensor{Axes: scale.Axes}, t.Name)
	}
}

// reads says that an operation reads or makes a tensor, but for functions that read the scales of what they are of.
func (s Schedule) reads(scale string) bool {
	_, made := s.Maker(scale)
	of, _ := s.ScaledBy(scale)
	return made || slices.ContainsFunc(s.Ops, func(o Op) bool {
		beside := slices.Equal(o.In, []string{of.Name}) && !s.InParts(of.Name)
		return slices.Contains(o.In, scale) || slices.Contains(o.operands(), scale) && !beside
	})
}

// checkQuantised refuses an operation that makes eight bits without their scales.
func (s Schedule) checkQuantised(v *validation, path string, t Tensor) {
	o, made := s.Maker(t.Name)
	if !made {
		return
	}
	var trees []Expr
	for _, f := range s.Own(o) {
		trees = append(trees, s.Tree(f))
	}
	scale := s.scaleOf(t.Name)
	if o.Call != "" {
		s.checkCalled(v, path, t, o)
		return
	}
	if s.moves(o) {
		for _, x := range []Tensor{s.scaleOf(o.In[0]), scale} {
			if x.Name != "" && (!x.OfRows() || x.OfParts()) {
				v.add(path+".Scale", "give each row of "+o.In[0]+" and of "+t.Name+" a scale",
					"%s has no scale for each whole row, and no copy takes it along to %s", x.Name, t.Name)
				return
			}
		}
		return
	}
	switch _, divides := Divisor(trees); {
	case !divides:
		v.add(path+".Type", "end its functions with schedule.Quantise()",
			"%s is made by an operation that divides no row by its scale", t.Name)
	case !s.Partial(o) && (len(o.In) != 1 || s.MadeFrom(o) > 0):
		v.add(path+".Type", "give the "+o.Name()+" another name, and make "+t.Name+" of it by a schedule.Copy",
			"only functions of a tensor, or of a sum of partial results, make eight bits, and %s is a %s", t.Name,
			o.Name())
	case scale.OfParts() && ReachOf(Nodes(trees[:len(trees)-1]...)) == InRow:
		v.add(path+".Scale", "make "+t.Name+" by a schedule.Copy with schedule.Quantise() alone",
			"each rank has a part of each row of %s, and a function ahead of its scales takes whole rows", t.Name)
	case scale.Name != "" && !scale.OfRows():
		v.add(path+".Scale", "let the axis of "+scale.Name+" be that of the rows of "+t.Name,
			"%s has one scale for all of it, and no kernel reads all of it before it makes some", t.Name)
	}
}

// checkCalled refuses a call that makes eight bits whose scales nothing hands it, or no rank's call knows.
func (s Schedule) checkCalled(v *validation, path string, t Tensor, o Op) {
	switch scale := s.scaleOf(t.Name); {
	case o.Kernel.File != "":
		v.add(path+".Type", "let a function make it: schedule.Call",
			"no kernel of a .cu is handed the scales of %s", o.Out)
	case scale.Name != "" && !scale.OfRows():
		v.add(path+".Scale", "let the axis of "+scale.Name+" be that of the rows of "+o.Out,
			"a call makes a scale for each row, and %s is one for all of %s", scale.Name, o.Out)
	case len(t.Axes) == 2 && len(t.Axes[1].Outer) > 0 && !scale.OfParts():
		v.add(path+".Scale", "place "+scale.Name+" "+Tensor{Axes: []Axis{t.Axes[0], Dim(D, DIDx(D))}}.String(),
			"each rank's call makes a part of each row of %s, and knows the scale of that part alone", o.Out)
	}
}

// moves says that an operation copies eight bits as they are, with their scales.
func (s Schedule) moves(o Op) bool {
	if !s.copies(o) {
		return false
	}
	from, _ := s.Tensor(o.In[0])
	to, _ := s.Tensor(o.Out)
	return from.Type == E4M3 && to.Type == E4M3
}

// copies says that an operation leaves its operand as it is.
func (s Schedule) copies(o Op) bool {
	return o.Call == "" && len(o.In) == 1 && len(o.Then) == 0 && !s.Partial(o)
}

// onlyCopied says that all operations on a tensor leave it as it is.
func (s Schedule) onlyCopied(tensor string) bool {
	return !slices.ContainsFunc(s.Ops, func(o Op) bool {
		return (o.Out == tensor || slices.Contains(o.operands(), tensor)) && !s.copies(o)
	})
}

// Divisor are formulas that end with what the last of some divides by, if that is the same in the whole row: the scales
// of a result of eight bits.
func Divisor(formulas []Expr) (of []Expr, ok bool) {
	last := len(formulas) - 1
	if last < 0 || formulas[last].Do != DoOver || len(formulas[last].Of) != 2 || !formulas[last].Of[1].sameInRow() {
		return nil, false
	}
	return append(slices.Clip(formulas[:last]), formulas[last].Of[1]), true
}

// sameInRow says that the tree is one number for each row.
func (e Expr) sameInRow() bool {
	d := does[e.Do]
	switch {
	case e.Do == DoNumber, e.Do == DoParam, e.Do == DoColumn:
		return true
	case d.gathers && !d.heads:
		return e.Group == ""
	case len(e.Of) == 0, d.gathers, e.Do == DoBelow:
		return false
	}
	return !slices.ContainsFunc(e.Of, func(x Expr) bool { return !x.sameInRow() })
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
	c, err := s.Contraction(o)
	if s.moves(o) || err == nil && len(c.In) == 1 && c.In[0] == c.Out && wide < 0 && len(o.Then) > 0 {
		return // functions read it
	}
	if o.Call != "" || len(o.In) != 2 || s.pattern(o) != s.pattern(linear) {
		v.add(path, "use schedule.Linear, with a weight [N, K]", "%s takes no operand of eight bits", o.Name())
		return
	}
	if wide == 1 {
		v.add(path+".In[1]", "set Type: schedule.E4M3 for both, or for the weight alone",
			"%s has eight bits, and %s has not", o.In[0], o.In[1])
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
