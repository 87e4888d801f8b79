package explore

import (
	"slices"

	"ovgen/schedule"
)

// tensor keeps the facts about a tensor, or about an operation's result, that each element asks for.
type tensor struct {
	name    string
	sizes   []int64
	op      schedule.Op // the operation that makes it, unless it is an input
	made    bool
	scales  bool            // it has the scales of another tensor, which an operation makes
	own     []schedule.Func // the functions that a separate kernel computes
	inFP32  bool
	wide    bool // its elements have twice the bytes of the plan's elements
	scale   string
	ofRows  bool // there is a scale for each row
	inParts bool // or for each rank's part of a row
	inRow   int64
	partial bool    // the ranks have partial results of its operation
	apart   bool    // it has each rank's summand
	ownRows bool    // each rank's call makes its own rows
	block   int64   // the columns of a block, where scales of blocks lie side by side; 0: scales are of rows
	blocks  []int64 // the columns of a block, or the sides of a square, where scales lie block by block
	known   elements
	of      []operand
	summed  map[rune]summed
	columns map[int][]int64 // of each rank, of the last axis, where a call makes it
}

// operand is an operand of a tensor's operation, with the letters of its axes.
type operand struct {
	*tensor
	letters string
	scaled  elements // with the scales applied
}

// letters are the current indices of the letters of axes.
type letters ['z' + 1]int64

// summed is a letter over which an operation sums.
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
		t.wide = declared.Type.Bits() == 2*m.plan
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

// index is the index of an element along each axis, given its number row by row.
func (t *tensor) index(at int64) []int64 {
	index := make([]int64, len(t.sizes))
	for i := len(t.sizes) - 1; i >= 0; i-- {
		index[i], at = at%t.sizes[i], at/t.sizes[i]
	}
	return index
}

// elements has the elements of a tensor in each run, by their row-by-row numbers.
type elements [][]Number

// in lists the elements in a run of a tensor of these sizes; elements that were not read yet are unread.
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

// over reads a letter over which a tensor's operation sums, once.
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

// operands lists the operands of a tensor's operation.
func (m *meaning) operands(t *tensor) []operand {
	if t.of == nil {
		for i, letters := range m.Index(t.op).In {
			t.of = append(t.of, operand{tensor: m.tensor(t.op.In[i]), letters: letters})
		}
	}
	return t.of
}
