package lower

import (
	"reflect"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Communication is one that placements can need.
type Communication struct {
	Kind   string // of its edge
	Data   string // of the edge, which ways tell apart: "columns", "rows over hosts"
	Placed string // placements that need it: "linear: A [DIDx(D), M/D, K], ..."
	// Ways that there are programs for; the first is the one where a schedule says none.
	Ways []schedule.Way
	// Lacks are the options that a way has for other communications alone, by the way's name: "Parts", "By one kernel".
	Lacks map[string][]string
	// Holes are the facts why other ways don't do it, by the way's name.
	Holes map[string]string
}

// Table lists the communications that package lower writes.
func Table() (list []Communication) {
	for _, n := range needs {
		c := Communication{Kind: string(n.Kind), Data: n.data(), Placed: n.placed, Lacks: map[string][]string{},
			Holes: map[string]string{}}
		for _, l := range lowerings {
			if l.need == n.need {
				c.Ways = append(c.Ways, l.way)
				c.Lacks[schedule.WayName(l.way)] = l.lacks
			}
		}
		for _, w := range schedule.Ways() {
			if _, does := c.Lacks[schedule.WayName(w)]; !does {
				c.Holes[schedule.WayName(w)] = whyNot(n.need, w)
			}
		}
		list = append(list, c)
	}
	return list
}

// NotOverHosts are the communications of a kind that no way does over hosts, each with the fact why.
func NotOverHosts(kind string) (list []string) {
	for _, n := range needs {
		if across := n.overHosts(); string(n.Kind) == kind && !across.served() {
			list = append(list, n.data()+": "+whyNot(across, schedule.Rails{}))
		}
	}
	return list
}

// served says that some way does a communication.
func (n need) served() bool {
	return slices.ContainsFunc(lowerings, func(l lowering) bool { return l.need == n })
}

// data is what a communication is about, beyond its kind.
func (n need) data() string {
	text := string(n.of)
	if n.of == ofRows {
		text = "rows"
	}
	if n.bare {
		text += " alone"
	}
	if n.hosts {
		text += " over hosts"
	}
	return text
}

// Moved is a tensor that travels in a program, and its way.
type Moved struct {
	schedule.Move
	Communication string
	Data          string            // of that, as the table has it
	Options       []schedule.Option // that the program was made by
	Open          bool              // a schedule that leaves the way open has the same
	Default       string            // the way of such a schedule
	Others        []string          // further ways that do it, not by their options
}

// Read lists the ways that a lowered program was made by, one for each of its edges.
func Read(p *hostir.Program) (list []Moved) {
	for _, e := range p.Edges {
		n := needOf(e)
		list = append(list, Moved{Move: schedule.Move{Of: e.Of, Way: e.Way}, Communication: e.Kind, Data: e.Data,
			Options: optionsOf(n, e.Way), Open: reflect.DeepEqual(e.Way, e.Default),
			Default: schedule.WayName(e.Default), Others: waysBeside(n, e.Way)})
	}
	return list
}

// needOf is the communication of an edge.
func needOf(e hostir.Edge) (n need) {
	for _, x := range needs {
		if x.String() == e.Kind && x.data() == e.Data {
			n = x.need
		}
	}
	return n
}

// waysBeside are the ways of a communication but for one.
func waysBeside(n need, way schedule.Way) (names []string) {
	for _, l := range lowerings {
		if l.need == n && reflect.TypeOf(l.way) != reflect.TypeOf(way) {
			names = append(names, schedule.WayName(l.way))
		}
	}
	return names
}

// optionsOf are the options of a way that a communication has.
func optionsOf(n need, way schedule.Way) []schedule.Option {
	i := slices.IndexFunc(lowerings, func(l lowering) bool { return l.need == n && l.takes(way) })
	return slices.DeleteFunc(schedule.Options(way), func(o schedule.Option) bool {
		return i >= 0 && slices.Contains(lowerings[i].lacks, o.Field)
	})
}
