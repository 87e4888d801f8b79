package hostir

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// Apply is a function of a view and of further operands, by a kernel.
type Apply struct {
	Func     string // as schedules name it, or the key of formulas
	X        View
	Operands []View // rows, each for every row of the result, come last
	To       View
	// Width is how many columns the heads have that a function takes the rows apart into; absent: it knows none. It
	// is a number or an extent, and no memory that the step touches depends on it.
	Width Expr
	// Epsilon is the number that a norm adds to the mean of squares; 0 of other functions.
	Epsilon float64
	// Makes are the formulas of a function without a name, each the X of the next one: the first is of X, and their
	// further operands are the Operands, in the order of schedule.Operands. Columns are how many a row of the result
	// has; Word is for texts.
	Makes   []schedule.Expr
	Columns Expr
	Word    string
}

// ApplyTo is a function of a view and of its further operands, by the kernel for what reaches as far.
func ApplyTo(s StreamRef, function string, dst, x View, operands ...View) Step {
	n := Do(s, Apply{Func: function, X: x, Operands: operands, To: dst})
	f := schedule.Func{Do: schedule.FuncKind(function), In: make([]string, len(operands))}
	if n.By = function; schedule.ReachOf(schedule.Nodes(f.Tree())) == schedule.Local {
		n.By = ElementsKernel
	}
	return n
}

// MakeOf applies formulas, called by a word in texts, to a view and their operands. A row has that many columns.
func MakeOf(s StreamRef, word string, formulas []schedule.Expr, columns Expr, dst, x View, operands ...View) Step {
	nodes := schedule.Nodes(formulas...)
	n := Do(s, Apply{Func: schedule.Key(nodes), X: x, Operands: operands, To: dst, Makes: formulas, Columns: columns,
		Word: word})
	n.By = ElementsKernel
	if schedule.ReachOf(nodes) > schedule.Local || len(schedule.Heads(nodes)) > 0 {
		n.By = GroupsKernel
	}
	return n
}

// OfHeads is the function of heads that are width columns wide.
func (s Step) OfHeads(width Expr) Step {
	return Changed(s, func(x *Apply) { x.Width = width })
}

// WithEpsilon is the norm that adds a number to the mean of squares.
func (s Step) WithEpsilon(epsilon float64) Step {
	return Changed(s, func(x *Apply) { x.Epsilon = epsilon })
}

// Nodes are the formulas of a function without a name, written out.
func (x Apply) Nodes() []schedule.Node { return schedule.Nodes(x.Makes...) }

// Kind is ApplyKind.
func (Apply) Kind() Kind { return ApplyKind }

func (Apply) work() {}

func (x Apply) views() (reads, writes []View) { return append(some(x.X), x.Operands...), some(x.To) }

func (x Apply) with(p Parts) Work {
	x.To, x.X = p.view("destination", x.To), p.view("source", x.X)
	x.Operands = p.views("source", x.Operands)
	x.Width = p.expr("the width of heads of "+x.Func, x.Width)
	x.Columns = p.expr("the columns of a row", x.Columns)
	return x
}

func (x Apply) check(s Step) error {
	switch {
	case len(some(x.X, x.To)) < 2 || x.Func == "" || s.By == "":
		return fmt.Errorf("a function is applied to a view by a kernel, which writes one")
	case (x.Makes == nil) != x.Columns.IsZero():
		return fmt.Errorf("a function without a name has formulas and knows how long a row is, and no other does")
	case x.Makes != nil && len(x.Operands) != len(schedule.Operands(x.Nodes())):
		return fmt.Errorf("a formula reads a view for X and one for each operand")
	case x.Makes != nil:
		return nil // its operands lie as its formulas say
	}
	for _, v := range x.rows() {
		if !v.Row {
			return rowError(v)
		}
	}
	return plain(slices.Concat(x.Operands, []View{x.X, x.To})...)
}

// rows are the last operands from the first row on.
func (x Apply) rows() []View {
	if i := slices.IndexFunc(x.Operands, func(v View) bool { return v.Row }); i >= 0 {
		return x.Operands[i:]
	}
	return nil
}

func (x Apply) text() string {
	name := "Apply " + x.Func
	if x.Makes != nil {
		var formulas []string
		for _, e := range x.Makes {
			formulas = append(formulas, e.String())
		}
		name = "Make [" + strings.Join(formulas, ", then ") + "] of rows of " + x.Columns.String()
	}
	reads, writes := x.views()
	operands := texted(append(writes, reads...))
	if !x.Width.IsZero() {
		operands = append(operands, "heads of "+x.Width.String())
	}
	if x.Epsilon != 0 {
		operands = append(operands, fmt.Sprintf("epsilon %g", x.Epsilon))
	}
	return name + "(" + strings.Join(operands, ", ") + ")"
}
