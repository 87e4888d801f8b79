package hostir

import (
	"fmt"
	"slices"
	"strings"
)

// Sum adds up terms in their order, in fp32, applies formulas to that, and rounds once. A kernel does it.
type Sum struct {
	Terms []View
	// Scales multiply each term of eight bits, with one scale for every Columns columns; without such terms there are
	// none.
	Scales  []View
	Columns Expr
	Finish  Finish
	To      View
}

// Reduce adds up terms.
func Reduce(s StreamRef, dst View, terms ...View) Step {
	n := Do(s, Sum{Terms: terms, To: dst})
	n.By = ReduceKernel
	return n
}

// Term is one of the terms: they differ by their places alone.
func (x Sum) Term() View { return x.Terms[0] }

// Kind is SumKind.
func (Sum) Kind() Kind { return SumKind }

func (Sum) asks() string { return MovesField }

func (x Sum) views() (reads, writes []View) {
	return slices.Concat(x.Terms, x.Scales, x.Finish.Operands), some(x.To)
}

func (x Sum) result() View { return x.To }

func (x Sum) with(p Parts) Work {
	x.To = p.view("destination", x.To)
	x.Terms, x.Scales, x.Finish = p.views("term", x.Terms), p.views("scales", x.Scales), x.Finish.with(p)
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
	if err := x.Finish.check(); err != nil {
		return err
	}
	return plain(x.To)
}

func (x Sum) text() string {
	terms := texted(x.Terms)
	for i, scales := range texted(x.Scales) {
		terms[i] += " times " + scales
	}
	text := "Reduce(" + strings.Join(append(texted(some(x.To)), terms...), ", ") + ")"
	if len(x.Scales) > 0 {
		text += " by " + x.Columns.String() + " columns"
	}
	return text + x.Finish.text()
}
