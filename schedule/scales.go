package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Codes of eight bits or four have few digits, so each tensor of codes has scales, by which the codes are multiplied. A
// tensor has one scale, or one for each row. A row has one scale on all ranks that have columns of it, or one for each
// rank's part, or one for each block of its columns. Scales of rows and of blocks travel with the rows, under the same
// words. Functions that make or read codes in blocks take a block as a row. Scales for products lie block by block, and
// the scales of their weights are of squares. Scales of ue8m0 are of blocks of 32 columns, as OCP defines them.

// OneScale is the extent of the only axis of a scale for a whole tensor.
const OneScale Extent = "1"

// Scaled reports whether some tensor has scales.
func (s Schedule) Scaled() bool {
	return slices.ContainsFunc(s.Tensors, func(t Tensor) bool { return t.Scale != "" })
}

// ScaledBy is the tensor whose scales another tensor has, and whether there is one.
func (s Schedule) ScaledBy(scale string) (Tensor, bool) {
	i := slices.IndexFunc(s.Tensors, func(t Tensor) bool { return t.Scale != "" && t.Scale == scale })
	if i < 0 {
		return Tensor{}, false
	}
	return s.Tensors[i], true
}

// OfRows reports whether there is a scale for each row, or for each rank's part of a row.
func (t Tensor) OfRows() bool { return len(t.Axes) > 0 && t.Axes[0].Extent != OneScale }

// OfParts reports whether there is a scale for each rank's part of a row: [M, DIDx(D), 1].
func (t Tensor) OfParts() bool {
	return len(t.Axes) == 2 && len(t.Axes[1].Outer) > 0 && t.block() == 0 && !t.ByBlock()
}

// InParts reports whether a tensor has scales of each rank's part of a row. The function that makes the scales, the
// last one, takes such a part as a row.
func (s Schedule) InParts(tensor string) bool { return s.scaleOf(tensor).OfParts() }

// unitOfBlocks divides the number of columns of a block: the codes of a block are whole bytes, and a kernel takes 16
// bytes at once.
const unitOfBlocks = 16

// Number is a constant extent.
func Number[N ~int | ~int64](n N) Extent { return Extent(fmt.Sprint(n)) }

// Blocks is the extent of an axis of scales, with one index for each block of that many columns of another axis.
func Blocks(of Extent, columns int64) Extent { return of + Extent(fmt.Sprintf("/%d", columns)) }

// Blocks are the columns that an extent counts in blocks, and the columns of a block. ok is false for other extents.
func (e Extent) Blocks() (of Extent, columns int64, ok bool) {
	cut, by, ok := strings.Cut(string(e), "/")
	columns, _ = Extent(by).value()
	return Extent(cut), columns, ok && columns > 0
}

// Joined is the extent of an axis of batches of rows: e batches, with rows in each.
func (e Extent) Joined(rows Extent) Extent { return e + joint + rows }

// Factors are the batches and the rows of a Joined extent. ok is false for other extents.
func (e Extent) Factors() (batches, rows Extent, ok bool) {
	b, r, ok := strings.Cut(string(e), joint)
	return Extent(b), Extent(r), ok
}

// joint stands between the batches and the rows.
const joint = "*"

// InBlocks reports whether an axis has an index for each block of columns.
func (a Axis) InBlocks() bool {
	_, _, ok := a.Extent.Blocks()
	return ok
}

// ByBlock reports whether scales of blocks lie as products take them: the scales of the first block of all rows, then
// the scales of the next block; for a weight, one scale for each square.
func (t Tensor) ByBlock() bool { return len(t.Axes) == 2 && t.Axes[0].InBlocks() }

// OfSquares reports whether scales are of the squares of a weight.
func (t Tensor) OfSquares() bool { return t.ByBlock() && t.Axes[1].InBlocks() }

// columnsOfPower is the number of columns of a block whose scale is of ue8m0.
const columnsOfPower = 32

// squareColumns is the number of columns and of rows of a square, and the number of columns of a block that is
// multiplied by squares.
const squareColumns = 128

// Summands reports whether each rank has a summand of a matrix: [DIDx(D), M, N].
func (t Tensor) Summands() bool {
	return len(t.Axes) == 3 && slices.Equal(t.Axes[0].Outer, []Split{DIDx(D)}) && t.Axes[0].Extent == D
}

