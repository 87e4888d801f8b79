package prove

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"ovgen/verify/ops"
)

// event of the Chrome trace format, which Perfetto reads.
type event struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Time  int            `json:"ts"` // microseconds, of no meaning but their order
	Long  int            `json:"dur,omitempty"`
	Rank  int            `json:"pid"`
	Row   int            `json:"tid"`
	Color string         `json:"cname,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// Trace writes, as a Chrome trace that Perfetto opens, an interleaving in which the property fails. It has first the
// operations before the two at fault, and then these two: at once where nothing orders them, or stuck for ever.
func (c *Counterexample) Trace(w io.Writer) error {
	if c.graph == nil || len(c.nodes) == 0 {
		return errors.New("trace a counterexample: it is about no operation")
	}
	t := tracer{graph: c.graph, start: map[int32]int{}, end: map[int32]int{}, rows: map[string]int{}}
	held := map[int32]bool{}
	if c.Property == Deadlock || c.Property == Serial {
		for _, n := range c.nodes {
			if t.isWait(n) {
				held[n] = true
			}
		}
	}
	t.lay(c.nodes, held)
	return json.NewEncoder(w).Encode(map[string]any{"traceEvents": t.draw(c.nodes, held), "displayTimeUnit": "ms",
		"otherData": map[string]string{"program": c.Program, "property": string(c.Property), "problem": c.Problem}})
}

type tracer struct {
	*graph
	start, end map[int32]int
	rows       map[string]int // rank and stream -> row
	events     []event
}

// lay gives times to the nodes at fault and to the nodes before them.
func (t *tracer) lay(fault []int32, held map[int32]bool) {
	needed := make([]bool, len(t.nodes))
	for _, n := range fault {
		if len(held) > 0 && !held[n] {
			continue // this post does not happen
		}
		needed[n] = true
	}
	for n := int32(len(t.nodes)) - 1; n >= 0; n-- {
		for _, b := range t.causes(n, held[n]) {
			needed[b] = needed[b] || needed[n]
		}
	}
	last := 0
	for n := range t.nodes {
		if n := int32(n); needed[n] {
			t.place(n, held[n])
			last = max(last, t.start[n], t.end[n])
		}
	}
	together := 0
	for _, n := range fault {
		together = max(together, t.start[n])
	}
	for _, n := range fault {
		switch {
		case held[n]:
			t.end[n] = last + 200
		case len(held) == 0 && t.free(fault, n):
			t.end[n] += together - t.start[n]
			t.start[n] = together
		}
	}
}

// free reports whether none of the other nodes at fault follows n.
func (t *tracer) free(fault []int32, n int32) bool {
	for _, o := range fault {
		if o != n && t.ancestors(o)[n] {
			return false
		}
	}
	return true
}

// place starts a node when its predecessors on its rank have ended, and sets its end; a wait ends after its post.
func (t *tracer) place(n int32, held bool) {
	start, posted := 0, 0
	for _, b := range t.own(n) {
		start = max(start, t.end[b])
	}
	if p := t.match[n]; p >= 0 && !held {
		posted = t.end[p]
	}
	t.start[n], t.end[n] = start, max(start, posted)+t.length(n)
}

// causes lists the nodes that must happen before a node happens or gets stuck.
func (t *tracer) causes(n int32, held bool) []int32 {
	if held {
		return t.own(n)
	}
	return t.before(n)
}

// length of a bar.
func (t *tracer) length(n int32) int {
	if o := t.operation(n); o != nil && t.nodes[n].kind == whole {
		switch o.Kind {
		case ops.Product:
			return 100
		case ops.Copy, ops.Sum, ops.Apply, ops.Call, ops.Take:
			return 40
		}
		return 2
	}
	return 5
}

func (t *tracer) draw(fault []int32, held map[int32]bool) []event {
	wrong := map[int32]bool{}
	for _, n := range fault {
		wrong[n] = true
	}
	for n := range t.nodes {
		n := int32(n)
		end, ok := t.end[n]
		if !ok {
			continue
		}
		at := t.at(n)
		if at.Rank < 0 {
			at.Rank = len(t.lists)
		}
		e := event{Name: at.Text, Phase: "X", Time: t.start[n], Long: end - t.start[n], Rank: at.Rank, Row: t.row(at),
			Args: map[string]any{"run": at.Run, "step": at.Step, "field": at.Field}}
		if wrong[n] {
			e.Color = "terrible"
			e.Args["at fault"] = true
		}
		if held[n] {
			e.Name += " (held for ever)"
		}
		t.events = append(t.events, e)
	}
	return t.events
}

// row is the track of a stream, named when it is first used.
func (t *tracer) row(at *Place) int {
	name := at.Stream
	if name == "" {
		name = "world"
	}
	key := fmt.Sprint(at.Rank, name)
	row, ok := t.rows[key]
	if ok {
		return row
	}
	row = len(t.rows) + 1
	t.rows[key] = row
	rank := fmt.Sprintf("rank %d", at.Rank)
	if at.Rank == len(t.lists) {
		rank = "all ranks"
	}
	t.events = append(t.events,
		event{Name: "process_name", Phase: "M", Rank: at.Rank, Args: map[string]any{"name": rank}},
		event{Name: "thread_name", Phase: "M", Rank: at.Rank, Row: row, Args: map[string]any{"name": name}})
	return row
}
