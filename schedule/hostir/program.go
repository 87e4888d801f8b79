package hostir

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
)

// Program is the host program of a schedule.
type Program struct {
	Name       string // of the schedule
	Schedule   schedule.Schedule
	Buffers    []Buffer
	Semaphores []Semaphore
	Streams    []StreamSet
	Constants  Env      // names that generation binds: numbers of streams
	Checks     []Divide // requirements of New on the shape
	Edges      []Edge   // the program's communications; none in a program that a person wrote
	Setup      []Node   // enqueued once, in New and Bind
	Body       []Node   // enqueued in each run
}

// Semaphore is a word for every peer, in the waiter's memory, or Count such sets of words.
type Semaphore struct {
	Name  string
	Count Expr // absent: one member
}

// StreamSet is a stream, or streams numbered from First up to, not including, Count.
type StreamSet struct {
	Name         string
	First, Count Expr // absent: a single stream
	High         bool // top priority, else lowest
	Falling      bool // each stream has a lower priority than the one before it, all below the top, down to the lowest
}

// Refs are the streams of sets.
func Refs(sets []StreamSet) (list []StreamRef) {
	for _, s := range sets {
		list = append(list, StreamRef{Set: s.Name, From: s.First, To: s.Count})
	}
	return list
}

// Declare declares streams, if they are not.
func (p *Program) Declare(sets ...StreamSet) {
	for _, s := range sets {
		if !slices.ContainsFunc(p.Streams, func(x StreamSet) bool { return x.Name == s.Name }) {
			p.Streams = append(p.Streams, s)
		}
	}
}

// WithSet is a list of sets of streams and another one, which may have the name of one of these: then that one has the
// streams of both. A set without a name is the caller's stream.
func (p *Program) WithSet(sets []StreamSet, other StreamSet) []StreamSet {
	size := func(e Expr, ranks int64) int64 {
		env := maps.Clone(p.Constants)
		env[string(schedule.D)], env["H"] = ranks, min(ranks, 2)
		n, _ := e.Eval(env)
		return n
	}
	i := slices.IndexFunc(sets, func(x StreamSet) bool { return x.Name == other.Name })
	switch {
	case other.Name == "":
		return sets
	case i < 0:
		return append(sets, other)
	}
	x := &sets[i]
	if size(other.First, 8) < size(x.First, 8) {
		x.First = other.First
	}
	if size(other.Count, 8) > size(x.Count, 8) {
		x.Count, other.Count = other.Count, x.Count
	}
	if lack := size(other.Count, 1) - size(x.Count, 1); lack > 0 { // one rank has the fewest of most
		x.Count = Add(x.Count, Const(lack))
	}
	return sets
}

// Divide is a requirement on the shape: By, multiplied by Times where Times is above one, divides Extent, multiplied by
// With where With is set. Where Heads is set, each part is whole heads, which are Heads columns wide.
type Divide struct {
	Extent, By schedule.Extent
	Times      int64
	With       schedule.Extent
	Heads      schedule.Extent
}

// String is "D divides M", "4 * D divides S * M" or "D divides N in heads of W".
func (d Divide) String() string {
	by, of := string(d.By), string(d.Extent)
	if d.Times > 1 {
		by = strings.TrimSuffix(fmt.Sprintf("%d * %s", d.Times, by), " * ")
	}
	if d.With != "" {
		of += " * " + string(d.With)
	}
	if d.Heads != "" {
		of += " in heads of " + string(d.Heads)
	}
	return cmp.Or(by, "1") + " divides " + of
}

// Divisor is the number that must divide the extent on a mesh of that many ranks; width is the value of W, 0 where it
// has none.
func (d Divide) Divisor(ranks, width int64) int64 {
	n := max(d.Times, 1)
	for _, e := range []schedule.Extent{d.By, d.Heads} {
		switch e {
		case "":
		case schedule.D:
			n *= ranks
		case schedule.W:
			n *= max(width, 1)
		default:
			by, _ := strconv.ParseInt(string(e), 10, 64) // lowering writes a number
			n *= max(by, 1)
		}
	}
	return n
}

// Holds reports whether extents x and with, which is 1 where With is unset, meet the requirement on a mesh of that many
// ranks. The product of the two may be too large for an int64.
func (d Divide) Holds(x, with, ranks, width int64) bool {
	by := d.Divisor(ranks, width)
	return by > 0 && x%by*(with%by)%by == 0
}

// Ask makes New check the shape for a requirement, once. Of requirements that differ in Times one is left, of a
// multiple of both.
func (p *Program) Ask(d Divide) {
	for i := range p.Checks {
		same, times := p.Checks[i], max(p.Checks[i].Times, 1)
		if same.Times = d.Times; same == d {
			for n := times; times%max(d.Times, 1) > 0; {
				times += n
			}
			if times > 1 {
				p.Checks[i].Times = times
			}
			return
		}
	}
	if d.Times == 1 {
		d.Times = 0
	}
	p.Checks = append(p.Checks, d)
}

// AskParts makes New check that an axis can be cut into its parts.
func (p *Program) AskParts(a schedule.Axis) {
	check := Divide{Extent: a.Extent}
	for _, s := range a.Outer {
		switch {
		case s.Uneven || s.Count == a.Extent:
		case s.Count == schedule.D:
			check.By = s.Count
		default:
			check.Times = p.Constants[string(s.Count)]
		}
	}
	if check.By != "" {
		p.Ask(check)
	}
}

// AskUnits makes New check that rows are whole numbers of units of so many elements, on each rank that has a part of
// them.
func (p *Program) AskUnits(elements int64, columns ...schedule.Axis) {
	for _, a := range columns {
		check := Divide{Extent: a.Extent, By: schedule.Number(elements)}
		if len(a.Outer) > 0 {
			check.By, check.Times = schedule.D, elements
		}
		p.Ask(check)
	}
}

// BlockSemaphores names the semaphores that steps signal by blocks: each has a word for each block.
func (p *Program) BlockSemaphores() map[string]bool {
	found := map[string]bool{}
	Steps(p.Body, func(s Step) {
		for _, w := range s.Words() {
			if s.ByBlocks {
				found[w.Semaphore] = true
			}
		}
	})
	return found
}

// SemaphoreNames are the names of the program's semaphores.
func (p *Program) SemaphoreNames() []string {
	var names []string
	for _, s := range p.Semaphores {
		names = append(names, s.Name)
	}
	return names
}