// block is the number of columns of a block, where the scales of a row's blocks lie side by side; else 0.
func (t Tensor) block() (columns int64) {
	if len(t.Axes) > 0 && !t.ByBlock() {
		_, columns, _ = t.Axes[len(t.Axes)-1].Extent.Blocks()
	}
	return columns
}

// inColumns are scales of blocks with the extents of the columns that the blocks have.
func (t Tensor) inColumns() Tensor {
	t.Axes = slices.Clone(t.Axes)
	for i, a := range t.Axes {
		if of, _, ok := a.Extent.Blocks(); ok && (i == len(t.Axes)-1 || t.ByBlock()) {
			t.Axes[i].Extent = of
		}
	}
	return t
}

// ofBlocks reports whether a tensor has scales of blocks.
func (s Schedule) ofBlocks(tensor string) bool {
	t, _ := s.Tensor(tensor)
	return t.block() > 0
}

// Block is the number of columns that the functions of an operation take as a row: the columns of a block, where the
// result or the operand has scales of blocks and the operand is not summed; 0: all columns.
func (s Schedule) Block(o Op) (columns int64) {
	columns = s.scaleOf(o.Out).block()
	if len(o.In) > 0 && !s.Partial(o) {
		columns = max(columns, s.scaleOf(o.In[0]).block())
	}
	return columns
}

// scalePlaces are the placements that the scales of a tensor may have: one scale, one for each row, one for each rank's
// part of a row, or one for each block of as many columns as the scales have now. Codes that share a byte have scales
// of blocks that lie side by side.
func scalePlaces(of Tensor, scale Tensor) (list [][]Axis) {
	rows, last := of.Axes[:len(of.Axes)-1], of.Axes[len(of.Axes)-1]
	if scale.Type == UE8M0 {
		return [][]Axis{append(slices.Clone(rows), Dim(Blocks(last.Extent, columnsOfPower)))}
	}
	if n := scale.block(); n > 0 && n%unitOfBlocks == 0 && len(last.Outer) == 0 {
		list = append(list, append(slices.Clone(rows), Dim(Blocks(last.Extent, n))))
	}
	if of.Type.Bits() < 8 {
		return list
	}
	list = append(list, []Axis{Dim(OneScale)}, rows)
	if len(rows) == 1 && of.Type == E4M3 {
		block := Axis{Blocks(last.Extent, squareColumns), last.Outer}
		list = append(list, []Axis{block, rows[0]},
			[]Axis{{Blocks(rows[0].Extent, squareColumns), rows[0].Outer}, block})
	}
	if len(rows) == 1 && slices.Equal(last.Outer, []Split{DIDx(D)}) {
		list = append(list, []Axis{rows[0], Dim(D, DIDx(D))})
	}
	return list
}

// checkScales refuses codes without scales, scales whose placement differs from the placement of their rows, and
// operations that no device does on eight bits.
func (s Schedule) checkScales(v *validation) {
	for i, t := range s.Tensors {
		if _, scales := s.ScaledBy(t.Name); t.Type.Coded() && !scales || t.Scale != "" {
			s.checkScale(v, fmt.Sprintf("Tensors[%d]", i), t)
			s.checkQuantised(v, fmt.Sprintf("Tensors[%d]", i), t)
		}
	}
	for i, o := range s.Ops {
		s.checkEight(v, fmt.Sprintf("Ops[%d]", i), o)
	}
}

