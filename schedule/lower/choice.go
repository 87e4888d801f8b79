package lower

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// reads lists the choices that an entry reads; nothing means the default one only.
type reads struct {
	directions []schedule.Direction
	protocols  []schedule.Protocol
	own        []schedule.Own
	ownShards  []schedule.OwnShard
	signals    []schedule.Signals
	products   []schedule.Products
	reductions []schedule.Reduction
	priorities []schedule.Priority
	steps      []schedule.Steps
	compute    bool // a number of compute streams
	parts      bool // shards in several parts
	withStep   bool // copies on the streams of the steps
	inLoop     bool // start and handles in the loop
	gathered   bool // the gathered operand is the caller's
	inPlace    bool // an operand within the result, or the result within an operand
}

// choice is a field of a schedule that entries read. Values are text: numbers in decimal.
type choice struct {
	path  string
	value func(schedule.Schedule) string
	clear func(*schedule.Schedule)
	// reads are the values that an entry takes, nil for the default alone; any is all.
	reads func(reads) (values []string, any bool)
}

// choices of a pipeline, those that make for another program first.
var choices = []choice{
	named("Pipeline.Direction", func(s *schedule.Schedule) *schedule.Direction { return &s.Pipeline.Direction },
		func(r reads) []schedule.Direction { return r.directions }),
	named("Pipeline.Protocol", func(s *schedule.Schedule) *schedule.Protocol { return &s.Pipeline.Protocol },
		func(r reads) []schedule.Protocol { return r.protocols }),
	named("Pipeline.Products", func(s *schedule.Schedule) *schedule.Products { return &s.Pipeline.Products },
		func(r reads) []schedule.Products { return r.products }),
	named("Pipeline.Reduction", func(s *schedule.Schedule) *schedule.Reduction { return &s.Pipeline.Reduction },
		func(r reads) []schedule.Reduction { return r.reductions }),
	named("Pipeline.Own", func(s *schedule.Schedule) *schedule.Own { return &s.Pipeline.Own },
		func(r reads) []schedule.Own { return r.own }),
	named("Pipeline.OwnShard", func(s *schedule.Schedule) *schedule.OwnShard { return &s.Pipeline.OwnShard },
		func(r reads) []schedule.OwnShard { return r.ownShards }),
	named("Pipeline.Signals", func(s *schedule.Schedule) *schedule.Signals { return &s.Pipeline.Signals },
		func(r reads) []schedule.Signals { return r.signals }),
	named("Streams.Priority", func(s *schedule.Schedule) *schedule.Priority { return &s.Streams.Priority },
		func(r reads) []schedule.Priority { return r.priorities }),
	named("Transport.Steps", func(s *schedule.Schedule) *schedule.Steps { return &s.Transport.Steps },
		func(r reads) []schedule.Steps { return r.steps }),
	number("Pipeline.Parts", func(s *schedule.Schedule) *int { return &s.Pipeline.Parts },
		func(r reads) bool { return r.parts }),
	number("Streams.Compute", func(s *schedule.Schedule) *int { return &s.Streams.Compute },
		func(r reads) bool { return r.compute }),
	named("Streams.Copy", func(s *schedule.Schedule) *schedule.CopyStream { return &s.Streams.Copy },
		either(schedule.WithStep, func(r reads) bool { return r.withStep })),
	named("Streams.Start", func(s *schedule.Schedule) *schedule.Placement { return &s.Streams.Start },
		either(schedule.InLoop, func(r reads) bool { return r.inLoop })),
	named("Streams.Handles", func(s *schedule.Schedule) *schedule.Placement { return &s.Streams.Handles },
		either(schedule.InLoop, func(r reads) bool { return r.inLoop })),
}

// Choice is a field of a schedule and its value as text.
type Choice struct{ Field, Value string }

// Read lists the choices that a lowered program was made by: those of which another value
// would have made another program for the same placements. A number that is left out has
// no value.
func Read(p *hostir.Program) []Choice {
	s := p.Schedule
	r, _ := nearest(s)
	if r == nil {
		return nil
	}
	at := point{r.moves, s.Pipeline.Kind, s.Pipeline.Order}
	var list []Choice
	add := func(read bool, field, value string) {
		if read {
			list = append(list, Choice{field, value})
		}
	}
	add(several(func(e entry) string { return string(e.kind) }, r.moves, ""), "Pipeline.Kind", string(at.kind))
	add(several(func(e entry) string { return string(e.order) }, r.moves, at.kind), "Pipeline.Order", string(at.order))
	add(at.kind == schedule.Collective, "Pipeline.Chunks", strconv.Itoa(s.Pipeline.Chunks))
	for _, c := range choices {
		add(c.readAt(at), c.path, c.value(s))
	}
	add(between(p), "Transport.Copy", string(s.Transport.Copy))
	add(true, "Transport.Signal", string(s.Transport.Signal))
	return list
}

// several says that the entries of a communication, of one kind where one is given, differ
// in something.
func several(of func(entry) string, m moves, kind schedule.PipelineKind) bool {
	seen := map[string]bool{}
	for _, e := range pipelines {
		if e.moves == m && (kind == "" || e.kind == kind) {
			seen[of(e)] = true
		}
	}
	return len(seen) > 1
}

// readAt says that the entries of a point read more than one value of the choice.
func (c choice) readAt(at point) bool {
	seen := map[string]bool{}
	for _, e := range pipelines {
		if e.point != at {
			continue
		}
		values, any := c.reads(e.reads)
		if any {
			return true
		}
		if len(values) == 0 {
			values = []string{""}
		}
		for _, v := range values {
			seen[v] = true
		}
	}
	return len(seen) > 1
}

