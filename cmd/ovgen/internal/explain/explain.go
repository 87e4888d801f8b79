package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Explanation is the steps of one rank in one run. The steps of each rank are numbered from 1 in the order in which its
// host enqueues them.
type Explanation struct {
	Rank    int      `json:"rank"`
	Streams []Stream `json:"streams"` // main first
	// Flop counts the floating-point operations of the rank's products. Read and Written count the bytes that the rank
	// moves from and to its peers' memory, ReadBy and WrittenBy the bytes that the peers move from and to its own.
	Flop      float64 `json:"flop"`
	Read      int64   `json:"read_bytes"`
	Written   int64   `json:"written_bytes"`
	ReadBy    int64   `json:"read_by_peers_bytes"`
	WrittenBy int64   `json:"written_by_peers_bytes"`
	WaitsFor  []int   `json:"waits_for"`  // ranks whose posts this rank awaits
	AwaitedBy []int   `json:"awaited_by"` // ranks that await this rank's posts
}

// Stream is the rank's steps on one stream.
type Stream struct {
	Name   string `json:"name"`
	Remark string `json:"remark,omitempty"` // its peculiarity
	Steps  []Step `json:"steps"`
}

// Step is one step of the rank.
type Step struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
}

// Explain describes the steps of rank c.Rank in one run of p. It is an error if c.Counts
// has too few entries.
func Explain(p *hostir.Program, c ops.Case) (*Explanation, error) {
	t, err := newTeller(p, c)
	if err != nil {
		return nil, fmt.Errorf("explain %s: %w", p.Name, err)
	}
	x := &Explanation{Rank: c.Rank}
	for _, name := range t.streams() {
		s := Stream{Name: name, Remark: t.remark(name), Steps: []Step{}}
		for _, i := range t.items[c.Rank] {
			if i.stream == name {
				s.Steps = append(s.Steps, Step{i.number, t.sentence(i)})
			}
		}
		x.Streams = append(x.Streams, s)
	}
	t.totals(x)
	if t.err != nil {
		return nil, fmt.Errorf("explain %s: %w", p.Name, t.err)
	}
	return x, nil
}

// Write writes the explanation in words.
func (x *Explanation) Write(w io.Writer) error {
	var b strings.Builder
	for _, s := range x.Streams {
		fmt.Fprintf(&b, "\n%s", s.Name)
		if s.Remark != "" {
			fmt.Fprintf(&b, ", %s", s.Remark)
		}
		b.WriteString("\n")
		for _, step := range s.Steps {
			b.WriteString(strings.TrimRight(fmt.Sprintf("  %3d  %s", step.Number, step.Text), " ") + "\n")
		}
	}
	b.WriteString("\n" + x.summary())
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write an explanation: %w", err)
	}
	return nil
}

// item is a numbered step: an operation, consecutive waits for other streams, or all operations of one kernel.
type item struct {
	number int
	stream string
	list   []ops.Op
	on     []*item // the last items of the streams that it waits for
}

// teller explains one rank; it has the lists of all ranks. It keeps the first error.
type teller struct {
	program *hostir.Program
	c       ops.Case
	lists   [][]ops.Op
	items   [][]*item
	// posts and waits are the items that write and await a word.
	posts, waits map[ops.Loc]*item
	remarked     map[string]bool // remarks
	err          error
}

func newTeller(p *hostir.Program, c ops.Case) (*teller, error) {
	t := &teller{program: p, c: c, posts: map[ops.Loc]*item{}, waits: map[ops.Loc]*item{}, remarked: map[string]bool{}}
	for r := range c.Ranks {
		c.Rank = r
		list, err := ops.Unroll(p, c)
		if err != nil {
			return nil, err
		}
		t.lists = append(t.lists, list)
		t.items = append(t.items, itemize(list))
	}
	for _, items := range t.items {
		for _, i := range items {
			t.signals(i)
		}
	}
	return t, nil
}

// signals notes which item writes and which item awaits each word. A wait's writes are resets.
func (t *teller) signals(i *item) {
	for _, o := range i.list {
		for _, w := range o.Words {
			switch {
			case !w.Write:
				t.waits[w.At] = i
			case w.Value == 1 && !ops.IsStep(w.At):
				t.posts[w.At] = i
			}
		}
	}
}

// itemize numbers a rank's steps, in enqueue order.
func itemize(list []ops.Op) []*item {
	var items []*item
	last := map[string]*item{}  // of a stream
	marks := map[int]*item{}    // of an event
	streams := map[int]string{} // of an event
	for _, o := range list {
		i := last[o.Stream]
		switch {
		case o.Kind == ops.Record:
			marks[o.Event], streams[o.Event] = i, o.Stream
			continue
		case i != nil && i.number == len(items) && joins(i.list[len(i.list)-1], o):
			i.list = append(i.list, o)
		default:
			i = &item{number: len(items) + 1, stream: o.Stream, list: []ops.Op{o}}
			items = append(items, i)
			last[o.Stream] = i
		}
		if o.Kind == ops.WaitEvent {
			on := marks[o.Event]
			if on == nil {
				on = &item{stream: streams[o.Event]}
			}
			i.on = append(i.on, on)
		}
	}
	return items
}

// joins reports whether an operation has the same number as the operation before it.
func joins(before, o ops.Op) bool {
	if o.Kind == ops.WaitEvent {
		return before.Kind == ops.WaitEvent
	}
	return o.Kernel != "" && o.Kernel == before.Kernel && o.Step == before.Step
}

// streams are the streams of the rank that is explained, main first.
func (t *teller) streams() []string {
	names := []string{hostir.MainStream}
	for _, i := range t.items[t.c.Rank] {
		if !slices.Contains(names, i.stream) {
			names = append(names, i.stream)
		}
	}
	return names
}

// remark names the peculiarity of a stream.
func (t *teller) remark(stream string) string {
	if stream == hostir.MainStream {
		return "the stream of the caller"
	}
	set, _, _ := strings.Cut(stream, "[")
	for _, s := range t.program.Streams {
		if s.Name == set && s.High {
			return "of high priority"
		}
	}
	return ""
}
