package explore

import (
	"slices"

	"ovgen/schedule"
)

// tensor is what a meaning has read of a tensor, or of an operation's result: that is asked for each element.
type tensor struct {
	name    string
	sizes   []int64
	op      schedule.Op // what makes it, unless it is an input
	made    bool
	scales  bool            // they are those of another tensor, which is made
	own     []schedule.Func // those that a kernel of its own makes
	inFP32  bool
	wide    bool // its elements have twice the bytes of the plan's
	scale   string
	ofRows  bool // there is a scale for each row
	inParts bool // or for each rank's part of one
	inRow   int64
	partial bool    // the ranks have partial results of what makes it
	apart   bool    // it has each rank's summand
	ownRows bool    // each rank's call makes its own rows
	block   int64   // of scales that lie side by side: the columns of a block; 0: they are of rows
	blocks  []int64 // of scales that lie block by block: the columns of a block, or the sides of a square
	known   elements
	of      []operand
	summed  map[rune]summed
	columns map[int][]int64 // of each rank, of the last axis, where the caller's own work makes it
}

// operand is one of what makes a tensor, with the letters of its axes.
type operand struct {
	*tensor
	letters string
	scaled  elements // with their scales
}

// letters are the indices that letters of axes stand for.
type letters ['z' + 1]int64

// summed is a letter over which a sum is.
type summed struct {
	n  int64
	of [][]int64 // the indices of each rank, where the letter is spread over the ranks
}

// unread stands for an element that was not read yet: no number is as large.
const unread = ^Number(0)

// tensor reads a tensor, or an operation's result, once.
func (m *meaning) tensor(name string) *tensor {
	t, known := m.tensors[name]
	if known {
		return t
	}
	t = &tensor{name: name, sizes: m.sizes(name), summed: map[rune]summed{}, columns: map[int][]int64{}}
	if t.op, t.made = m.Schedule.Maker(name); t.made {
		t.own, t.inFP32 = m.Schedule.Own(t.op), m.Schedule.InFP32(t.op)
		t.partial, t.apart, t.ownRows = m.partial(t.op), t.op.OfPartials(), m.OfOwnRows(t.op)
	} else {
		t.scales = m.Schedule.Made(name)
	}
	if declared, ok := m.Schedule.Tensor(name); ok {
		t.wide = declared.Type.Bits() == 16*m.plan
		if scale, scaled := m.Schedule.Tensor(declared.Scale); scaled {
			t.scale, t.ofRows, t.inParts = scale.Name, scale.OfRows(), scale.OfParts()
			for _, a := range scale.Axes {
				if _, n, ok := a.Extent.Blocks(); ok && scale.ByBlock() {
					t.blocks = append(t.blocks, n)
				} else if ok {
					t.block = n
				}
			}
		}
	}
	if len(t.sizes) > 0 {
		t.inRow = m.inRow(t)
	}
	if m.tensors == nil {
		m.tensors = map[string]*tensor{}
	}
	m.tensors[name] = t
	return t
}

// index is that of an element by its number row by row.
func (t *tensor) index(at int64) []int64 {
	index := make([]int64, len(t.sizes))
	for i := len(t.sizes) - 1; i >= 0; i-- {
		index[i], at = at%t.sizes[i], at/t.sizes[i]
	}
	return index
}

// elements are those of a tensor in each run, by their numbers row by row.
type elements [][]Number

// in are the elements in a run of a tensor of some sizes.
func (e *elements) in(run int, sizes []int64) []Number {
	for run >= len(*e) {
		*e = append(*e, nil)
	}
	if (*e)[run] == nil {
		n := int64(1)
		for _, size := range sizes {
			n *= size
		}
		(*e)[run] = slices.Repeat([]Number{unread}, int(n))
	}
	return (*e)[run]
}

// over reads a letter over which what makes a tensor sums once.
func (m *meaning) over(t *tensor, l rune) summed {
	over, known := t.summed[l]
	if !known {
		axis, n, spread := m.spread(t.op, l)
		over.n = n
		for r := 0; spread && r < m.Extents[schedule.D]; r++ {
			over.of = append(over.of, m.on(r).local(axis))
		}
		t.summed[l] = over
	}
	return over
}

// operands are those of what makes a tensor.
func (m *meaning) operands(t *tensor) []operand {
	if t.of == nil {
		for i, letters := range m.Index(t.op).In {
			t.of = append(t.of, operand{tensor: m.tensor(t.op.In[i]), letters: letters})
		}
	}
	return t.of
}