// checkScale checks codes against their scales.
func (s Schedule) checkScale(v *validation, path string, t Tensor) {
	of, at, wanted := t.Axes, path+".Scale", Type("")
	if t.Type.Coded() {
		wanted = own[t.Type].scales[0]
	}
	scale, declared := s.Tensor(t.Scale)
	first, _ := s.ScaledBy(t.Scale)
	codes, scales := s.ScaledBy(t.Name)
	switch {
	case scales:
		v.add(at, "leave it out", "%s is the scale of %s, and has none itself", t.Name, codes.Name)
	case !t.Type.Coded():
		v.add(at, "leave it out, or set Type: schedule.E4M3", "only elements of eight bits have scales")
	case t.Root || t.Within != "" || len(of) != 2 && !t.Summands() && len(of) != 4:
		v.add(path+".Type", "let it be a matrix of its own that ranks have a part of, or all",
			"no pass takes eight bits otherwise")
	case t.Scale == "":
		hint := fmt.Sprintf("one axis, %s, or that of the rows of %s", OneScale, t.Name)
		if t.Type.Bits() < 8 {
			hint = fmt.Sprintf("the axes of %s, the last one in schedule.Blocks of %d", t.Name, unitOfBlocks)
		}
		v.add(at, fmt.Sprintf("declare a tensor of %s with %s, and name it", wanted, hint),
			"%s has %s bits, and no scale", t.Name, t.Type.bits())
	case !declared:
		v.add(at, "declare it with Type: "+wanted.named(), "there is no tensor %q", t.Scale)
	case first.Name != t.Name:
		v.add(at, "declare another one", "%s is the scale of %s already", t.Scale, first.Name)
	case s.reads(t.Scale):
		v.add(at, "let no operation read or make it", "%s is a scale, and operations have it as well", t.Scale)
	case !slices.Contains(own[t.Type].scales, scale.Type) || scale.Within != "" || scale.Root:
		v.add(at, "declare "+t.Scale+" with Type: "+wanted.named()+" and with axes alone",
			"scales are numbers of %s, in memory of their own", wanted)
	case !slices.ContainsFunc(scalePlaces(t, scale), func(axes []Axis) bool {
		return Tensor{Axes: scale.Axes}.String() == Tensor{Axes: axes}.String()
	}):
		s.misplaced(v, t, scale)
	}
}

// misplaced refuses scales whose placement does not fit their codes.
func (s Schedule) misplaced(v *validation, t, scale Tensor) {
	last := len(t.Axes) - 1
	axes, may := t.Axes[:last:last], "one, or lie as its rows do"
	if scale.Type == UE8M0 {
		axes = append(axes, Dim(Blocks(t.Axes[last].Extent, columnsOfPower)))
		may = fmt.Sprintf("of blocks of whole rows, of %d columns where they are %s", columnsOfPower, UE8M0)
	} else if n := scale.block(); n > 0 || t.Type.Bits() < 8 {
		n = max(n/unitOfBlocks, 1) * unitOfBlocks
		axes = append(axes, Dim(Blocks(t.Axes[last].Extent, n)))
		may = fmt.Sprintf("of blocks of whole rows, of a multiple of %d columns", unitOfBlocks)
	}
	i := slices.IndexFunc(s.Tensors, func(t Tensor) bool { return t.Name == scale.Name })
	v.add(fmt.Sprintf("Tensors[%d]", i), "place it "+Tensor{Axes: axes}.String(), "%s is %s, and scales of %s are %s",
		t.Scale, Tensor{Axes: scale.Axes}, t.Name, may)
}

// reads reports whether an operation reads or makes a tensor. It leaves out functions that read the scales of their
// operand.
func (s Schedule) reads(scale string) bool {
	_, made := s.Maker(scale)
	of, _ := s.ScaledBy(scale)
	return made || slices.ContainsFunc(s.Ops, func(o Op) bool {
		beside := slices.Equal(o.In, []string{of.Name}) && !s.InParts(of.Name)
		return slices.Contains(o.In, scale) || o.Reads(scale) && !beside
	})
}

