package hostir

import (
	"fmt"
	"strings"
)

// Work stands between the words of a step: a struct with named operands. No other package defines work.
type Work interface {
	Kind() Kind
	// asks is the field of the schedule that asks for the work where its writer names none.
	asks() string
	// views are the views that the work reads, and the views that it writes.
	views() (reads, writes []View)
	// result is the view that the work makes; others that it writes are beside that.
	result() View
	// with is the work with its views and expressions rewritten; the views that it writes come first.
	with(Parts) Work
	// check refuses a step that can't do the work.
	check(Step) error
	// text is Tiles 112/2: Linear(C, Agathered, A, A@1..D-1, B).
	text() string
}

// Kind is the name of a kind of work.
type Kind string

// Nothing is no work: a step that posts, or waits.
var Nothing Work

// Kinds of work; other kinds have the names of their types.
const (
	CopyKind    Kind = "copy"
	GatherKind  Kind = "gather"
	SumKind     Kind = "sum"
	ProductKind Kind = "product"
	ApplyKind   Kind = "apply"
	CallKind    Kind = "call"
)

// Title is the kind as one word: AllGather.
func (k Kind) Title() string {
	var title string
	for _, part := range strings.Split(string(k), "-") {
		title += strings.ToUpper(part[:1]) + part[1:]
	}
	return title
}

// Do is a step that does some work.
func Do(s StreamRef, w Work) Step { return Step{Stream: s, Do: w} }

// Changed is the step with its work changed, if the work is a W.
func Changed[W Work](s Step, change func(*W)) Step {
	if x, ok := s.Do.(W); ok {
		change(&x)
		s.Do = x
	}
	return s
}

// Kind is the kind of a step's work; empty where it has none.
func (s Step) Kind() Kind {
	if s.Do == nil {
		return ""
	}
	return s.Do.Kind()
}

// Asks is the field of the schedule that asks for a step where its writer names none.
func (s Step) Asks() string {
	if s.Do == nil {
		return MovesField
	}
	return s.Do.asks()
}

// Views are the views that a step reads, and the views that it writes.
func (s Step) Views() (reads, writes []View) {
	if s.Do == nil {
		return nil, nil
	}
	return s.Do.views()
}

// Result is the view that a step's work makes.
func (s Step) Result() View {
	if s.Do == nil {
		return View{}
	}
	return s.Do.result()
}

// some lists the views that are not absent: an absent view has no buffer.
func some(list ...View) (there []View) {
	for _, v := range list {
		if v.Buffer != "" {
			there = append(there, v)
		}
	}
	return there
}

// plain refuses views that stand for several views.
func plain(list ...View) error {
	for _, v := range list {
		if v.Each.Index != "" {
			return fmt.Errorf("%s: only a sum, a gather, tiles and packets have a view for each value of an index",
				v.Buffer)
		}
	}
	return nil
}

func columnsError(v View) error {
	return fmt.Errorf("%s: only a copy by the copy engine takes a part of the columns", v.Buffer)
}

// texted are the texts of views.
func texted(list []View) (texts []string) {
	for _, v := range list {
		texts = append(texts, v.String())
	}
	return texts
}

// called is the text of work: its name, its results, and its operands.
func called(name string, writes, reads []View) string {
	return name + "(" + strings.Join(texted(append(writes, reads...)), ", ") + ")"
}
