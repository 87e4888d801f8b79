package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Contraction is an operation's Index taken apart: a letter for each axis.
type Contraction struct {
	In  []string
	Out string
}

// ranksLetter is the letter of an index of ranks.
const ranksLetter = 'd'

// OfRanks reports whether the result has a part for each rank, along its first axis.
func (c Contraction) OfRanks() bool { return strings.HasPrefix(c.Out, string(ranksLetter)) }

// Rows is the letter of the result's rows; 0 if it has none.
func (c Contraction) Rows() byte {
	out := strings.TrimPrefix(c.Out, string(ranksLetter))
	if out == "" {
		return 0
	}
	return out[0]
}

// Columns is the letter of the result's columns.
func (c Contraction) Columns() byte { return c.Out[len(c.Out)-1] }

// headsLetter is the letter of the columns of a head, which no operation names. A constant width is its own letter,
// below zero: a norm's heads may be wider than the part of a head that is turned.
const headsLetter = 'W'

// Summed are the letters that are summed over, in the order in which they appear in the operands.
func (c Contraction) Summed() string {
	summed := ""
	for _, in := range c.In {
		for _, l := range in {
			if !strings.ContainsRune(c.Out, l) && !strings.ContainsRune(summed, l) {
				summed += string(l)
			}
		}
	}
	return summed
}

// Contraction takes an operation's Index apart; an error is a *FieldError. Axes that "..." stands for have the letters
// A, B, ...
func (s Schedule) Contraction(o Op) (Contraction, error) {
	left, out, ok := strings.Cut(o.Index, "->")
	if !ok {
		return Contraction{}, noIndex(fmt.Sprintf(
			"write the axes of each operand, and after -> those of the result: %q",
			Linear("", "", "").Index),
			"%q is no index", o.Index)
	}
	in := strings.Split(left, ",")
	c := Contraction{In: make([]string, 0, len(in))}
	if len(in) != len(o.In) {
		return c, noIndex("name as many", "%q is of %d operands, and In has %d", o.Index, len(in), len(o.In))
	}
	more := s.unnamed(o, in)
	all := ""
	for _, text := range in {
		letters, err := spelt(text, more)
		if err != nil {
			return c, err
		}
		c.In = append(c.In, letters)
		all += letters
	}
	var err error
	if c.Out, err = spelt(out, more); err != nil {
		return c, err
	}
	for _, l := range c.Out {
		if !strings.ContainsRune(all, l) && o.Call == "" && !(l == ranksLetter && o.OfPartials()) {
			return c, noIndex("leave it out", "%q makes an axis %c that no operand has", o.Index, l)
		}
	}
	return c, nil
}

const ellipsis = "..."

