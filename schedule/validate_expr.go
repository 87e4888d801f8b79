package schedule

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A tree has at most mostDepth nodes on a path, mostNodes different nodes, and mostWritten nodes as it is written.
const mostDepth, mostNodes, mostWritten = 64, 256, 4096

// checkFunc refuses a function whose tree can't be computed.
func (s Schedule) checkFunc(v *validation, path string, f Func) {
	f.checkEpsilon(v, path+".Epsilon")
	path += ".Is"
	lies := map[string]Lies{}
	f.Is.walk(path, func(at string, e Expr) {
		s.checkNode(v, at, e)
		if l := does[e.Do].lies; lies[e.Tensor] == "" {
			lies[e.Tensor] = l
		} else if l != "" && l != lies[e.Tensor] {
			v.add(at+".Tensor", "copy it, and read the copy in one of the two ways",
				"%s is read %s and %s", e.Tensor, lies[e.Tensor], l)
		}
	})
	s.checkHeads(v, path, f)
}

// checkSizes refuses trees that are too large to be read.
func (s Schedule) checkSizes(v *validation) {
	const hint = "make it of several functions, or of several operations"
	for i, o := range s.Ops {
		for j, f := range o.Then {
			path := fmt.Sprintf("Ops[%d].Then[%d].Is", i, j)
			if depth, written := f.Is.size(0); depth > mostDepth || written > mostWritten {
				v.add(path, hint, "the formula is too large: at most %d operations in one another, and %d in all",
					mostDepth, mostWritten)
			} else if n := len(Nodes(f.Is)); n > mostNodes {
				v.add(path, hint, "the formula has %d different operations, at most %d", n, mostNodes)
			}
		}
	}
}

// checkNode refuses a node of a tree; its operands are checked separately.
func (s Schedule) checkNode(v *validation, path string, e Expr) {
	d, known := does[e.Do]
	if !known {
		v.add(path+".Do", "use the functions of package schedule that return an Expr", "unknown operation %q", e.Do)
		return
	}
	if len(e.Of) != d.of {
		v.add(path+".Of", fmt.Sprintf("name %d", d.of), "%s: want %d, got %d", e.title(), d.of, len(e.Of))
	}
	switch {
	case e.Tensor == "" && d.lies != "":
		v.add(path+".Tensor", "name a tensor", "an operand without a name")
	case e.Tensor != "" && d.lies == "":
		v.add(path+".Tensor", "use schedule.Of, Row, Column, HeadRow, Cos or Sin", "%s of the tensor %q", e.title(),
			e.Tensor)
	}
	s.checkParam(v, path+".Name", e)
	e.checkNumber(v, path+".Number")
	s.checkGroup(v, path+".Group", e)
}

// ofShapes are names that each Shape uses for something else, beside the names of extents.
var ofShapes = []string{"Type", "Check", "String", "Memory"}

// checkParam refuses a name on a node that takes none, and a name that no number of the Shape can have.
func (s Schedule) checkParam(v *validation, path string, e Expr) {
	_, tensor := s.Tensor(e.Name)
	switch {
	case e.Do != DoParam:
		if e.Name != "" {
			v.add(path, "leave it out", "%s has no name", e.title())
		}
	case tensor || s.Made(e.Name):
		v.add(path, "use another name", "%s is a tensor", e.Name)
	case !named.MatchString(e.Name) || slices.Contains(ofShapes, e.Name) || Extent(e.Name).valid():
		v.add(path, "use a capital, then letters and digits", "no Shape has a number %q", e.Name)
	}
}

// checkNumber refuses a constant that fp32 can't hold, and an impossible number of columns of a head.
func (e Expr) checkNumber(v *validation, path string) {
	switch x := e.Number; {
	case e.Do == DoNumber:
		if math.IsNaN(x) || math.IsInf(float64(float32(x)), 0) {
			v.add(path, "use a number that fp32 holds", "%g is no constant", x)
		}
	case e.Do == DoBelow:
		width, err := strconv.Atoi(string(e.Group))
		if x != math.Trunc(x) || x < 1 || x > MaxExtent || err == nil && int(x) > width {
			v.add(path, "use a whole number, at most the width of a head", "%g is no number of columns of a head", x)
		}
	case x != 0:
		v.add(path, "leave it out", "%s has no number", e.title())
	}
}

// checkGroup refuses a width that no head has.
func (s Schedule) checkGroup(v *validation, path string, e Expr) {
	d, n := does[e.Do], 0
	constant := e.Group.Constant()
	if constant {
		n, _ = strconv.Atoi(string(e.Group)) // at most MaxExtent, or refused
	}
	v.within(path, e.Group)
	turns := e.Do == DoTurn || e.Do == DoPairs
	switch {
	case e.Group == "" && e.Do != DoBelow:
	case !d.gathers && e.Do != DoBelow:
		v.add(path, "leave it out", "%s has no width of its own", e.title())
	case e.Group != W && !constant, turns && constant && n%2 != 0:
		v.add(path, "use schedule.W or a constant, an even one where pairs are turned", "%q is no width of a head",
			e.Group)
	case e.Group == W && !s.HasExtent(W):
		v.add(path, "declare a tensor with an axis of W, or use a constant", "no tensor says how wide a head is")
	}
}

// HasExtent reports whether an axis of a tensor has an extent.
func (s Schedule) HasExtent(e Extent) bool {
	return slices.ContainsFunc(s.Tensors, func(t Tensor) bool {
		return slices.ContainsFunc(t.Axes, func(a Axis) bool { return a.Extent == e })
	})
}

