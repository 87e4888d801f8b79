package lower

import (
	"reflect"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Communication is one that placements can need.
type Communication struct {
	Name string
	// Needed says which operations and placements need it: "linear: A [DIDx(D), M/D, K], ...".
	Needed []string
	// Ways that there are programs for; the first is the one where a schedule says none.
	Ways []schedule.Way
	// Lacks are the options that a way has for other communications alone, by the way's name: "Parts", "By one kernel".
	Lacks map[string][]string
}

// communicationOf is one that placements or operations need.
func communicationOf(m moves, needed ...string) Communication {
	c := Communication{Name: string(m), Needed: needed, Lacks: map[string][]string{}}
	for _, l := range lowerings {
		if l.moves == m && !l.lonely {
			c.Ways = append(c.Ways, l.way)
			c.Lacks[schedule.WayName(l.way)] = l.lacks
		}
	}
	return c
}

// Table lists the communications that package lower writes.
func Table() []Communication {
	var list []Communication
	for _, r := range rules {
		i := slices.IndexFunc(list, func(c Communication) bool { return c.Name == string(r.moves) })
		if i < 0 {
			i, list = len(list), append(list, communicationOf(r.moves))
		}
		list[i].Needed = append(list[i].Needed, r.text())
	}
	for _, r := range rules {
		if over, ok := overHosts[r.moves]; ok && !strings.Contains(r.places["A"], "uneven") {
			i := slices.IndexFunc(list, func(c Communication) bool { return c.Name == string(over) })
			if i < 0 {
				i, list = len(list), append(list, communicationOf(over))
			}
			list[i].Needed = append(list[i].Needed, r.text()+", Mesh schedule.Hosts()")
		}
	}
	for _, l := range links {
		list = append(list, communicationOf(l.moves, l.needed))
	}
	for _, l := range links {
		if over, ok := overHosts[l.moves]; ok {
			list = append(list, communicationOf(over,
				strings.Replace(l.needed, ", and a", ", a", 1)+", Mesh schedule.Hosts()"))
		}
	}
	return list
}

// text is a row as a reader of the table wants it.
func (r *rule) text() string {
	var tensors []string
	for _, name := range []string{"A", "B", "C"} {
		t := schedule.Tensor{Name: name}
		if _, placed := r.places[name]; placed || symbols[r.kind][name] != nil {
			tensors = append(tensors, name+" "+r.place(form{kind: r.kind}, t))
		}
	}
	return string(r.kind) + ": " + strings.Join(tensors, ", ")
}

// Moved is a tensor that travels in a program, and its way.
type Moved struct {
	schedule.Move
	Communication string
	Options       []schedule.Option // that the program was made by
	Open          bool              // a schedule that leaves the way open has the same
	Default       string            // the way of such a schedule
	Others        []string          // further ways that do it, not by their options
}

// Read lists the ways that a lowered program was made by, one for each of its edges.
func Read(p *hostir.Program) (list []Moved) {
	for _, e := range p.Edges {
		m := moves(e.Kind)
		list = append(list, Moved{Move: schedule.Move{Of: e.Of, Way: e.Way}, Communication: e.Kind,
			Options: schedule.Options(e.Way), Open: reflect.DeepEqual(e.Way, Default(m)),
			Default: schedule.WayName(Default(m)), Others: waysBeside(m, e.Way)})
	}
	return list
}

// waysBeside are the ways of a communication but for one.
func waysBeside(m moves, way schedule.Way) (names []string) {
	for _, l := range lowerings {
		if l.moves == m && reflect.TypeOf(l.way) != reflect.TypeOf(way) {
			names = append(names, schedule.WayName(l.way))
		}
	}
	return names
}
