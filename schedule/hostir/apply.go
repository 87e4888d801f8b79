package hostir

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// Apply is what formulas make of a view and of further operands, by a kernel.
type Apply struct {
	X        View
	Operands []View // in the order of schedule.Operands
	To       View
	// Scales is where it leaves what the last formula divides each row by: the scales of a result of eight bits.
	Scales View
	// Makes are the formulas, each the X of the next one; the first is of X. Word is for texts.
	Makes []schedule.Expr
	Word  string
	// Columns are how many a row of the result has; absent where an element is of those at its place alone.
	Columns Expr
}

// MakeOf applies formulas, called by a word in texts, to a view and their operands. A row has that many columns.
func MakeOf(s StreamRef, word string, formulas []schedule.Expr, columns Expr, dst, x View, operands ...View) Step {
	work := Apply{X: x, Operands: operands, To: dst, Makes: formulas, Columns: columns, Word: word}
	by := work.kernel()
	if by == ElementsKernel && !slices.ContainsFunc(schedule.Operands(work.Nodes()), func(o schedule.Operand) bool {
		return o.Lies != schedule.InPlace
	}) {
		work.Columns = Expr{}
	}
	n := Do(s, work)
	n.By = by
	return n
}

// kernel is the kernel that makes the formulas.
func (x Apply) kernel() string {
	nodes := x.Nodes()
	if schedule.ReachOf(nodes) > schedule.Local || len(schedule.Heads(nodes)) > 0 {
		return GroupsKernel
	}
	return ElementsKernel
}

// OfRows says that the formulas are of whole rows, and know no heads.
func (x Apply) OfRows() bool {
	nodes := x.Nodes()
	return schedule.ReachOf(nodes) == schedule.InRow && len(schedule.Heads(nodes)) == 0
}

// Applied is what formulas make in some work: alone, or of the sum of packets. ok: there are some.
func Applied(w Work) (x Apply, ok bool) {
	switch w := w.(type) {
	case Apply:
		return w, true
	case Packets:
		return w.Then, len(w.Then.Makes) > 0
	}
	return Apply{}, false
}

// Nodes are the formulas, written out.
func (x Apply) Nodes() []schedule.Node { return schedule.Nodes(x.Makes...) }

// Kind is ApplyKind.
func (Apply) Kind() Kind { return ApplyKind }

func (Apply) work() {}

func (x Apply) views() (reads, writes []View) {
	return append(some(x.X), x.Operands...), some(x.To, x.Scales)
}

func (x Apply) with(p Parts) Work {
	x.To, x.X, x.Scales = p.view("destination", x.To), p.view("source", x.X), p.view("scales", x.Scales)
	x.Operands = p.views("source", x.Operands)
	x.Columns = p.expr("the columns of a row", x.Columns)
	return x
}

func (x Apply) check(s Step) error {
	switch {
	case len(some(x.X, x.To)) < 2 || len(x.Makes) == 0 || s.By == "":
		return fmt.Errorf("formulas are made of a view by a kernel, which writes one")
	case len(x.Operands) != len(schedule.Operands(x.Nodes())):
		return fmt.Errorf("a formula reads a view for X and one for each operand")
	}
	if _, divides := schedule.Divisor(x.Makes); x.Scales.Buffer != "" && (!divides || s.By != GroupsKernel) {
		return fmt.Errorf("scales are what the last formula divides each row by")
	}
	return nil // its operands lie as its formulas say
}

func (x Apply) text() string {
	reads, writes := x.views()
	operands, rows := texted(append(writes, reads...)), ""
	if !x.Columns.IsZero() {
		rows = " of rows of " + x.Columns.String()
	}
	var formulas []string
	for _, e := range x.Makes {
		known, more := e.InLibrary()
		if known != "" && len(x.Makes) == 1 {
			return "Apply " + known + "(" + strings.Join(append(operands, more...), ", ") + ")" + rows
		}
		formulas = append(formulas, e.String())
	}
	return "Make [" + strings.Join(formulas, ", then ") + "]" + rows + "(" + strings.Join(operands, ", ") + ")"
}
