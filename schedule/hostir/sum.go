package hostir

import (
	"fmt"
	"slices"
)

// Sum adds up terms in their order, in fp32, and then a row to each row, and rounds once: by a kernel.
type Sum struct {
	Terms []View
	Row   View // none where it has no buffer
	To    View
}

// Reduce adds up terms; a last one that is a row is added to each row.
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
	return append(slices.Clone(x.Terms), some(x.Row)...), some(x.To)
}

func (x Sum) with(p Parts) Work {
	x.To = p.view("destination", x.To)
	x.Terms, x.Row = p.views("term", x.Terms), p.view("term", x.Row)
	return x
}

func (x Sum) check(s Step) error {
	if x.To.Buffer == "" || s.By == "" {
		return fmt.Errorf("a sum writes one view, and a kernel does it")
	}
	for _, v := range slices.Concat(x.Terms, []View{x.To}) {
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
	return called("Reduce", writes, reads)
}

func (x Sum) rows() []View { return some(x.Row) }
