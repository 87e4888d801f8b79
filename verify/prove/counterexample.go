package prove

import (
	"fmt"
	"strings"

	"ovgen/verify/ops"
)

// Property is a property that a program must have to be emitted.
type Property string

// Properties, in the order in which they are checked: a later one may rest on earlier ones.
const (
	Shapes      Property = "one proof for every shape"
	Events      Property = "events are recorded in the run that waits for them"
	Bounds      Property = "uses lie inside declared memory"
	Abort       Property = "an abort drains every wait"
	Signals     Property = "words are only posted, awaited and reset"
	Blocks      Property = "blocks of kernels signal each for itself alike"
	Rest        Property = "every word is back at rest after each run"
	Remote      Property = "remote writes go only to plan-owned memory"
	Allocations Property = "allocated memory is used, and kept from New to Close"
	Bracket     Property = "operations lie between their run's start and end"
	Agreement   Property = "all ranks enqueue the same collectives, in one order"
	Matching    Property = "each wait is ended by exactly one post, and a word has one poster and one waiter"
	Deadlock    Property = "no deadlock"
	Reset       Property = "each post comes after the reset of the wait before it"
	Window      Property = "remote accesses lie between the owner's start and end of the run"
	Race        Property = "no data race"
	Contents    Property = "every element of the result is made once from exactly the right inputs"
	Serial      Property = "serial-safe: no deadlock on a device that runs one operation at a time"
)

// Place is an operation in a run.
type Place struct {
	Rank, Run int // Run counts from 1; for a node before a run, that run
	Stream    string
	Step      int    // zero for a node that is no step of the program
	Field     string // of the schedule that asked for it, where known
	Text      string // its work
}

// String is "rank 1, copy, step 6, run 1: copy A@0+0 24B -> Agathered@1+0 (Moves)".
func (p Place) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "rank %d, ", p.Rank)
	if p.Rank < 0 {
		b.Reset()
		b.WriteString("all ranks, ")
	}
	if p.Stream != "" {
		b.WriteString(p.Stream + ", ")
	}
	if p.Step > 0 {
		fmt.Fprintf(&b, "step %d, ", p.Step)
	}
	fmt.Fprintf(&b, "run %d: %s", p.Run, p.Text)
	if p.Field != "" {
		fmt.Fprintf(&b, " (%s)", p.Field)
	}
	return b.String()
}

// Counterexample says why a program is not proven: an error that a person can read.
type Counterexample struct {
	Program  string
	Ranks    int
	Property Property
	// Form is "eager" or "captured" where only that form of the program is at fault.
	Form    string
	Problem string
	// First and Second are the two operations; Second may be absent.
	First, Second *Place
	// Common is the last operation before both; ToFirst and ToSecond are the paths from it
	// that exist. For a deadlock, ToFirst is the circle.
	ToFirst, ToSecond []Place
	Missing           string // the edge, in words
	Suggestion        string

	graph *graph
	nodes []int32 // First's and Second's, or the nodes of the circle
}

// Error is the counterexample in a few lines, with long paths shortened.
func (c *Counterexample) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "prove %s for D = %d: not shown: %s", c.Program, c.Ranks, c.Property)
	if c.Form != "" {
		fmt.Fprintf(&b, " (%s)", c.Form)
	}
	fmt.Fprintf(&b, "\n  %s", c.Problem)
	for _, l := range []struct {
		head string
		at   *Place
	}{{"first", c.First}, {"second", c.Second}} {
		if l.at != nil {
			fmt.Fprintf(&b, "\n  %-8s %s", l.head+":", l.at)
		}
	}
	if c.Second == nil {
		writePath(&b, "what holds:", c.ToFirst)
	} else {
		writePath(&b, "path to first:", c.ToFirst)
		writePath(&b, "path to second:", c.ToSecond)
	}
	if c.Missing != "" {
		fmt.Fprintf(&b, "\n  missing: %s", c.Missing)
	}
	if c.Suggestion != "" {
		fmt.Fprintf(&b, "\n  do: %s", c.Suggestion)
	}
	return b.String()
}

// longest path that Error prints whole.
const longest = 12

func writePath(b *strings.Builder, head string, path []Place) {
	if len(path) == 0 {
		return
	}
	fmt.Fprintf(b, "\n  %s", head)
	for i, p := range path {
		if len(path) > longest && i == longest/2 {
			fmt.Fprintf(b, "\n    ... %d more", len(path)-longest)
		}
		if len(path) <= longest || i < longest/2 || i >= len(path)-longest/2 {
			fmt.Fprintf(b, "\n    %s", p)
		}
	}
}

// against makes a counterexample of two nodes: nothing orders the first before the second.
// Either may be -1 for none.
func (g *graph) against(p Property, first, second int32, problem, do string) *Counterexample {
	c := &Counterexample{Program: g.model.Program, Ranks: len(g.lists), Property: p, Problem: problem,
		Suggestion: do, graph: g}
	c.First, c.Second = g.at(first), g.at(second)
	for _, n := range []int32{first, second} {
		if n >= 0 {
			c.nodes = append(c.nodes, n)
		}
	}
	if first < 0 || second < 0 {
		return c
	}
	c.Missing = "an edge from the first to the second"
	a, b := g.ancestors(first), g.ancestors(second)
	for n := len(a) - 1; n >= 0; n-- {
		if a[n] && b[n] {
			c.ToFirst, c.ToSecond = g.places(g.path(int32(n), first)), g.places(g.path(int32(n), second))
			break
		}
	}
	return c
}

func (g *graph) places(path []int32) []Place {
	var list []Place
	for _, n := range path {
		list = append(list, *g.at(n))
	}
	return list
}

// at describes a node; nil for none.
func (g *graph) at(n int32) *Place {
	if n < 0 {
		return nil
	}
	x := g.nodes[n]
	p := &Place{Rank: int(x.rank), Run: int(x.run) + 1, Text: g.text(n)}
	switch x.kind {
	case caller:
		p.Stream = "caller"
	case opened, closed:
		p.Rank = -1
	default:
		o := g.operation(n)
		p.Stream, p.Step, p.Field = o.Stream, o.Step, field(o)
	}
	return p
}

// field of the schedule that asked for an operation, where known.
func field(o *ops.Op) string {
	if o.Node == nil {
		return ""
	}
	return o.Node.Source().Field
}
