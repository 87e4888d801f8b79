package formula

import (
	"math"

	"ovgen/schedule"
)

// Row has the operands of a function of a row.
type Row struct {
	X []Value // the row
	// Operand is element i of a tensor's part for this row: by column, by column of a head, or by column of a table's
	// row. A tensor with one value for the whole row has it at 0.
	Operand func(tensor string, i int) Value
	Param   func(name string) float64       // numbers of the Shape
	Width   func(e schedule.Extent) (n int) // of heads
	made    [][]Value                       // the values of each node
	same    []bool                          // whether all values of a node are one
}

// Of evaluates nodes for a row. The result is valid until the next call.
func (r *Row) Of(nodes []schedule.Node) []Value {
	for len(r.made) < len(nodes) {
		r.made, r.same = append(r.made, nil), append(r.same, false)
	}
	for i, n := range nodes {
		if len(r.made[i]) != len(r.X) {
			r.made[i] = make([]Value, len(r.X))
		}
		switch of := operations[n.Do]; {
		case n.Do == schedule.DoX:
			r.same[i] = false
			copy(r.made[i], r.X)
		case of != nil:
			r.same[i] = r.same[n.Of[0]] && r.same[n.Of[len(n.Of)-1]]
			r.each(r.made[i], r.same[i], n, of)
		case statistics[n.Do] != nil:
			r.same[i] = n.Group == ""
			r.groups(r.made[i], n)
		default:
			r.same[i] = n.Do == schedule.DoNumber || n.Do == schedule.DoParam || n.Do == schedule.DoColumn
			r.columns(r.made[i], n)
		}
	}
	return r.made[len(nodes)-1]
}

// each applies an operation to each element; if same, it computes one element, which all elements equal.
func (r *Row) each(made []Value, same bool, n schedule.Node, of func(a, b Value) Value) {
	a, b := r.made[n.Of[0]], r.made[n.Of[len(n.Of)-1]]
	if n.Do == schedule.DoTimes && n.Of[0] == n.Of[1] {
		of = func(a, _ Value) Value { return squared(a) }
	}
	for j := range made {
		if j > 0 && same {
			made[j] = made[0]
			continue
		}
		made[j] = sure(of(a[j], b[j]), a[j], b[j])
	}
}

// operations are the operations on each element, of one or two operands.
var operations = map[schedule.Do]func(a, b Value) Value{
	schedule.DoPlus:     plus,
	schedule.DoMinus:    func(a, b Value) Value { return plus(a, negated(b)) },
	schedule.DoTimes:    times,
	schedule.DoOver:     over,
	schedule.DoGreatest: func(a, b Value) Value { return chosen(math.Max, a, b) },
	schedule.DoLeast:    func(a, b Value) Value { return chosen(math.Min, a, b) },
	schedule.DoNeg:      func(a, _ Value) Value { return negated(a) },
	schedule.DoAbs: func(a, _ Value) Value {
		lo := min(math.Abs(a.Lo), math.Abs(a.Hi))
		if a.Lo < 0 && a.Hi > 0 {
			lo = 0
		}
		return Value{math.Abs(a.Want), lo, a.Size()}
	},
	schedule.DoExp:       func(a, _ Value) Value { return about(math.Exp, a, 4, 0, math.Inf(1)) },
	schedule.DoTanh:      func(a, _ Value) Value { return about(math.Tanh, a, 4, -1, 1) },
	schedule.DoErf:       func(a, _ Value) Value { return about(math.Erf, a, 4, -1, 1) },
	schedule.DoLog:       func(a, _ Value) Value { return about(math.Log, a, 4, math.Inf(-1), math.Inf(1)) },
	schedule.DoRoot:      func(a, _ Value) Value { return root(a) },
	schedule.DoRecipRoot: func(a, _ Value) Value { return over(Point(1), root(a)) },
	schedule.DoFinite:    func(a, _ Value) Value { return finite(a) },
	schedule.DoPower:     func(a, _ Value) Value { return sized(powerOf, a) },
	schedule.DoUp:        func(a, _ Value) Value { return sized(up, a) },
	schedule.DoLoud:      func(a, _ Value) Value { return sized(loudPower, a) },
}

// statistics are the operations on the columns of a group.
var statistics = map[schedule.Do]func([]Value) Value{
	schedule.DoSum: sum,
	schedule.DoMean: func(v []Value) Value {
		return over(sum(v), Point(float64(len(v))))
	},
	schedule.DoMost: func(v []Value) Value { // its order is not said: it may leave NaN out
		most := v[0]
		for _, x := range v {
			if x.MayBeNaN() {
				return Unsure()
			}
			most = chosen(math.Max, most, x)
		}
		return most
	},
}

// groups computes a statistic of each group.
func (r *Row) groups(made []Value, n schedule.Node) {
	width := r.width(n)
	for first := 0; first+width <= len(made); first += width {
		made[first] = statistics[n.Do](r.made[n.Of[0]][first : first+width])
		for j := first + 1; j < first+width; j++ {
			made[j] = made[first]
		}
	}
}

// width is the width of a node's head, or of the row.
func (r *Row) width(n schedule.Node) int {
	if n.Group == "" {
		return len(r.X)
	}
	return r.Width(n.Group)
}

// columns computes a node that depends on the column.
func (r *Row) columns(made []Value, n schedule.Node) {
	width := r.width(n)
	half := width / 2
	for j := range made {
		at := j % max(width, 1)
		switch n.Do {
		case schedule.DoNumber:
			made[j] = Point(fp32(n.Number))
		case schedule.DoParam:
			made[j] = Point(fp32(r.Param(n.Name)))
		case schedule.DoOf, schedule.DoRow:
			made[j] = r.Operand(n.Tensor, j)
		case schedule.DoColumn:
			made[j] = r.Operand(n.Tensor, 0)
		case schedule.DoHeadRow:
			made[j] = r.Operand(n.Tensor, at)
		case schedule.DoCos:
			made[j] = r.Operand(n.Tensor, at%half)
		case schedule.DoSin:
			made[j] = r.Operand(n.Tensor, half+at%half)
		case schedule.DoPairCos:
			made[j] = r.Operand(n.Tensor, at/2)
		case schedule.DoPairSin:
			made[j] = r.Operand(n.Tensor, half+at/2)
		case schedule.DoBelow:
			made[j] = r.made[n.Of[1]][j]
			if at < int(n.Number) {
				made[j] = r.made[n.Of[0]][j]
			}
		case schedule.DoTurn:
			made[j] = turned(r.made[n.Of[0]], j, half, at < half)
		case schedule.DoPairs:
			made[j] = turned(r.made[n.Of[0]], j, 1, at%2 == 0)
		}
	}
}

// turned is the value that the partner of a column gives to it: for the first column of a pair, the negative of the
// second, apart columns on; for the second, the first.
func turned(v []Value, j, apart int, first bool) Value {
	if first {
		return negated(v[j+apart])
	}
	return v[j-apart]
}
