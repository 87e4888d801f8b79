package hostir

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// Finish is formulas that a kernel applies to each element of a sum before it rounds the sum; it may have none. Each is
// the X of the next one, and the first one's X is the sum.
type Finish struct {
	Makes    []schedule.Expr
	Operands []View // in the order of schedule.Operands
	Word     string // for texts
	// Columns is the number of columns of a row of the sum; absent where all operands lie in place.
	Columns Expr
}

// FinishBy is formulas, which texts call by a word, with their operands. A row of the sum has that many columns.
func FinishBy(word string, formulas []schedule.Expr, columns Expr, operands ...View) Finish {
	x := Finish{Makes: formulas, Operands: operands, Word: word}
	if slices.ContainsFunc(schedule.Operands(x.Nodes()), func(o schedule.Operand) bool {
		return o.Lies != schedule.InPlace
	}) {
		x.Columns = columns
	}
	return x
}

// Nodes are the formulas, written out as nodes.
func (x Finish) Nodes() []schedule.Node { return schedule.Nodes(x.Makes...) }

// ByPlace reports whether the formulas read only operands at an element's place.
func (x Finish) ByPlace() bool { return x.Columns.IsZero() }

// Finishing is the step with formulas behind the sum in its work.
func (s Step) Finishing(f Finish) Step {
	s = Changed(s, func(x *Sum) { x.Finish = f })
	s = Changed(s, func(x *Packets) { x.Finish = f })
	return Changed(s, func(x *PacketSpread) { x.Sum.Finish = f })
}

// FinishOf is the formulas behind the sum in some work.
func FinishOf(w Work) Finish {
	switch w := w.(type) {
	case Sum:
		return w.Finish
	case Packets:
		return w.Finish
	case PacketSpread:
		return w.Sum.Finish
	case Scatter:
		return w.Finish
	}
	return Finish{}
}

func (x Finish) with(p Parts) Finish {
	x.Operands = p.views("source", x.Operands)
	x.Columns = p.expr("the columns of a row", x.Columns)
	return x
}

func (x Finish) check() error {
	nodes := x.Nodes()
	operands := schedule.Operands(nodes)
	switch {
	case len(x.Operands) != len(operands):
		return fmt.Errorf("a formula behind a sum reads a view for each operand")
	case schedule.ReachOf(nodes) != schedule.Local || len(schedule.Heads(nodes)) > 0:
		return fmt.Errorf("a formula behind a sum makes each element of the sum's element at its place")
	}
	for i, v := range x.Operands {
		if !v.Peer.IsZero() || v.Buffer == "" {
			return fmt.Errorf("a formula behind a sum reads memory of its own rank")
		}
		if operands[i].Lies != schedule.InPlace && x.ByPlace() {
			return fmt.Errorf("%s: a formula behind a sum needs the columns of a row", v.Buffer)
		}
	}
	return plain(x.Operands...)
}

// text follows the text of a sum; it is empty without formulas.
func (x Finish) text() string {
	if len(x.Makes) == 0 {
		return ""
	}
	operands, rows := texted(x.Operands), ""
	if !x.ByPlace() {
		rows = " of rows of " + x.Columns.String()
	}
	var formulas []string
	for _, e := range x.Makes {
		known, more := e.InLibrary()
		if known != "" && len(x.Makes) == 1 {
			if list := append(operands, more...); len(list) > 0 {
				known += "(" + strings.Join(list, ", ") + ")"
			}
			return ", then " + known + rows
		}
		formulas = append(formulas, e.String())
	}
	text := ", then [" + strings.Join(formulas, ", then ") + "]" + rows
	if len(operands) > 0 {
		text += "(" + strings.Join(operands, ", ") + ")"
	}
	return text
}
