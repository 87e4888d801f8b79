package same

import (
	"strings"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// unit is what a stream does in one: an operation, or all operations of one launch.
type unit struct {
	list   []ops.Op
	behind set // the units of its rank that end before it begins
}

// stream is the stream of a unit.
func (u *unit) stream() string { return u.list[0].Stream }

// works says that the unit does more than post and wait.
func (u *unit) works() bool {
	for _, o := range u.list {
		if o.Kind.Works() {
			return true
		}
	}
	return false
}

// waits says that the unit waits for words and does nothing else.
func (u *unit) waits() bool {
	return !u.works() && len(u.list[0].Words) > 0 && !u.list[0].Words[0].Write
}

// meets says that a unit posts or awaits words, or is a collective: the order in which a host issues such units counts.
func (u *unit) meets() bool {
	for _, o := range u.list {
		if o.Kind == ops.Collective || o.Kind == ops.Signal {
			return true
		}
	}
	return false
}

// String is the lines of the unit's operations.
func (u *unit) String() string {
	var text []string
	for _, o := range u.list {
		text = append(text, o.String())
	}
	return strings.Join(text, "; ")
}

// set is a set of units by number.
type set []uint64

func (s set) has(i int) bool { return s[i/64]>>(i%64)&1 == 1 }

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s set) join(o set) {
	for i, x := range o {
		s[i] |= x
	}
}

// unitsOf are the units of a rank's list in the order of issue. A stream's unit is behind the stream's units before it,
// and behind what the events mark that the stream has waited for.
func unitsOf(list []ops.Op) []unit {
	words := (len(list) + 63) / 64
	done, events := map[string]set{}, map[int]set{}
	of := func(stream string) set {
		if done[stream] == nil {
			done[stream] = make(set, words)
		}
		return done[stream]
	}
	var units []unit
	for i := 0; i < len(list); {
		o := list[i]
		stream := of(o.Stream)
		switch o.Kind {
		case ops.Record:
			events[o.Event] = append(set(nil), stream...)
			i++
			continue
		case ops.WaitEvent:
			stream.join(events[o.Event])
			i++
			continue
		}
		end := i + 1
		for o.Kernel != "" && end < len(list) && list[end].Step == o.Step && list[end].Stream == o.Stream {
			end++
		}
		units = append(units, unit{list[i:end], append(set(nil), stream...)})
		stream.add(len(units) - 1)
		i = end
	}
	return units
}

// priority is the priority of a stream of a program: "main", "high", "low", or its number among falling ones.
func priority(p *hostir.Program, stream string) string {
	name, index, _ := strings.Cut(stream, "[")
	if name == hostir.MainStream {
		return name
	}
	for _, s := range p.Streams {
		switch {
		case s.Name != name:
		case s.High:
			return "high"
		case s.Falling:
			return "falling " + strings.TrimSuffix(index, "]")
		}
	}
	return "low"
}
