package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Write explains what rank c.Rank does in one run of p. What the counts of c lack is
// an error.
func Write(w io.Writer, p *hostir.Program, c ops.Case) error {
	t, err := newTeller(p, c)
	if err != nil {
		return fmt.Errorf("explain %s: %w", p.Name, err)
	}
	for _, s := range t.streams() {
		t.line("")
		t.line("%s%s", s, t.remark(s))
		for _, i := range t.items[c.Rank] {
			if i.stream == s {
				t.line("  %3d  %s", i.number, t.sentence(i))
			}
		}
	}
	t.totals()
	if t.err != nil {
		return fmt.Errorf("explain %s: %w", p.Name, t.err)
	}
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write an explanation: %w", err)
	}
	return nil
}

// item is what gets a number: an operation, waits for other streams that are enqueued
// in a row, or all that one kernel does.
type item struct {
	number int
	stream string
	list   []ops.Op
	on     []*item // the last items of the streams waited for
}

// teller tells of one rank; it knows the lists of all. The first error sticks.
type teller struct {
	program *hostir.Program
	c       ops.Case
	lists   [][]ops.Op
	items   [][]*item
	// posts and waits are the items that write and await a word.
	posts, waits map[ops.Loc]*item
	said         map[string]bool // remarks
	out          strings.Builder
	err          error
}

func newTeller(p *hostir.Program, c ops.Case) (*teller, error) {
	t := &teller{program: p, c: c, posts: map[ops.Loc]*item{}, waits: map[ops.Loc]*item{}, said: map[string]bool{}}
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

// signals notes which item writes and awaits which word. A wait's own writes are its
// resets.
func (t *teller) signals(i *item) {
	for _, o := range i.list {
		for _, w := range o.Words {
			switch {
			case !w.Write:
				t.waits[w.At] = i
			case w.Value == 1 && !isStep(w):
				t.posts[w.At] = i
			}
		}
	}
}

// isStep says that a word is the one by which an abort learns where a stream stands.
func isStep(w ops.Word) bool { return strings.HasPrefix(w.At.Buffer, "step[") }

// itemize numbers what a rank does, in enqueue order.
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

// joins says that an operation shares the number of the one before it.
func joins(before, o ops.Op) bool {
	if o.Kind == ops.WaitEvent {
		return before.Kind == ops.WaitEvent
	}
	return o.Kernel != "" && o.Kernel == before.Kernel && o.Step == before.Step
}

// streams of the rank that is told of, main first.
func (t *teller) streams() []string {
	names := []string{"main"}
	for _, i := range t.items[t.c.Rank] {
		if !slices.Contains(names, i.stream) {
			names = append(names, i.stream)
		}
	}
	return names
}

// remark says what is special about a stream.
func (t *teller) remark(stream string) string {
	if stream == "main" {
		return ", the stream of the caller"
	}
	set, _, _ := strings.Cut(stream, "[")
	for _, s := range t.program.Streams {
		if s.Name == set && s.High {
			return ", of high priority"
		}
	}
	return ""
}

func (t *teller) line(form string, args ...any) {
	t.out.WriteString(strings.TrimRight(fmt.Sprintf(form, args...), " ") + "\n")
}
