package hostir

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
)

// Apply is formulas of a view and of further operands, computed by a kernel.
type Apply struct {
	X        View
	Operands []View // in the order of schedule.Operands
	To       View
	// Scales is where the kernel writes the divisors of the last formula, one for each row: the scales of a result of
	// eight bits.
	Scales View
	// Makes are the formulas, each the X of the next one; the first formula reads X. Word is for texts.
	Makes []schedule.Expr
	Word  string
	// Columns is the number of columns of a row of the result; absent where an element depends only on the elements at
	// its place.
	Columns Expr
	// Then are further formulas of rows in the same kernel, each applied to the result of the one before.
	Then []Apply
}

// MakeOf applies formulas, which texts call by a word, to a view and their operands. A row has that many columns.
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

// kernel is the kernel that computes the formulas.
func (x Apply) kernel() string {
	nodes := x.Nodes()
	if schedule.ReachOf(nodes) > schedule.Local || len(schedule.Heads(nodes)) > 0 {
		return GroupsKernel
	}
	return ElementsKernel
}

// OfRows reports whether the formulas are of whole rows, and have no heads.
func (x Apply) OfRows() bool {
	nodes := x.Nodes()
	return schedule.ReachOf(nodes) == schedule.InRow && len(schedule.Heads(nodes)) == 0
}

// Applied is the formulas in some work: alone, or applied to a product or to the sum of packets. ok is false for work
// without formulas.
func Applied(w Work) (x Apply, ok bool) {
	switch w := w.(type) {
	case Apply:
		return w, true
	case Packets:
		return w.Then, len(w.Then.Makes) > 0
	case PacketSpread:
		return Applied(w.Sum)
	case PacketRows:
		return w.Make, true
	case Product:
		return w.Then, len(w.Then.Makes) > 0
	}
	return Apply{}, false
}

// Chain lists the formulas, and then the further ones on their result, each as a separate Apply.
func (x Apply) Chain() []Apply {
	rest := x.Then
	x.Then = nil
	return append([]Apply{x}, rest...)
}

// rows are X, the result, and the operands that have a row for each row of it, in a list of operands of its own.
func (x *Apply) rows() (list []*View) {
	list, x.Operands = []*View{&x.X, &x.To}, slices.Clone(x.Operands)
	for i, o := range schedule.Operands(x.Nodes()) {
		if o.Lies != schedule.ByColumn {
			list = append(list, &x.Operands[i])
		}
	}
	return list
}

// WithRows are X, the result, and the operands that have a row for each row of it.
func (x Apply) WithRows() (list []View) {
	for _, v := range x.rows() {
		list = append(list, *v)
	}
	return list
}

// OfRank is formulas of all rows, of those of one rank alone.
func (x Apply) OfRank(rank Expr) Apply {
	for _, v := range x.rows() {
		*v = Chunk(v.Buffer, rank)
	}
	return x
}

// OfAnyColumns is the formulas, with the further ones on their result, without the numbers of columns of their rows.
func (x Apply) OfAnyColumns() Apply {
	x.Columns, x.Then = Expr{}, slices.Clone(x.Then)
	for i := range x.Then {
		x.Then[i].Columns = Expr{}
	}
	return x
}

// Nodes are the formulas, written out as nodes.
func (x Apply) Nodes() []schedule.Node { return schedule.Nodes(x.Makes...) }

// Kind is ApplyKind.
func (Apply) Kind() Kind { return ApplyKind }

func (Apply) asks() string { return OpsField }

func (x Apply) views() (reads, writes []View) {
	reads, writes = x.beside()
	return append(some(x.X), reads...), writes
}

// beside are the views but X, which other work of the same launch may make.
func (x Apply) beside() (reads, writes []View) {
	for _, f := range x.Chain() {
		reads, writes = append(reads, f.Operands...), append(writes, some(f.To, f.Scales)...)
	}
	return reads, writes
}

func (x Apply) result() View { return x.To }

func (x Apply) with(p Parts) Work {
	x.To, x.X, x.Scales = p.view("destination", x.To), p.view("source", x.X), p.view("scales", x.Scales)
	x.Operands = p.views("source", x.Operands)
	x.Columns = p.expr("the columns of a row", x.Columns)
	x.Then = slices.Clone(x.Then)
	for i, then := range x.Then {
		x.Then[i], _ = then.with(p).(Apply)
	}
	return x
}

func (x Apply) check(s Step) error {
	switch {
	case len(some(x.X, x.To)) < 2 || len(x.Makes) == 0 || s.By == "":
		return fmt.Errorf("formulas are made of a view by a kernel, which writes one")
	case len(x.Operands) != len(schedule.Operands(x.Nodes())):
		return fmt.Errorf("a formula reads a view for X and one for each operand")
	}
	if _, divides := schedule.Divisor(x.Makes); x.Scales.Buffer != "" && (!divides || s.By == ElementsKernel) {
		return fmt.Errorf("scales are what the last formula divides each row by")
	}
	for i, then := range x.Then {
		if _, ok := x.Chain()[i].GoingOn(then); !ok {
			return fmt.Errorf("a kernel makes formulas of rows of what others of rows as long make without scales")
		}
		if err := then.check(s); err != nil {
			return err
		}
	}
	return nil // its operands lie as its formulas say
}

// GoingOn joins formulas of rows with further formulas of their result into one kernel. ok is false where no kernel can
// do both.
func (x Apply) GoingOn(then Apply) (_ Apply, ok bool) {
	chain := x.Chain()
	last := chain[len(chain)-1]
	ok = last.OfRows() && then.OfRows() && then.X.equal(last.To) && then.Columns.Equal(last.Columns) &&
		last.Scales.Buffer == ""
	if ok {
		x.Then = append(slices.Clone(x.Then), then.Chain()...)
	}
	return x, ok
}

func (x Apply) text() string {
	chain := x.Chain()
	text := chain[0].alone()
	for _, then := range chain[1:] {
		text += ";  " + then.alone()
	}
	return text
}

// alone is the text of the first formulas.
func (x Apply) alone() string {
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
