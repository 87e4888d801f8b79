package hostir

import (
	"fmt"
	"slices"
	"strings"
)

// Sum adds up terms in their order, in fp32, then adds a row to each row, and rounds once. A kernel does it.
type Sum struct {
	Terms []View
	// Scales multiply each term of eight bits, with one scale for every Columns columns; without such terms there are
	// none.
	Scales  []View
	Columns Expr
	Row     View // none where it has no buffer
	To      View
}

// Reduce adds up terms. If the last term is a row, it is added to each row.
func Reduce(s StreamRef, dst View, terms ...View) Step {
	x := Sum{Terms: terms, To: dst}
	if last := len(terms) - 1; last >= 0 && terms[last].Row {
		x.Terms, x.Row = terms[:last], terms[last]
	}
	n := Do(s, x)
	n.By = ReduceKernel
	return n
}

// Kind is SumKind.
func (Sum) Kind() Kind { return SumKind }

func (Sum) work() {}

func (x Sum) views() (reads, writes []View) {
	return slices.Concat(x.Terms, x.Scales, some(x.Row)), some(x.To)
}

func (x Sum) with(p Parts) Work {
	x.To = p.view("destination", x.To)
	x.Terms, x.Scales, x.Row = p.views("term", x.Terms), p.views("scales", x.Scales), p.view("term", x.Row)
	x.Columns = p.expr("the columns of a scale", x.Columns)
	return x
}

func (x Sum) check(s Step) error {
	if x.To.Buffer == "" || s.By == "" {
		return fmt.Errorf("a sum writes one view, and a kernel does it")
	}
	if n := len(x.Scales); n > 0 && n != len(x.Terms) || n > 0 == x.Columns.IsZero() {
		return fmt.Errorf("a sum has scales of all terms, or of none")
	}
	for _, v := range slices.Concat(x.Terms, x.Scales, []View{x.To}) {
		if v.Row {
			return rowError(v)
		}
	}
	if len(some(x.Row)) > 0 && !x.Row.Row {
		return fmt.Errorf("%s: a sum adds a row to each row, or nothing", x.Row.Buffer)
	}
	return plain(x.To, x.Row)
}

func (x Sum) text() string {
	reads, writes := x.views()
	if len(x.Scales) == 0 {
		return called("Reduce", writes, reads)
	}
	var terms []string
	for i, scales := range texted(x.Scales) {
		terms = append(terms, x.Terms[i].String()+" times "+scales)
	}
	list := slices.Concat(texted(writes), terms, texted(some(x.Row)))
	return "Reduce(" + strings.Join(list, ", ") + ") by " + x.Columns.String() + " columns"
}

func (x Sum) rows() []View { return some(x.Row) }
