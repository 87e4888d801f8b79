package explore

import (
	"math"
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/verify/ops"
)

// A formula is read as a tree, for each element. A leaf is the number of its element. An operation mixes a hash of its
// kind with the numbers of its operands. A statistic mixes such a hash with the elements of its group in order.

// walk evaluates a tree for elements that follow one another.
type walk struct {
	x       []Number
	first   int // the column of the first element
	columns int // of a row; 0 where no element depends on them
	width   func(schedule.Extent) int
	// operand is the element at place at of a tensor's part for a row; rows are counted from the first.
	operand func(tensor string, lies schedule.Lies, row, at int) Number
}

// lies says how the leaves of each kind lie.
var lies = map[schedule.Do]schedule.Lies{schedule.DoOf: schedule.InPlace, schedule.DoRow: schedule.ByColumn,
	schedule.DoColumn: schedule.ByRow, schedule.DoHeadRow: schedule.ByHead, schedule.DoCos: schedule.OfTable,
	schedule.DoSin: schedule.OfTable, schedule.DoPairCos: schedule.OfTable, schedule.DoPairSin: schedule.OfTable}

// of is the value of a tree for each element.
func (w *walk) of(e schedule.Expr) []Number {
	if e.Do == schedule.DoX {
		return w.x
	}
	made, args := make([]Number, len(w.x)), [][]Number{}
	for _, x := range e.Of {
		args = append(args, w.of(x))
	}
	kind, width := hashed(string(e.Do)), w.group(e)
	var of []uint64 // the seeds of the next element
	for i := range made {
		row, column := 0, i
		if w.columns > 0 {
			row, column = (w.first+i)/w.columns, (w.first+i)%w.columns
		}
		j := column % max(width, 1)
		switch e.Do {
		case schedule.DoNumber:
			made[i] = mixed(kind, uint64(math.Float32bits(float32(e.Number))))
		case schedule.DoParam:
			made[i] = mixed(kind, hashed(e.Name))
		case schedule.DoOf, schedule.DoRow, schedule.DoColumn, schedule.DoHeadRow, schedule.DoCos, schedule.DoSin,
			schedule.DoPairCos, schedule.DoPairSin:
			made[i] = w.operand(e.Tensor, lies[e.Do], row, w.place(e.Do, i, column, j, width))
		case schedule.DoSum, schedule.DoMean, schedule.DoMost:
			if j > 0 { // the group has one
				made[i] = made[i-j]
				continue
			}
			of = append(of[:0], kind)
			for k := range width {
				of = append(of, uint64(args[0][i-j+k]))
			}
			made[i] = mixed(of...)
		case schedule.DoTurn:
			made[i] = partner(args[0], i, width/2, j < width/2)
		case schedule.DoPairs:
			made[i] = partner(args[0], i, 1, j%2 == 0)
		case schedule.DoBelow:
			made[i] = args[1][i]
			if float64(j) < e.Number {
				made[i] = args[0][i]
			}
		default:
			of = append(of[:0], kind)
			for _, a := range args {
				of = append(of, uint64(a[i]))
			}
			made[i] = mixed(of...)
		}
	}
	return made
}

// partner is the element that a rotation pairs with element i: the negative of the element apart behind it, or the
// element apart before it.
func partner(x []Number, i, apart int, first bool) Number {
	if first {
		return mixed(hashed(string(schedule.DoNeg)), uint64(x[i+apart]))
	}
	return x[i-apart]
}

// group is the number of columns of a node's group.
func (w *walk) group(e schedule.Expr) int {
	if e.Group == "" {
		return w.columns
	}
	return w.width(e.Group)
}

// place is the index, within an operand's part, of the element that element i reads.
func (w *walk) place(do schedule.Do, i, column, j, width int) int {
	switch do {
	case schedule.DoRow:
		return column
	case schedule.DoHeadRow:
		return j
	case schedule.DoCos:
		return j % (width / 2)
	case schedule.DoSin:
		return width/2 + j%(width/2)
	case schedule.DoPairCos:
		return j / 2
	case schedule.DoPairSin:
		return width/2 + j/2
	case schedule.DoColumn:
		return 0
	}
	return i
}

// formulasOf is the result of formulas on the first operand, with the others beside it; nil where the operands do not
// fit.
func formulasOf(o *ops.Op, trees []schedule.Expr, operands [][]Number, size int) []Number {
	w := walkOf(o, trees, operands, size)
	if w == nil {
		return nil
	}
	return w.all(trees)
}

// all evaluates trees one after the other: each result is the X of the next tree.
func (w *walk) all(trees []schedule.Expr) []Number {
	for _, e := range trees {
		w.x = w.of(e)
	}
	return w.x
}

