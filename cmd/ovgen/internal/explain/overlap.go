package explain

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

// Overlap is a communication of a program and the operations that run beside it.
type Overlap struct {
	Of            string   `json:"of"` // the tensor that travels, or whose partial results meet
	Communication string   `json:"communication"`
	Way           string   `json:"way"`
	Choice        string   `json:"choice"`           // why this way
	Others        []string `json:"others,omitempty"` // further ways that do it
	With          []string `json:"with,omitempty"`   // products that are pipelined with it; none: Why
	Parts         int      `json:"parts,omitempty"`  // in which own rows go on from a sum; 0: whole
	Across        []string `json:"across,omitempty"` // operations that take one part while the next is summed
	Field         string   `json:"field,omitempty"`  // of the schedule, that is why not
	Why           string   `json:"why,omitempty"`
}

// String is "A: all-gather by Pull (the default), pipelined with C = linear(A, B)", or why not.
func (o Overlap) String() string {
	text := fmt.Sprintf("%s: %s by %s (%s), ", o.Of, o.Communication, o.Way, o.Choice)
	if len(o.With) == 0 {
		return text + "not pipelined: " + o.Field + ": " + o.Why
	}
	text += "pipelined with " + strings.Join(o.With, "; ")
	if o.Parts > 1 {
		text += fmt.Sprintf("; own rows are summed in %d parts beside %s", o.Parts, strings.Join(o.Across, "; "))
	}
	return text
}

// Overlaps lists the communications of a lowered program, each with the products that are pipelined with
// it, or the reason why none are. It is empty for a program that was written by hand.
func Overlaps(p *hostir.Program) (list []Overlap) {
	for i, m := range lower.Read(p) {
		e := p.Edges[i]
		o := Overlap{Of: e.Of, Communication: e.Kind, Way: schedule.WayName(e.Way), With: besideOf(p, i),
			Choice: "the default", Others: m.Others}
		switch byDefault := o.Way == m.Default; {
		case !m.Open && byDefault:
			o.Choice = "the default, with options"
		case !byDefault:
			o.Choice = "in place of " + m.Default
		}
		atOnce := schedule.FactsOf(e.Way).AtOnce
		switch {
		case len(o.With) == 0:
			o.Field, o.Why = "Ops", "no product stands beside it"
		case e.Kind == string(edges.AllGather)+" of columns" && e.Steps == e.Of:
			o.With, o.Field = nil, "Ops"
			o.Why = "columns travel when all products are made"
		case atOnce != "":
			o.With, o.Field = nil, fmt.Sprintf("Moves[%d].Way.%s", i, atOnce)
			o.Why = "all rows are multiplied when all shards are there"
		case onMain(p.StepsOf(e)):
			o.With, o.Field = nil, fmt.Sprintf("Moves[%d].Way", i)
			o.Why = "this way communicates on the stream of the products"
		default:
			o.Parts, o.Across = e.Parts, e.Across
		}
		list = append(list, o)
	}
	return list
}

// besideOf lists the products of an edge, without the products that a kernel makes while another tensor travels.
func besideOf(p *hostir.Program, edge int) []string {
	list := slices.Clone(p.Edges[edge].Products)
	for i, e := range p.Edges {
		tiled := func(s hostir.Step) bool { return hostir.Tiled(s.Do) != nil }
		if i != edge && slices.ContainsFunc(p.StepsOf(e), tiled) {
			list = slices.DeleteFunc(list, func(product string) bool { return slices.Contains(e.Products, product) })
		}
	}
	return list
}

// onMain says that all steps of a communication are on the caller's stream, and that no kernel does both: multiply, and
// bring or sum up the operands or the results.
func onMain(steps []hostir.Step) bool {
	return !slices.ContainsFunc(steps, func(s hostir.Step) bool {
		return s.Stream.Set != hostir.MainStream || hostir.Tiled(s.Do) != nil
	})
}
