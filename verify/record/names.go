package record

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
	"ovgen/verify/ops"
)

// Names resolves the streams, events and addresses in the calls of a run.
type Names struct {
	Regions plan.Regions
	Streams map[driver.Stream]string
	// Beside lists streams that may hold events of the run and no operations: the group's stream, which orders the
	// group's runs and, where the run is on another stream, the plan's main, on which the plan drains.
	Beside []driver.Stream
	Type   driver.Type // of the plan's elements
	Rank   int
}

// Of is the names of a bound plan whose runs are enqueued on main.
func Of(p *plan.Plan, main driver.Stream, t driver.Type) Names {
	n := Names{Regions: p.Layout(), Streams: map[driver.Stream]string{main: plan.MainStream}, Type: t,
		Rank: p.Rank(), Beside: []driver.Stream{p.Side()}}
	for s, name := range p.Streams() {
		if name != plan.MainStream {
			n.Streams[s] = name
		} else if s != main {
			n.Beside = append(n.Beside, s)
		}
	}
	return n
}

// resolve turns the calls of one run into its operations.
func (n *Names) resolve(calls []call) ([]ops.Op, error) {
	list := make([]ops.Op, 0, len(calls))
	events := map[driver.Event]int{} // recorded so far
	waited := 0                      // operations before the host's first wait within the run
	for i, c := range calls {
		if c.waits {
			waited = cmp.Or(waited, len(list))
			continue
		}
		stream, ok := n.Streams[c.stream]
		o := ops.Op{Kind: c.kind, Stream: stream}
		switch {
		case c.operations != nil:
			o.Step = i + 1 // one for all operations of a launch
			made, err := c.operations(n, o)
			if err == nil && !ok {
				err = foreign(c.stream)
			}
			if err != nil {
				return nil, fmt.Errorf("operation %d: %w", len(list), err)
			}
			list = append(list, made...)
			continue
		case !ok && slices.Contains(n.Beside, c.stream):
			continue
		case !ok:
			return nil, fmt.Errorf("operation %d: %s of an event: %w", len(list), c.kind, foreign(c.stream))
		case c.kind == ops.Record:
			// A second record of an event is another event: waits refer to the last.
			o.Event = len(list)
			events[c.event] = o.Event
		case c.kind == ops.WaitEvent:
			if o.Event, ok = events[c.event]; !ok {
				o.Kind = ops.After
			}
		}
		list = append(list, o)
	}
	if waited > 0 && len(list) > waited {
		// A peer's wait may need a post that this rank enqueues after its wait.
		return nil, fmt.Errorf("operation %d: the host waits for the device before it, in the midst of a run", waited)
	}
	return normalise(list), nil
}

// foreign is the error for a stream that belongs neither to the plan nor to the group.
func foreign(s driver.Stream) error { return fmt.Errorf("stream %#x is not the plan's", s) }

// normalise numbers the events for which streams wait, and names the two ends of the run.
func normalise(list []ops.Op) []ops.Op {
	used := map[int]bool{}
	for _, o := range list {
		if o.Kind == ops.WaitEvent {
			used[o.Event] = true
		}
	}
	number := map[int]int{}
	out := make([]ops.Op, 0, len(list))
	for _, o := range list {
		if o.Kind == ops.Record && !used[o.Event] {
			o = ops.Op{Kind: ops.Done, Stream: o.Stream}
		}
		if n := len(out); n > 0 && (o.Kind == ops.After || o.Kind == ops.Done) && out[n-1].Kind == o.Kind &&
			out[n-1].Stream == o.Stream {
			continue // the group keeps two events where runs were captured by the caller
		}
		if o.Kind == ops.Record {
			number[o.Event] = len(number)
		}
		if o.Kind == ops.Record || o.Kind == ops.WaitEvent {
			o.Event = number[o.Event]
		}
		out = append(out, o)
	}
	return out
}

// loc names an address.
func (n *Names) loc(p driver.Ptr) (ops.Loc, error) {
	r, err := n.region(p)
	return ops.Loc{Rank: r.Rank, Buffer: r.Name, Offset: int64(p - r.Base)}, err
}

// region is the region that contains an address.
func (n *Names) region(p driver.Ptr) (plan.Region, error) {
	if r, ok := n.Regions.Find(p); ok {
		return r, nil
	}
	return plan.Region{Base: p}, fmt.Errorf("address %#x lies in no buffer of the plan", p)
}

// word adds a word to a Signal. The value of a step word has the plan's id above the step; the id is left out.
func (n *Names) word(o *ops.Op, at driver.Ptr, value uint32, write bool) error {
	loc, err := n.loc(at)
	if err != nil {
		return err
	}
	if ops.IsStep(loc) {
		value &= 0xffff
	}
	o.Words = append(o.Words, ops.Word{Write: write, At: loc, Value: value})
	return nil
}

// rows returns the use of height rows of width bytes each. It is one range where the rows follow one another, and else
// a part of the columns of a buffer. The rows must then be all rows of the buffer.
func (n *Names) rows(at driver.Ptr, pitch, width, height int64) (ops.Use, error) {
	loc, err := n.loc(at)
	u := ops.Use{At: loc, Bytes: width * height}
	if err != nil || pitch == width {
		return u, err
	}
	for _, r := range n.Regions {
		if r.Rank != loc.Rank || r.Name != loc.Buffer {
			continue
		}
		if width <= 0 || pitch*height != r.Bytes || pitch%width != 0 || loc.Offset%width != 0 || loc.Offset >= pitch {
			return u, fmt.Errorf("%d rows of %d bytes from %s on, %d bytes apart, are no part of its columns", height,
				width, loc, pitch)
		}
		u.Columns, u.At.Offset = true, loc.Offset*height
	}
	return u, nil
}

type use struct {
	at    driver.Ptr
	bytes int64
	write bool
}

// uses adds ranges of memory, except empty ones.
func (n *Names) uses(o *ops.Op, list ...use) error {
	for _, u := range list {
		if u.bytes == 0 {
			continue
		}
		at, err := n.loc(u.at)
		if err != nil {
			return err
		}
		o.Uses = append(o.Uses, ops.Use{Write: u.write, At: at, Bytes: u.bytes})
	}
	return nil
}