// Bounded reports whether New has to know the most rows of an uneven part.
func (s Schedule) Bounded() bool {
	return slices.ContainsFunc(s.Tensors, func(t Tensor) bool {
		return slices.ContainsFunc(t.Axes, func(a Axis) bool {
			return slices.ContainsFunc(a.Outer, func(o Split) bool { return o.Most != "" })
		})
	})
}

// checkHeads refuses heads whose width nothing defines, and a tensor that no head can have.
func (s Schedule) checkHeads(v *validation, path string, f Func) {
	var wrong []string
	s.Tree(f).walk(path, func(at string, e Expr) {
		switch w := s.headWidth(e); {
		case slices.Contains(wrong, e.Tensor):
		case does[e.Do].heads && e.Group == "":
			v.add(at, "declare the table, or name the width", "the width of the heads is not known")
		case w != "" && !s.Made(e.Tensor) && !w.ofHead(does[e.Do].lies == OfTable):
			wrong = append(wrong, e.Tensor)
			v.add(at+".Tensor", "declare "+e.Tensor+" with W, or a constant such as 128, as its last extent",
				"the width of a head is a number, even where pairs are turned, or W, and %s has %q columns",
				e.Tensor, w)
		}
	})
	if len(wrong) == 0 {
		s.checkWidths(v, path, f)
	}
}

// checkWidths refuses constant widths of heads unless each wider head is whole heads of the narrower width: else a
// column would belong to the next head. A table for some columns of a head must have exactly these columns.
func (s Schedule) checkWidths(v *validation, path string, f Func) {
	at, list := map[int]string{}, []int{}
	s.Tree(f).walk(path, func(path string, e Expr) {
		if e.Tensor != "" {
			path += ".Tensor"
		}
		if wide, constant := e.Group.value(); constant && at[int(wide)] == "" {
			at[int(wide)], list = path, append(list, int(wide))
		}
		if e.Do == DoBelow && len(e.Of) > 0 {
			e.Of[0].checkTurned(v, path+".Of[0]", int(e.Number))
		}
	})
	slices.Sort(list)
	for i := 1; i < len(list); i++ {
		if in, wide := list[i-1], list[i]; wide%in != 0 {
			v.add(at[in], fmt.Sprintf("use %d, or a number that divides it", wide),
				"heads of %d columns do not lie in those of %d", in, wide)
		}
	}
}

// checkTurned refuses a table for other columns than the columns of a head that are turned.
func (e Expr) checkTurned(v *validation, path string, columns int) {
	e.walk(path, func(path string, e Expr) {
		wide, constant := e.Group.value()
		if constant && does[e.Do].lies == OfTable && columns%int(wide) != 0 {
			v.add(path+".Tensor", fmt.Sprintf("declare it with %d columns", columns),
				"%d columns of a head are turned by a table for %d", columns, wide)
		}
	})
}

// Tree is the function's tree over X, with the widths of all heads. The width is the last extent of a table, or of a
// tensor for the columns of a head, and rotations beside it have the same width.
func (s Schedule) Tree(f Func) Expr {
	tree, beside := f.Tree(), Extent("")
	if !tree.any(func(e Expr) bool { return does[e.Do].heads }) {
		return tree
	}
	tree.any(func(e Expr) bool {
		beside = s.headWidth(e)
		return beside != ""
	})
	return tree.each(func(e Expr) Expr {
		if w := s.headWidth(e); w != "" {
			e.Group = w
		} else if does[e.Do].heads && e.Group == "" {
			e.Group = beside
		}
		return e
	})
}

// headWidth is the last extent of a leaf for the columns of a head; empty for other leaves.
func (s Schedule) headWidth(leaf Expr) Extent {
	t, declared := s.Tensor(leaf.Tensor)
	if d := does[leaf.Do]; !declared || d.lies == "" || !d.heads || len(t.Axes) == 0 {
		return ""
	}
	return t.Axes[len(t.Axes)-1].Extent
}

// ofHead reports whether a head may have this width: W, or a number, which must be even where pairs of columns are
// turned.
func (e Extent) ofHead(turned bool) bool {
	n, err := strconv.Atoi(string(e))
	return e == W || err == nil && n > 0 && (n%2 == 0 || !turned)
}

// title is a node's Do, as errors name it.
func (e Expr) title() string {
	if e.Do == DoX {
		return "x"
	}
	return string(e.Do)
}

// isX reports whether the tree is the result so far, and has no other field.
func (e Expr) isX() bool {
	return e.Do == DoX && len(e.Of) == 0 && e.Tensor == "" && e.Name == "" && e.Number == 0 && e.Group == ""
}

// walk gives f each node of the tree with its path.
func (e Expr) walk(path string, f func(path string, e Expr)) {
	f(path, e)
	for i, x := range e.Of {
		x.walk(path+".Of["+strconv.Itoa(i)+"]", f)
	}
}

// any reports whether f holds for some node of the tree.
func (e Expr) any(f func(Expr) bool) bool {
	return f(e) || slices.ContainsFunc(e.Of, func(x Expr) bool { return x.any(f) })
}

// size is the depth of the tree and the number of its nodes as written; it stops where these are too many.
func (e Expr) size(above int) (depth, written int) {
	depth, written = 1, 1
	if above > mostDepth {
		return depth, written
	}
	for _, x := range e.Of {
		d, n := x.size(above + 1)
		depth, written = max(depth, d+1), written+n
		if written > mostWritten {
			break
		}
	}
	return depth, written
}