// noIndex is the error of a wrong Index.
func noIndex(hint, format string, args ...any) error {
	return &FieldError{Path: "Index", Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// unnamed is the number of axes that "..." stands for: the unnamed axes of the first operand with it.
func (s Schedule) unnamed(o Op, in []string) int {
	for i, text := range in {
		if rest, ok := strings.CutSuffix(text, ellipsis); ok {
			return max(s.axes(o.In[i])-len(rest), 0)
		}
	}
	return 0
}

// axes is the number of axes of a tensor.
func (s Schedule) axes(tensor string) int {
	if t, ok := s.Tensor(tensor); ok {
		return len(t.Axes)
	}
	for i, o := range s.Ops {
		if o.Out == tensor {
			c, _ := Schedule{Tensors: s.Tensors, Ops: s.Ops[:i]}.Contraction(o)
			return len(c.Out)
		}
	}
	return 0
}

// spelt lists the letters of one operand.
func spelt(text string, more int) (string, error) {
	letters, dots := strings.CutSuffix(text, ellipsis)
	for i, l := range letters {
		if l < 'a' || l > 'z' {
			return "", noIndex("use lower-case letters, and ... after them", "%q names an axis %q", text, l)
		}
		if strings.ContainsRune(letters[:i], l) {
			return "", noIndex("use two letters", "%q has the axis %c twice", text, l)
		}
	}
	if dots {
		for i := range more {
			letters += string(rune('A' + i))
		}
	}
	return letters, nil
}

// dimension is a set of axes that the operations require to be equally long.
type dimension struct {
	axes    []axisAt
	letter  rune // in the operation that names it first
	between bool // it lies between two operations: the second sums over it
}

// axisAt is axis i of a tensor.
type axisAt struct {
	tensor string
	i      int
}

// dimensions are the extents of a schedule, in the order in which its operations name them.
// Operations that can't be read, which Validate reports, are left out.
func (s Schedule) dimensions() []*dimension {
	var list []*dimension
	of := map[axisAt]*dimension{}
	for _, o := range s.Ops {
		letters := map[rune]*dimension{}
		s.named(o, func(l rune, at axisAt) {
			into, from := letters[l], of[at]
			if into == nil && from == nil {
				into = &dimension{letter: l}
				list = append(list, into)
			} else if into == nil {
				into, from = from, nil
			}
			letters[l] = into
			switch {
			case from == into:
				return
			case from == nil && of[at] != into:
				of[at], into.axes = into, append(into.axes, at)
			case from != nil:
				for _, x := range from.axes {
					of[x] = into
				}
				for other, d := range letters {
					if d == from {
						letters[other] = into
					}
				}
				into.axes = append(into.axes, from.axes...)
				list = slices.DeleteFunc(list, func(d *dimension) bool { return d == from })
			}
		})
	}
	hidden := s.Hidden()
	for _, d := range list {
		for _, at := range d.axes {
			d.between = d.between || slices.Contains(hidden, at.tensor) && s.summed(at)
		}
	}
	return list
}

// named calls f for each axis that an operation names, with its letter.
func (s Schedule) named(o Op, f func(letter rune, at axisAt)) {
	c, err := s.Contraction(o)
	if err != nil {
		return
	}
	each := func(tensor, index string) {
		for i, l := range []rune(index) {
			if n, constant := s.extent(axisAt{tensor, i}).value(); constant && l == headsLetter {
				l = -rune(n) // at most MaxExtent
			}
			f(l, axisAt{tensor, i})
		}
	}
	for i, index := range c.In {
		each(o.In[i], index)
	}
	each(o.Out, c.Out)
	for _, f := range o.Then {
		for _, operand := range f.Operands() {
			each(operand.Tensor, operand.Lies.axes(c.Out))
		}
	}
}

// summed reports whether an operation sums over an axis of an operand.
func (s Schedule) summed(at axisAt) bool {
	for _, o := range s.Ops {
		c, err := s.Contraction(o)
		if err != nil || o.Call != "" {
			continue
		}
		for i, in := range o.In {
			if in == at.tensor && at.i < len(c.In[i]) && strings.ContainsRune(c.Summed(), rune(c.In[i][at.i])) {
				return true
			}
		}
	}
	return false
}

// Partial reports whether the ranks have partial results of an operation, which have to meet: the axes that it sums
// over are spread over the mesh in each of its declared operands.
func (s Schedule) Partial(o Op) bool {
	return !o.OfPartials() && s.sumsOverRanks(o)
}

// sumsOverRanks reports whether the axes that an operation sums over are spread over the mesh.
func (s Schedule) sumsOverRanks(o Op) bool {
	c, err := s.Contraction(o)
	if err != nil || o.Call != "" {
		return false
	}
	for _, l := range c.Summed() {
		spread := false
		whole := false
		for i, in := range o.In {
			t, declared := s.Tensor(in)
			at := strings.IndexRune(c.In[i], l)
			if !declared || at < 0 {
				spread = spread || at >= 0 && l == ranksLetter
				continue
			}
			axis, _, sharded := t.Sharded()
			spread, whole = spread || sharded && axis == at, whole || !sharded || axis != at
		}
		if spread && !whole {
			return true
		}
	}
	return false
}

// RowExtent is the extent of the rows of a tensor that is declared, or that an operation makes.
func (s Schedule) RowExtent(name string) Extent {
	if t, declared := s.Tensor(name); declared && len(t.Axes) > 0 {
		return t.Axes[0].Extent
	}
	return s.ExtentMade(name, Contraction.Rows)
}

// ExtentMade is the extent of the rows or of the columns of a tensor that an operation makes: that of an operand's axis
// with their letter. The schedule is valid.
func (s Schedule) ExtentMade(name string, letter func(Contraction) byte) Extent {
	o, _ := s.Maker(name)
	letters, _ := s.Contraction(o) // Validate has read it
	for i, in := range letters.In {
		at := strings.IndexByte(in, letter(letters))
		t, declared := s.Tensor(o.In[i])
		switch {
		case at < 0:
		case declared:
			return t.Axes[at].Extent
		case at > 0 && at == len(in)-1:
			return s.ExtentMade(o.In[i], Contraction.Columns)
		default:
			return s.ExtentMade(o.In[i], Contraction.Rows)
		}
	}
	return ""
}
