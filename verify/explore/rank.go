package explore

import (
	"fmt"
	"slices"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// rankBuilder turns a rank's list into steps, run after run. It keeps the last steps of each stream, which the next
// step on the stream has to wait for.
type rankBuilder struct {
	*machine
	rank, run int
	list      []ops.Op
	streams   map[string][]int32 // last steps of each stream
	events    map[int][]int32    // the steps that each event's last record marks
	graph     bool
	one       bool    // all streams act as one
	waits     bool    // the next step begins a launch that waits
	met       int     // collectives of the run so far
	bound     []int32 // the caller's writes before the first run
	block     int64   // of the launch that is being added, where blocks signal each for itself
}

// whole adds a run, with the caller's writes before and reads after it.
func (b *rankBuilder) whole(mode Mode) {
	b.one = mode == InOrder
	b.write()
	streams, events := b.streams, b.events
	if mode == Captured {
		launch := b.add(hostir.MainStream, &step{name: "launch of the graph"})
		b.graph = true
		b.streams, b.events = map[string][]int32{hostir.MainStream: {launch}}, map[int][]int32{}
	}
	for i := 0; i < len(b.list); {
		i += b.launch(b.list[i:])
	}
	if mode == Captured {
		b.checkJoined()
		var all []int32
		for _, last := range b.streams {
			all = union(all, last)
		}
		b.graph = false
		streams[hostir.MainStream] = all
		b.streams, b.events = streams, events
		b.add(hostir.MainStream, &step{name: "end of the graph"})
	}
	b.read()
}

// checkJoined reports streams of the graph for which main has not waited.
func (b *rankBuilder) checkJoined() {
	joined := map[int32]bool{}
	var visit func(i int32)
	visit = func(i int32) {
		if !joined[i] {
			joined[i] = true
			for _, p := range b.steps[i].before {
				visit(p)
			}
		}
	}
	for _, i := range b.streams[hostir.MainStream] {
		visit(i)
	}
	for name, last := range b.streams {
		for _, i := range last {
			if !joined[i] {
				b.report(Capturable, "rank %d: main does not join %s", b.rank, name)
			}
		}
	}
}

// last lists the steps that the next step on a stream has to wait for.
func (b *rankBuilder) last(stream string) []int32 {
	if b.one {
		stream = hostir.MainStream
	}
	last, ok := b.streams[stream]
	if !ok && b.graph {
		b.report(Capturable, "rank %d: %s is used before it waits for a stream of the graph", b.rank, stream)
		return b.streams[hostir.MainStream]
	}
	return last
}

// add puts a step on a stream.
func (b *rankBuilder) add(stream string, s *step) int32 {
	s.rank, s.run, s.block = b.rank, b.run, b.block
	if s.op != nil && s.op.Kind != ops.After && s.op.Kind != ops.Done {
		s.lives = append(s.lives, b.life[b.rank])
	}
	if s.op != nil && s.signals() {
		s.serialWait, b.waits = b.waits, false
	}
	s.before = slices.Clone(b.last(stream))
	if s.op == nil {
		b.group++
		s.group = b.group
	} else {
		s.group = b.group
	}
	if b.one {
		stream = hostir.MainStream
	}
	b.steps = append(b.steps, s)
	n := int32(len(b.steps) - 1)
	b.streams[stream] = []int32{n}
	return n
}

// launch adds an operation, or all operations that one kernel carries out, and returns their number. They are a group:
// a device that begins a group goes on with it.
func (b *rankBuilder) launch(list []ops.Op) int {
	first, n := list[0], 1
	for n < len(list) && first.Kernel != "" && list[n].Kernel == first.Kernel && list[n].Step == first.Step &&
		list[n].Stream == first.Stream {
		n++
	}
	b.group++
	b.waits = b.waits || waits(list[:n])
	if slices.ContainsFunc(list[:n], func(o ops.Op) bool { return o.Part > 0 }) {
		b.byParts(b.inGroups(list[:n]))
		return n
	}
	if first.ByBlocks {
		b.byBlocks(list[:n])
		return n
	}
	for i := range list[:n] {
		b.op(&list[i])
	}
	return n
}

func (b *rankBuilder) op(o *ops.Op) {
	o = b.turned(o, b.run)
	switch o.Kind {
	case ops.After, ops.Done:
		b.add(o.Stream, &step{op: o, name: o.Kind.String(), writes: []int32{b.life[b.rank]}})
	case ops.Record:
		b.events[o.Event] = []int32{b.add(o.Stream, &step{op: o, name: o.String()})}
	case ops.WaitEvent:
		b.waitEvent(o)
	case ops.Collective:
		b.collective(o)
	default:
		if o.Kind == ops.Signal && o.Count.Buffer != "" {
			b.add(o.Stream, &step{kind: access, op: o, name: "count in " + o.Count.String(), writes: b.count(o)})
		}
		b.signal(o)
		if len(o.Uses) > 0 || o.Kind != ops.Signal { // a launch on no bytes belongs to its run as well
			b.access(o)
		}
	}
}

// waitEvent makes a stream wait for the steps that the last record of an event marks. An event that was never recorded
// makes no stream wait.
func (b *rankBuilder) waitEvent(o *ops.Op) {
	marks, ok := b.events[o.Event]
	stream := o.Stream
	if b.one {
		stream = hostir.MainStream
	}
	if !ok && b.graph {
		b.report(Capturable, "rank %d: %s waits for event %d, which the graph has not recorded",
			b.rank, o.Stream, o.Event)
	}
	if ok {
		b.streams[stream] = union(b.streams[stream], marks)
	}
	b.add(o.Stream, &step{op: o, name: o.String()})
}

// signal adds the items of a signal in order.
func (b *rankBuilder) signal(o *ops.Op) {
	for i, w := range o.Words {
		if !w.Write && (i+1 == len(o.Words) || o.Words[i+1] != ops.Word{Write: true, At: w.At}) {
			b.report(WellFormed, "rank %d: a wait that no reset directly follows: %s", b.rank, o)
		}
		reset := w.Write && w.Value == 0 && !ops.IsStep(w.At)
		if reset && (i == 0 || o.Words[i-1].Write || o.Words[i-1].At != w.At) {
			b.report(WellFormed, "rank %d: a reset that does not directly follow a wait: %s", b.rank, o)
		}
		b.item(o, w)
	}
}

func (b *rankBuilder) item(o *ops.Op, w ops.Word) {
	if ops.IsStep(w.At) {
		if w.At.Rank != b.rank || w.At.Buffer != ops.StepWord(o.Stream) || w.At.Offset != 0 {
			b.report(WellFormed, "rank %d: %s notes no step of its stream: %s", b.rank, w, o)
		}
		b.add(o.Stream, &step{kind: access, op: o, name: w.String(), writes: b.own(w.At)})
		return
	}
	s := &step{kind: wait, op: o, name: "wait " + w.String(), word: b.word(w.At), value: w.Value}
	if w.Write {
		s.kind, s.name = write, "write "+w.String()
	}
	b.add(o.Stream, s)
}

// own is the atom of a word that one stream uses: its step word or its count word.
func (b *rankBuilder) own(at ops.Loc) []int32 {
	name := at.String()
	if i := slices.Index(b.atoms.names, name); i >= 0 {
		return []int32{int32(i)}
	}
	return []int32{b.atoms.add(name)}
}

// access adds a step that reads and writes the memory of an operation.
func (b *rankBuilder) access(o *ops.Op) {
	s := &step{kind: access, op: o, name: named(o)}
	if o.Count.Buffer != "" {
		s.writes = b.count(o)
	}
	for _, u := range o.Uses {
		list := b.atoms.of(u)
		if u.Write {
			s.writes, s.results = append(s.writes, list...), append(s.results, list)
		} else {
			s.reads, s.operands = append(s.reads, list...), append(s.operands, list)
		}
		if u.At.Rank == b.rank {
			continue
		}
		if _, turns := b.Turns[u.At.Buffer]; !turns {
			s.lives = append(s.lives, b.life[u.At.Rank])
		}
		if b.foreign(u) {
			b.report(Owned, "rank %d: %s", b.rank, o)
		}
	}
	if b.spoils(o, s) {
		b.report(NoRace, "rank %d: an operation writes memory that other parts of it still read: %s", b.rank, o)
	}
	ahead := b.ahead(o)
	b.add(o.Stream, s)
	s.before = append(s.before, ahead...)
}

// ahead adds a step for an operation's reads ahead. Only the caller's writes before the first run come before it.
func (b *rankBuilder) ahead(o *ops.Op) []int32 {
	s := &step{kind: access, op: o, name: "ahead: " + named(o), rank: b.rank, run: b.run, before: b.bound}
	for _, u := range o.Uses {
		if u.Ahead {
			s.reads = append(s.reads, b.atoms.of(u)...)
		}
	}
	if len(s.reads) == 0 {
		return nil
	}
	s.group = b.group
	b.group++
	b.steps = append(b.steps, s)
	return []int32{int32(len(b.steps) - 1)}
}

// spoils reports whether an operation writes memory that it reads. Three cases are allowed. A product may add to its
// result. A sum may write one of its terms, and a function one of its operands: there the tile or thread that writes an
// element is the one that reads it. A call may replace an operand.
func (b *rankBuilder) spoils(o *ops.Op, s *step) bool {
	operands := s.operands
	if o.Kind == ops.Sum || o.Kind == ops.Apply || o.Kind == ops.Call {
		operands = slices.DeleteFunc(slices.Clone(operands), func(term []int32) bool {
			return len(s.results) > 0 && slices.Equal(term, s.results[0])
		})
	}
	if x, _ := ops.FactorsOf(o, operands); o.Accumulate && len(s.results) > 0 && slices.Equal(x.Before, s.results[0]) {
		operands = [][]int32{x.A, x.B, x.ScaleA, x.ScaleB, x.Bias}
	}
	read := slices.Concat(operands...)
	return slices.ContainsFunc(s.writes, func(a int32) bool { return slices.Contains(read, a) })
}

// count is the atom of the count word of a kernel's stream.
func (b *rankBuilder) count(o *ops.Op) []int32 {
	if c := o.Count; c.Rank != b.rank || c.Offset != 0 || !ops.IsCount(c) {
		b.report(WellFormed, "rank %d: %s is no count word of a stream: %s", b.rank, c, o)
	}
	return b.own(o.Count)
}

// foreign reports whether a use of a peer's memory lies in memory that only the peer's caller may write, or read.
func (m *machine) foreign(u ops.Use) bool {
	p, from, to := span(u)
	return slices.ContainsFunc(m.Memory, func(c Buffer) bool {
		q, lo, hi := span(c.Use)
		return (u.Write && !c.Plan || c.Private) && p == q && from < hi && lo < to
	})
}

// write adds the writes between runs, on main.
func (b *rankBuilder) write() {
	for i := range b.Memory {
		if c := &b.Memory[i]; c.At.Rank == b.rank && !(c.Constant && b.run > 0) {
			n := b.add(hostir.MainStream, &step{kind: access, name: fmt.Sprintf("write %s %dB", c.At, c.Bytes),
				writes: b.atoms.of(c.Use), wrote: c})
			if b.run == 0 {
				b.bound = append(b.bound, n)
			}
		}
	}
}

// read adds the caller's reads of the results on main.
func (b *rankBuilder) read() {
	for i, r := range b.Results {
		if r.At.At.Rank == b.rank {
			b.add(hostir.MainStream, &step{kind: check, name: r.At.String(), reads: b.atoms.of(r.At), result: i})
		}
	}
}

// union lists the steps that are in either list.
func union(x, y []int32) []int32 {
	out := slices.Clone(x)
	for _, n := range y {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
