package cost

import (
	"fmt"
	"math"
	"strings"

	"ovgen/runtime/kernels"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Span is one operation of a run.
type Span struct {
	Rank       int
	Stream     string
	Kind       ops.Kind
	Start, End float64 // microseconds; for a kernel, from its first block's start
	Bytes      int64   // moved over the link by a copy or a sum
	Network    bool    // an exchange between hosts
	Step       int
}

// simulation of one run of all ranks.
type simulation struct {
	engine
	m        *Machine
	l        Latencies
	element  int64
	slow     float64
	words    map[ops.Loc]uint32
	waiting  map[ops.Loc][]func()
	links    links
	streams  []*stream
	spans    []Span
	ranks    int
	meetings []*meeting // the collectives of a run, in the order in which each rank has them
	nics     links
	messages map[[2]int][]message // ends that wait for the other end, by sender and receiver
}

// stream runs a rank's operations of one stream in order.
type stream struct {
	s        *simulation
	rank     *rank
	name     string
	priority int
	list     []int // of rank.list
	next     int
	busy     bool
	warm     bool    // the operation before, not counting records, was a kernel
	running  *launch // the step of the last operation
}

// launch is a launch of a kernel that carries out operations.
type launch struct {
	kernel string
	step   int
	blocks int
	held   int         // multiprocessors
	over   bool        // it has ended, and needs no more multiprocessors
	share  func(n int) // starts the shares of blocks in running transfers
}

// rank is one GPU and its host's operations.
type rank struct {
	number   int
	list     []ops.Op
	enqueued []float64       // when the host has enqueued each operation
	record   []int           // of a WaitEvent, the index of its Record
	ended    map[int]float64 // records by index
	waiting  map[int][]func()
	pool     pool
	end      float64
	met      int // collectives so far
}

// add adds a rank and the streams of its operations.
func (s *simulation) add(number int, list []ops.Op, enqueued []float64, priority func(string) int) {
	r := &rank{number: number, list: list, enqueued: enqueued, record: make([]int, len(list)),
		ended: map[int]float64{}, waiting: map[int][]func(){}, pool: pool{engine: &s.engine, free: s.m.SMs}}
	last := map[int]int{}
	named := map[string]*stream{}
	for i, o := range list {
		switch o.Kind {
		case ops.Record:
			last[o.Event] = i
		case ops.WaitEvent:
			r.record[i] = last[o.Event]
		}
		if named[o.Stream] == nil {
			named[o.Stream] = &stream{s: s, rank: r, name: o.Stream, priority: priority(o.Stream), running: &launch{}}
			s.streams = append(s.streams, named[o.Stream])
		}
		named[o.Stream].list = append(named[o.Stream].list, i)
	}
}

// play runs everything and reports the streams that are stuck at the end.
func (s *simulation) play() error {
	for _, st := range s.streams {
		st.advance()
	}
	s.run()
	var stuck []string
	for _, st := range s.streams {
		if st.next < len(st.list) {
			stuck = append(stuck, fmt.Sprintf("rank %d, %s", st.rank.number, st.rank.list[st.list[st.next]]))
		}
	}
	if len(stuck) > 0 {
		return fmt.Errorf("these wait for ever: %s", strings.Join(stuck, "; "))
	}
	return nil
}

// advance starts the stream's next operation once the host has enqueued it.
func (st *stream) advance() {
	if st.busy || st.next == len(st.list) {
		return
	}
	st.busy = true
	i := st.list[st.next]
	st.s.after(st.rank.enqueued[i]-st.s.now, func() { st.start(i) })
}

// finish ends an operation and starts the next.
func (st *stream) finish(i int, began float64) {
	o, s := st.rank.list[i], st.s
	s.spans = append(s.spans, Span{Rank: st.rank.number, Stream: st.name, Kind: o.Kind,
		Start: began, End: s.now, Bytes: carried(o, st.rank.number), Network: o.Exchanges(), Step: o.Step})
	if o.Kind != ops.Record {
		st.warm = o.Kind == ops.Product || o.Kind == ops.Call || o.Kernel != ""
	}
	st.rank.end = max(st.rank.end, s.now)
	st.busy = false
	st.next++
	st.advance()
}

// carried is the number of bytes that an operation moves over links, without words.
func carried(o ops.Op, rank int) (bytes int64) {
	local := true
	for _, u := range o.Uses {
		if u.At.Rank != rank || o.Kind == ops.Collective && u.Write {
			bytes += u.Bytes
			local = false
		}
	}
	if local {
		return 0
	}
	return bytes
}

func (st *stream) start(i int) {
	o, s := st.rank.list[i], st.s
	began := s.now
	switch o.Kind {
	case ops.After, ops.Done:
		st.finish(i, began)
	case ops.Record:
		st.rank.ended[i] = s.now
		st.finish(i, began)
		for _, wake := range st.rank.waiting[i] {
			s.after(0, wake)
		}
	case ops.WaitEvent:
		on := st.rank.record[i]
		wake := func() { s.after(s.l.Event, func() { st.finish(i, began) }) }
		if _, ended := st.rank.ended[on]; ended {
			wake()
		} else {
			st.rank.waiting[on] = append(st.rank.waiting[on], wake)
		}
	default:
		st.work(i, o)
	}
}

// work starts an operation that moves bytes, multiplies or signals.
func (st *stream) work(i int, o ops.Op) {
	s := st.s
	switch {
	case o.Exchanges():
		st.exchange(i, o)
	case o.Kind == ops.Collective:
		st.together(i, o)
	case o.Kind == ops.Product:
		st.multiply(i, o)
	case o.Kernel == hostir.FewRowsKernel, o.Kernel == hostir.NarrowKernel, o.Kernel == hostir.SquaresKernel:
		st.makes(i, o)
	case o.Kernel != "":
		st.launch(i, o)
	case o.Kind == ops.Signal:
		began := s.now
		s.after(s.l.Batch, func() { st.signal(o.Words, func() { st.finish(i, began) }) })
	case o.Kind == ops.Call:
		st.call(i, o)
	case o.Kind == ops.Copy:
		began := s.now
		s.after(s.l.Copy, func() { st.copyEngine(o, func() { st.finish(i, began) }) })
	default:
		st.finish(i, s.now)
	}
}

// latency is the latency of a kernel on this stream.
func (st *stream) latency() float64 {
	if st.warm {
		return st.s.l.Next
	}
	return st.s.l.Launch
}

// multiply spreads a product over the multiprocessors. Blocks have equal shares of the units; where the units don't
// divide evenly, the first blocks have one unit more.
func (st *stream) multiply(i int, o ops.Op) {
	s := st.s
	c := s.m.cut(productOf(o, st.rank.number, s.element), s.slow)
	share, more := c.units/c.blocks, c.units%c.blocks
	left, began := c.blocks, math.Inf(1)
	run := func(blocks, units int) {
		if blocks == 0 {
			return
		}
		s.after(float64(units)*c.each, func() {
			if left -= blocks; left == 0 {
				s.after(c.after, func() {
					st.leave(o)
					st.finish(i, began)
				})
			}
			st.rank.pool.give(blocks)
		})
	}
	s.after(st.latency(), func() {
		st.rank.pool.take(&claim{priority: st.priority, order: i, blocks: c.blocks, start: func(n int) {
			began = min(began, s.now)
			longer := min(n, more)
			more -= longer
			run(longer, share+1)
			run(n-longer, share)
		}})
	})
}

// makes is formulas in the launch of a product: the result of the product is in registers, so only the other operands
// and what the formulas make are moved.
func (st *stream) makes(i int, o ops.Op) {
	bytes, began := 0.0, st.s.now
	for _, u := range o.Uses[min(1, len(o.Uses)):] {
		bytes += float64(u.Bytes)
	}
	st.s.after(bytes/st.s.m.Memory, func() { st.finish(i, began) })
}

// call is the caller's work. Only its memory is known, so it takes the time to move that memory once.
func (st *stream) call(i int, o ops.Op) {
	bytes := 0.0
	for _, u := range o.Uses {
		bytes += float64(u.Bytes)
	}
	st.s.after(st.latency(), func() {
		began := st.s.now
		st.s.after(bytes/st.s.m.Memory, func() { st.finish(i, began) })
	})
}

// launch runs an operation of a kernel, once its first block has a multiprocessor. Operations of one launch follow each
// other without a new start.
func (st *stream) launch(i int, o ops.Op) {
	body := func() {
		began := st.s.now
		st.carry(o, func() {
			st.leave(o)
			st.finish(i, began)
		})
	}
	if l := st.running; l.kernel == o.Kernel && l.step == o.Step {
		body()
		return
	}
	blocks := max(1, int(kernels.Kind(o.Kernel).Blocks()))
	if st.worksAgain(o) {
		blocks = min(blocks, st.s.m.SMs) // they stay until all have done their shares
	}
	l := &launch{kernel: o.Kernel, step: o.Step, blocks: blocks}
	st.running = l
	st.s.after(st.latency(), func() {
		first := true
		st.rank.pool.take(&claim{priority: st.priority, order: i, blocks: l.blocks, start: func(n int) {
			l.held += n
			switch {
			case l.over: // fewer blocks have done the work
				st.rank.pool.give(n)
			case first:
				first = false
				body()
			case l.share != nil:
				l.share(n)
			}
		}})
	})
}

// leave gives back the multiprocessors of a launch whose last operation has ended.
func (st *stream) leave(o ops.Op) {
	if l := st.running; !st.goesOn(o) {
		l.over = true
		st.rank.pool.give(l.held)
		st.running = &launch{}
	}
}

// goesOn reports whether the stream's next operation belongs to the same launch.
func (st *stream) goesOn(o ops.Op) bool {
	if st.next+1 >= len(st.list) {
		return false
	}
	n := st.rank.list[st.list[st.next+1]]
	return n.Kernel == o.Kernel && n.Step == o.Step && n.Kind != ops.Record
}

// worksAgain reports whether a later operation of the same launch moves bytes.
func (st *stream) worksAgain(o ops.Op) bool {
	for _, i := range st.list[st.next+1:] {
		n := st.rank.list[i]
		if n.Kernel != o.Kernel || n.Step != o.Step || n.Kind == ops.Record {
			return false
		}
		if len(n.Uses) > 0 {
			return true
		}
	}
	return false
}

// signal writes and awaits words in order.
func (st *stream) signal(words []ops.Word, done func()) {
	s := st.s
	if len(words) == 0 {
		done()
		return
	}
	w, rest := words[0], func() { st.signal(words[1:], done) }
	switch {
	case w.Write && w.At.Rank != st.rank.number:
		s.after(s.l.Write, func() {
			s.after(s.l.Visible, func() { s.set(w) })
			rest()
		})
	case w.Write:
		s.after(s.l.Write, func() { s.set(w); rest() })
	case s.words[w.At] == w.Value:
		rest()
	default:
		s.waiting[w.At] = append(s.waiting[w.At], func() { s.after(s.l.Poll, func() { st.signal(words, done) }) })
	}
}

// set changes a word and wakes the streams that wait for it.
func (s *simulation) set(w ops.Word) {
	s.words[w.At] = w.Value
	wake := s.waiting[w.At]
	delete(s.waiting, w.At)
	for _, f := range wake {
		f()
	}
}
