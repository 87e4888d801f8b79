package hostir

import "strings"

// Work is what a step does between its words: a struct with named operands, or the Kind of work whose operands are the
// Reads and the Writes of the step. No other package has work of its own.
type Work interface {
	Kind() Kind
	work()
}

// operated is work with named operands.
type operated interface {
	Work
	// views are those that the work reads and those that it writes.
	views() (reads, writes []View)
	// with is the work with its views rewritten, those that it writes first.
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

// Kinds of work without named operands. A copy reads one view and writes one of its size; a gather copies the views
// that it reads, one after another, to one that they fill; a sum adds up the views that it reads in their order, in
// fp32, and rounds once; a product is a contraction. A function is applied to the first view, and takes the other views
// as further operands. A call is work of the caller's own, which reads all of its views.
const (
	Copy    Kind = "copy"
	Gather  Kind = "gather"
	Sum     Kind = "sum"
	Product Kind = "product"
	Apply   Kind = "apply"
	Call    Kind = "call"
)

// Kind is the kind itself.
func (k Kind) Kind() Kind { return k }

func (Kind) work() {}

// Title is the work as one word: AllGather.
func (k Kind) Title() string {
	var title string
	for _, part := range strings.Split(string(k), "-") {
		title += strings.ToUpper(part[:1]) + part[1:]
	}
	return title
}

// result names the view that the work writes, for errors.
func (k Kind) result() string {
	if k == Product {
		return "result"
	}
	return "destination"
}

// operand names the i-th view that the work reads, for errors.
func (k Kind) operand(i int) string {
	switch k {
	case Sum:
		return "term"
	case Product:
		return [...]string{"operand", "second operand", "bias"}[min(i, 2)]
	}
	return "source"
}

// Kind is the kind of a step's work; empty: it has none.
func (s Step) Kind() Kind {
	if s.Do == nil {
		return ""
	}
	return s.Do.Kind()
}

// Views are the views that a step reads, and those that it writes.
func (s Step) Views() (reads, writes []View) {
	if o, ok := s.Do.(operated); ok {
		return o.views()
	}
	return s.Reads, s.Writes
}

// some are the views that are there: an absent one has no buffer.
func some(list ...View) (there []View) {
	for _, v := range list {
		if v.Buffer != "" {
			there = append(there, v)
		}
	}
	return there
}

// called is a text of work: its name, its results, and its operands.
func called(name string, writes, reads []View) string {
	var list []string
	for _, v := range append(writes, reads...) {
		list = append(list, v.String())
	}
	return name + "(" + strings.Join(list, ", ") + ")"
}