// between says that a program copies between ranks.
func between(p *hostir.Program) (copies bool) {
	hostir.Steps(p.Body, func(s hostir.Step) { copies = copies || s.Remote() })
	return copies
}

// named is a choice among names.
func named[T ~string](path string, field func(*schedule.Schedule) *T, read func(reads) []T) choice {
	return choice{
		path:  path,
		value: func(s schedule.Schedule) string { return string(*field(&s)) },
		clear: func(s *schedule.Schedule) { *field(s) = "" },
		reads: func(r reads) (values []string, any bool) {
			for _, v := range read(r) {
				values = append(values, string(v))
			}
			return values, false
		},
	}
}

// either is the default and another value where an entry reads that.
func either[T ~string](other T, read func(reads) bool) func(reads) []T {
	return func(r reads) []T {
		if !read(r) {
			return nil
		}
		return []T{other, ""}
	}
}

// number is a choice that is a number, of which zero and, of parts, one is the default.
func number(path string, field func(*schedule.Schedule) *int, read func(reads) bool) choice {
	return choice{
		path: path,
		value: func(s schedule.Schedule) string {
			if n := *field(&s); n != 0 && (n > 1 || path != "Pipeline.Parts") {
				return strconv.Itoa(n)
			}
			return ""
		},
		clear: func(s *schedule.Schedule) { *field(s) = 0 },
		reads: func(r reads) ([]string, bool) { return nil, read(r) },
	}
}

// usual is the default that goes with the other choices.
func (c choice) usual(s schedule.Schedule) string {
	c.clear(&s)
	return c.value(s.WithDefaults())
}

// takes says that an entry reads the schedule's value. The default is always read by an
// entry that lists no values, and by one that lists it as nothing.
func (c choice) takes(e entry, s schedule.Schedule) bool {
	got, usual := c.value(s), c.usual(s)
	values, any := c.reads(e.reads)
	switch {
	case any || slices.Contains(values, got):
		return true
	case len(values) == 0 || slices.Contains(values, ""):
		return got == usual
	}
	return false
}

// refuses lists the choices that the entry does not read.
func (e entry) refuses(s schedule.Schedule) (list []choice) {
	for _, c := range choices {
		if !c.takes(e, s) {
			list = append(list, c)
		}
	}
	return list
}

// refuse reports the choices that the entry which refuses least does not read, of entries
// that each refuse some. A choice that was not written is not at fault.
func (d *draft) refuse(entries []entry) error {
	best := slices.MinFunc(entries, func(a, b entry) int {
		x, y := a.refuses(d.schedule), b.refuses(d.schedule)
		return cmp.Or(cmp.Compare(d.unwritten(x), d.unwritten(y)), cmp.Compare(len(x), len(y)),
			-cmp.Compare(place(x[0]), place(y[0])))
	})
	var errs []error
	for _, c := range best.refuses(d.schedule) {
		errs = append(errs, d.wrong(c, entries))
	}
	return errors.Join(errs...)
}

// unwritten counts the choices that the schedule leaves open.
func (d *draft) unwritten(list []choice) (n int) {
	for _, c := range list {
		if c.value(d.written) == "" {
			n++
		}
	}
	return n
}

// place is the choice's in the list: what comes late matters less.
func place(c choice) int {
	return slices.IndexFunc(choices, func(x choice) bool { return x.path == c.path })
}

// wrong says which other choices keep a choice from being read, if there are any without
// which it would be; or what is read instead.
func (d *draft) wrong(c choice, entries []entry) error {
	s, values := d.schedule, []string{}
	var others []choice // of the entry that reads it and refuses least else
	var by entry
	for _, e := range entries {
		if !c.takes(e, s) {
			v, _ := c.reads(e.reads)
			values = append(values, v...)
			continue
		}
		if r := e.refuses(s); others == nil || len(r) < len(others) {
			others, by = r, e
		}
	}
	if others == nil {
		return d.unread(c, values)
	}
	var against, instead []string
	for _, o := range others {
		text := fmt.Sprintf("%s %q", o.path, o.value(s))
		if o.value(d.written) == "" {
			text += " (the default)"
			if v, _ := o.reads(by.reads); len(v) > 0 {
				instead = append(instead, fmt.Sprintf("set %s to %q", o.path, v[0]))
			}
		}
		against = append(against, text)
	}
	hint := "leave one of them out"
	if len(instead) > 0 {
		hint = "leave it out, or " + strings.Join(instead, " and ")
	}
	return &schedule.FieldError{Path: c.path, Hint: hint,
		Msg: fmt.Sprintf("%q does not go with %s", c.value(s), strings.Join(against, " and "))}
}

// unread is the refusal of a choice that no entry of the point reads.
func (d *draft) unread(c choice, values []string) error {
	s, p := d.schedule, d.schedule.Pipeline
	values = slices.DeleteFunc(append(values, c.usual(s)), func(v string) bool { return v == "" || v == c.value(s) })
	slices.Sort(values)
	values = slices.Compact(values)
	hint := "leave it out"
	if len(values) > 0 {
		hint += fmt.Sprintf(", or use one of %q", values)
	}
	return &schedule.FieldError{Path: c.path, Hint: hint,
		Msg: fmt.Sprintf("no %s with Kind %q and Order %q reads %q", d.comm.moves, p.Kind, p.Order, c.value(s))}
}
