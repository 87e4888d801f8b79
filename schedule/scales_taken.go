package schedule

import (
	"fmt"
	"slices"
)

// checkEight refuses uses of eight bits that no product can do, and functions that can't be of blocks.
func (s Schedule) checkEight(v *validation, path string, o Op) {
	s.checkBlocks(v, path, o)
	wide := slices.IndexFunc(o.In, func(name string) bool { return !s.hasScale(name) })
	if !slices.ContainsFunc(o.Operands(), s.hasScale) {
		return
	}
	linear := o
	if linear.Index = Linear("", "", "").Index; o.OfPartials() {
		linear.Index = LinearPartial("", "", "").Index
	}
	c, err := s.Contraction(o)
	reads := err == nil && len(c.In) == 1 && c.In[0] == c.Out && wide < 0 && len(o.Then) > 0
	scale := s.scaleOf(o.In[0])
	if reads && scale.ByBlock() {
		v.add(path, "let scales of blocks lie side by side, or multiply "+o.In[0],
			"%s is %s, and functions read scales that lie as rows do", scale.Name, Tensor{Axes: scale.Axes})
		return
	}
	if reads && !o.Reads(scale.Name) {
		v.add(path, fmt.Sprintf("begin with schedule.Dequantise(%q)", scale.Name),
			"%s is of what %s stands for, and its functions do not read %s", o.Out, o.In[0], scale.Name)
		return
	}
	if s.moves(o) || reads {
		return // functions read it
	}
	if s.Partial(o) && len(o.In) == 1 {
		s.checkSummed(v, path, o)
		return
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
	s.checkMultiplied(v, path, o)
}

// checkMultiplied refuses operands of eight bits with scales that no product takes, and functions after a product that
// read eight bits.
func (s Schedule) checkMultiplied(v *validation, path string, o Op) {
	for i, name := range o.In {
		t, _ := s.Tensor(name)
		scale := s.scaleOf(name)
		hint := "make 16 bits of it by a schedule.Copy with schedule.Dequantise"
		if scale.Type == UE8M0 {
			v.add(fmt.Sprintf("%s.In[%d]", path, i), hint, "%s of %s are %s, and products by such scales begin with "+
				"Blackwell, compute capability 10.0: on Hopper no library has them", scale.Name, name, UE8M0)
			return
		}
		if i == 0 && scale.block() == squareColumns {
			hint = "place " + scale.Name + " " + t.byBlock()
		}
		if t.Scale != "" && (t.Type.Bits() != 8 || scale.block() > 0) {
			v.add(fmt.Sprintf("%s.In[%d]", path, i), hint, "products take e4m3 and e5m2 with scales of rows, one "+
				"block behind another, or one, and %s of %s is %s", scale.Name, t, Tensor{Axes: scale.Axes})
			return
		}
	}
	if !s.checkE5M2(v, path, o) {
		return
	}
	for i, f := range o.Then {
		if k := slices.IndexFunc(f.Reads(), s.hasScale); k >= 0 {
			v.add(f.PathOf(fmt.Sprintf("%s.Then[%d]", path, i), f.Reads()[k]), "let it read tensors of 16 bits",
				"%s takes no eight bits", f.Name())
		}
	}
	a, b := s.scaleOf(o.In[0]), s.scaleOf(o.In[1])
	if a.ByBlock() || b.ByBlock() {
		s.checkSquares(v, path, o, a, b)
		return
	}
	if a.Name != "" && b.Name != "" && a.OfRows() != b.OfRows() {
		rows, one := o.In[0], o.In[1]
		if b.OfRows() {
			rows, one, a, b = one, rows, b, a
		}
		v.add(path, "give both a scale for each row, or both one",
			"%s has one for each row of %s, and %s one for all of %s", a.Name, rows, b.Name, one)
	}
}

// checkE5M2 refuses products of e5m2, unless the other operand is e4m3: no library has them.
func (s Schedule) checkE5M2(v *validation, path string, o Op) (ok bool) {
	a, _ := s.Tensor(o.In[0])
	b, _ := s.Tensor(o.In[1])
	if b.Type != E5M2 || a.Type == E4M3 {
		return true
	}
	hint := "let one of them be e4m3, or make 16 bits of one by a schedule.Copy with schedule.Dequantise"
	why := fmt.Sprintf("%s and %s are e5m2, and no library multiplies e5m2 by e5m2", a.Name, b.Name)
	if a.Type != E5M2 {
		hint = fmt.Sprintf("let %s be e4m3, or quantise %s too", b.Name, a.Name)
		why = b.Name + " alone has eight bits, and the kernel that multiplies by such a weight widens e4m3"
	}
	v.add(path+".In[1]", hint, "%s", why)
	return false
}

// hasScale reports whether a tensor has codes that are multiplied by a scale.
func (s Schedule) hasScale(name string) bool {
	t, _ := s.Tensor(name)
	return t.Scale != ""
}

// checkSummed refuses sums of codes, unless the codes are bytes with scales of rows, or of blocks that lie side by
// side.
func (s Schedule) checkSummed(v *validation, path string, o Op) {
	t, _ := s.Tensor(o.In[0])
	switch scale := s.scaleOf(t.Name); {
	case t.Type.Bits() < 8:
		v.add(path+".In[0]", "let "+t.Name+" be e4m3 or e5m2", "sums widen codes of eight bits, and %s is %s",
			t.Name, t)
	case scale.Type == UE8M0:
		v.add(path+".In[0]", "give "+t.Name+" scales of fp32", "sums read scales of fp32, and %s are %s", scale.Name,
			scale.Type)
	case scale.Name != "" && (!scale.OfRows() || scale.ByBlock()):
		v.add(path+".In[0]", "give each row of "+t.Name+" a scale, or each block of its columns",
			"%s is %s, and sums read scales that lie as rows do", scale.Name, Tensor{Axes: scale.Axes})
	}
}

// checkSquares refuses products by scales of blocks, unless the rows have blocks, or 16 bits, and the weight has
// squares.
func (s Schedule) checkSquares(v *validation, path string, o Op, a, b Tensor) {
	block := Dim(Blocks(K, squareColumns))
	switch {
	case a.Name == "" && b.OfSquares(): // a kernel of ours widens the weight
	case s.Invariant:
		v.add(path, "give each row a scale, or leave Invariant out",
			"%s has scales of blocks, and sums of these have no promised order", o.In[0])
	case a.OfSquares() || !a.ByBlock() || !b.OfSquares():
		v.add(path, "give all operands scales of rows, or place these so",
			"scales of blocks are %s for rows and %s for their weight, and those of %s and %s are otherwise",
			Tensor{Axes: []Axis{block, Dim(M)}}, Tensor{Axes: []Axis{Dim(Blocks(N, squareColumns)), block}}, o.In[0],
			o.In[1])
	}
}

// checkBlocks refuses functions that read more than a block where a block is their row, and functions that read a
// tensor with other rows.
func (s Schedule) checkBlocks(v *validation, path string, o Op) {
	for i, f := range o.Then {
		for _, x := range f.Operands() {
			if of, scales := s.ScaledBy(x.Tensor); scales && x.Lies == InPlace {
				v.add(f.PathOf(fmt.Sprintf("%s.Then[%d]", path, i), x.Tensor),
					"read a tensor that has the rows and columns of "+o.Out,
					"%s reads a number for each of %s, and %s has scales of %s", f.Name(), o.Out, x.Tensor, of.Name)
				return
			}
		}
	}
	columns := s.Block(o)
	if columns == 0 || o.Call != "" {
		return
	}
	from, to := s.scaleOf(o.In[0]).block(), s.scaleOf(o.Out).block()
	last := len(o.Then) - 1
	for i, f := range o.Then {
		if i < s.MadeFrom(o) {
			continue // the kernel of the sum applies it, to whole rows
		}
		nodes := Nodes(f.Is)
		alien := slices.ContainsFunc(f.Operands(), func(x Operand) bool {
			return x.Lies != InPlace && x.Tensor != s.scaleOf(o.In[0]).Name
		})
		if alien || len(Heads(nodes)) > 0 || ReachOf(nodes) > Local && (i < last || to == 0) || from != 0 && to != 0 {
			v.add(fmt.Sprintf("%s.Then[%d]", path, i), "let a schedule.Copy of its own do it",
				"to the functions of %s a row is a block of %d columns, and %s takes more", o.Out, columns, f.Name())
		}
	}
}