// walkOf reads the operands of formulas; nil where they do not fit.
func walkOf(o *ops.Op, trees []schedule.Expr, operands [][]Number, size int) *walk {
	nodes := schedule.Nodes(trees...)
	heads, all := schedule.Heads(nodes), schedule.Operands(nodes)
	if len(operands) != 1+len(all) || len(heads) != len(o.Heads) {
		return nil
	}
	source, beside := ops.SourceOf(operands)
	x := elementsOf(source, size)
	columns := int(o.Columns)
	rows := size
	if columns > 0 {
		rows = size / columns
	}
	widths, list := map[schedule.Extent]int{}, map[string][]Number{}
	for i, e := range heads {
		widths[e] = int(o.Heads[i])
		if widths[e] < 1 || columns == 0 || columns%widths[e] != 0 {
			return nil
		}
	}
	w := &walk{x: x, columns: columns, width: func(e schedule.Extent) int { return widths[e] }}
	if len(x) != size || columns > 0 && size%columns != 0 || columns == 0 && schedule.ReachOf(nodes) > schedule.Local {
		return nil
	}
	each := map[string]int{}
	for i, operand := range all {
		n, width := size, widthOf(nodes, operand.Tensor, widths)
		switch operand.Lies {
		case schedule.ByColumn:
			n = columns
		case schedule.ByRow:
			n, each[operand.Tensor] = rows, 1
		case schedule.ByHead:
			n = width
		case schedule.OfTable:
			n, each[operand.Tensor] = rows*width, width
		}
		list[operand.Tensor] = elementsOf(beside[i], n)
		if len(list[operand.Tensor]) != n {
			return nil
		}
	}
	w.operand = func(tensor string, _ schedule.Lies, row, at int) Number { return list[tensor][row*each[tensor]+at] }
	return w
}

// widthOf is the width of the heads that a tensor is read by.
func widthOf(nodes []schedule.Node, tensor string, widths map[schedule.Extent]int) int {
	for _, n := range nodes {
		if n.Tensor == tensor {
			return widths[n.Group]
		}
	}
	return 0
}

// trees are the trees of functions that are applied to a result one after the other.
func (m *meaning) trees(own []schedule.Func) (list []schedule.Expr) {
	for _, f := range own {
		list = append(list, m.Schedule.Tree(f))
	}
	return list
}

// formulas is the value of trees for an element of an operation's result. Where the trees read more of a row than the
// element, it is the values of the whole row. first is the column of the first value.
func (m *meaning) formulas(run int, op schedule.Op, trees []schedule.Expr, index []int64) (made []Number, first int64) {
	last := len(index) - 1
	w, begin := m.walk(run, op, index)
	columns := w.columns
	before := m.Schedule.With(op)
	x := func(at []int64) Number {
		if len(op.In) > 1 {
			return m.plain(run, before, at)
		}
		return m.read(op.In[0], m.plain(run, before, at))
	}
	at := append([]int64{}, index...)
	if !slices.ContainsFunc(trees, beyondPlace) {
		w.x = []Number{x(at)}
	} else {
		w.first = 0
		for i := range columns {
			at[last] = int64(begin + i)
			w.x = append(w.x, x(at))
		}
	}
	return w.all(trees), int64(begin + w.first)
}

// beyondPlace says that a tree reads more of a row than the element at its place. A later tree need not read what it
// makes, as a number of the shape doesn't.
func beyondPlace(e schedule.Expr) bool { return schedule.ReachOf(schedule.Nodes(e)) > schedule.Local }

// walk reads trees for an element of an operation's result, and has the column at which the element's row begins.
func (m *meaning) walk(run int, op schedule.Op, index []int64) (w *walk, begin int) {
	last := len(index) - 1
	columns := int(m.tensor(op.Out).inRow)
	begin = int(index[last]) / columns * columns
	w = &walk{first: int(index[last]) - begin, columns: columns, width: m.extent}
	w.operand = func(tensor string, lies schedule.Lies, _, place int) Number {
		of := []int64{int64(place)}
		switch lies {
		case schedule.ByColumn:
			of[0] += int64(begin)
		case schedule.InPlace:
			of = append([]int64{}, index...)
			of[last] = int64(begin + (w.first+place)%columns)
		case schedule.ByRow:
			if of = index[:last]; m.Schedule.Block(op) > 0 {
				of = append(slices.Clone(of), int64(begin/columns))
			}
		case schedule.OfTable:
			of = []int64{index[last-1], int64(place)}
		}
		return m.read(tensor, m.element(run, tensor, of))
	}
	return w, begin
}

// read is an element of a tensor as formulas read it.
func (m *meaning) read(tensor string, x Number) Number {
	if m.tensor(tensor).wide {
		return joined(halves(x))
	}
	return x
}

// extent is the value of an extent, which is a number or a symbol.
func (m *meaning) extent(e schedule.Extent) int {
	if n, err := strconv.Atoi(string(e)); err == nil {
		return n
	}
	return m.Extents[e]
}