// checkQuantised refuses an operation that makes codes without their scales.
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
		from := s.scaleOf(o.In[0])
		if from.Type != scale.Type || from.block() != scale.block() || from.ByBlock() || scale.ByBlock() {
			hint := "give both scales of the same blocks"
			switch {
			case from.Type != scale.Type:
				hint = "give both scales of the same type"
			case from.ByBlock() || scale.ByBlock():
				hint += ", which lie side by side"
			}
			v.add(path+".Scale", hint, "%s is %s and %s is %s, and a copy changes no bit", from.Name,
				Tensor{Type: from.Type, Axes: from.Axes}, scale.Name, Tensor{Type: scale.Type, Axes: scale.Axes})
		}
		return
	}
	by, ends := t.Type.dividedBy(scale.Type)
	switch divisor, divides := Divisor(trees); {
	case !divides || DividesHeads(trees) != "" && !scale.ByBlock():
		v.add(path+".Type", "end its functions with schedule.Quantise()",
			"%s is made by an operation that divides no row by its scale", t.Name)
	case !s.Partial(o) && (len(o.In) != 1 || s.MadeFrom(o) > 0):
		v.add(path+".Type", "give the "+o.Name()+" another name, and make "+t.Name+" of it by a schedule.Copy",
			"only functions of a tensor, or of a sum of partial results, make eight bits, and %s is a %s", t.Name,
			o.Name())
	case scale.OfParts() && ReachOf(Nodes(trees[:len(trees)-1]...)) == InRow:
		v.add(path+".Scale", "make "+t.Name+" by a schedule.Copy with schedule.Quantise() alone",
			"each rank has a part of each row of %s, and a function ahead of its scales takes whole rows", t.Name)
	case scale.OfSquares():
		v.add(path+".Scale", "place it "+t.byBlock(), "%s is %s, and no function makes scales of squares",
			scale.Name, Tensor{Axes: scale.Axes})
	case scale.ByBlock() && DividesHeads(trees) != Extent(fmt.Sprint(squareColumns)):
		v.add(path+".Type", fmt.Sprintf("end its functions with schedule.Quantise().PerHead(\"%d\")", squareColumns),
			"%s is %s, and the last function divides otherwise", scale.Name, Tensor{Axes: scale.Axes})
	case !slices.Contains(by, divisor[len(divisor)-1].Do) && len(by) > 0:
		v.add(path+".Type", "end its functions with schedule."+ends,
			"%s divides by numbers that are none of %s, and its scales are", t.Name, scale.Type)
	case scale.Name != "" && !scale.OfRows():
		v.add(path+".Scale", "let the axis of "+scale.Name+" be that of the rows of "+t.Name,
			"%s has one scale for all of it, and no kernel reads all of it before it makes some", t.Name)
	case ReachOf(Nodes(trees...)) == Local && len(Heads(Nodes(trees...))) == 0:
		v.add(path+".Type", "end its functions with schedule.Quantise(), or let a schedule.Call make codes and scales",
			"%s is divided by numbers that are given, and kernels make scales of what they read", t.Name)
	}
}

// checkCalled refuses a call that makes eight bits if nothing hands the call the scales, or no rank's call can know
// them.
func (s Schedule) checkCalled(v *validation, path string, t Tensor, o Op) {
	switch scale := s.scaleOf(t.Name); {
	case o.Kernel.File != "":
		v.add(path+".Type", "let a function make it: schedule.Call",
			"no kernel of a .cu is handed the scales of %s", o.Out)
	case t.Type != E4M3 || scale.block() > 0 || scale.ByBlock():
		v.add(path+".Type", "let the call make 16 bits, and a schedule.Copy codes of them",
			"calls make e4m3 with a scale for each row, and %s is %s", o.Out, t)
	case scale.Name != "" && !scale.OfRows():
		v.add(path+".Scale", "let the axis of "+scale.Name+" be that of the rows of "+o.Out,
			"a call makes a scale for each row, and %s is one for all of %s", scale.Name, o.Out)
	case len(t.Axes) == 2 && len(t.Axes[1].Outer) > 0 && !scale.OfParts():
		v.add(path+".Scale", "place "+scale.Name+" "+Tensor{Axes: []Axis{t.Axes[0], Dim(D, DIDx(D))}}.String(),
			"each rank's call makes a part of each row of %s, and knows the scale of that part alone", o.Out)
	}
}

// moves reports whether an operation copies eight bits unchanged, with their scales.
func (s Schedule) moves(o Op) bool {
	if !s.copies(o) {
		return false
	}
	from, _ := s.Tensor(o.In[0])
	to, _ := s.Tensor(o.Out)
	return from.Type.Coded() && from.Type == to.Type
}

// copies reports whether an operation leaves its operand unchanged.
func (s Schedule) copies(o Op) bool {
	return o.Call == "" && len(o.In) == 1 && len(o.Then) == 0 && !s.Partial(o)
}

// byBlock is the placement of a tensor's scales of blocks that products take.
func (t Tensor) byBlock() string {
	last := t.Axes[1]
	return Tensor{Axes: []Axis{{Blocks(last.Extent, squareColumns), last.Outer}, t.Axes[0]}}.String()
}

// scaleOf is the tensor with the scales of a tensor; the zero Tensor where it has none.
func (s Schedule) scaleOf(tensor string) Tensor {
	t, _ := s.Tensor(tensor)
	scale, _ := s.Tensor(t.Scale)
	return scale
}
