package prove

import (
	"slices"

	"ovgen/verify/ops"
)

// node is one event: an operation from its start to its end, one word of a Signal, the start or
// the end of a collective, or an action of the caller, of New or of Close.
type node struct {
	kind      nodeKind
	rank, run int32
	op        int32 // index in the rank's list
	word      int32 // index in the Signal's words
}

type nodeKind uint8

const (
	whole  nodeKind = iota // an operation
	word                   // one item of a Signal
	begin                  // a signalling kernel starts
	finish                 // a signalling kernel has ended
	enter                  // a rank has begun a collective
	leave                  // and has ended it
	ahead                  // an operation's reads ahead, which may begin before the end of the launch before
	caller                 // the caller and the group's other plans, before run `run`
	opened                 // New and Bind on all ranks
	closed                 // Close, or the next Bind, on all ranks
)

// graph has the nodes of a number of runs and the order that always holds between them.
// After follow, nodes are numbered in an order in which they can happen.
type graph struct {
	model Model
	lists [][]ops.Op
	runs  int
	both  bool // an exchange ends once the rank that it sends to has begun it, too
	nodes []node
	// before lists the nodes that come directly before node n:
	// edges[first[n]:first[n+1]].
	first, edges []int32

	words []ops.Loc // the words of semaphores that operations use
	id    []int32   // of each node: the word it posts, waits for or resets, or -1
	match []int32   // of each wait: its post; else -1
	start [][]int32 // of each run and rank: its After
	end   [][]int32 // of each run and rank: its Done
	// done is the number of nodes that happened; it is less than all where the ranks are stuck.
	done int
}

func (g *graph) before(n int32) []int32 { return g.edges[g.first[n]:g.first[n+1]] }

// own lists the nodes that come directly before node n by streams, events, batches and the sequence of runs. It leaves
// out the post that ends a wait, which pair put last.
func (g *graph) own(n int32) []int32 {
	list := g.before(n)
	if g.match[n] >= 0 {
		return list[:len(list)-1]
	}
	return list
}

// operation is the operation of a node; nil for nodes of the caller, of New and of Close.
func (g *graph) operation(n int32) *ops.Op {
	if x := g.nodes[n]; x.kind < caller {
		return &g.lists[x.rank][x.op]
	}
	return nil
}

// item is the word of a Signal that a node stands for; ok is false for other nodes.
func (g *graph) item(n int32) (w ops.Word, ok bool) {
	x := g.nodes[n]
	if x.kind != word {
		return ops.Word{}, false
	}
	return g.lists[x.rank][x.op].Words[x.word], true
}

func (g *graph) isPost(n int32) bool {
	w, ok := g.item(n)
	return ok && g.id[n] >= 0 && w.Write && w.Value == 1
}

func (g *graph) isWait(n int32) bool {
	w, ok := g.item(n)
	return ok && g.id[n] >= 0 && !w.Write
}

// builder lays the nodes out run by run and rank by rank.
type builder struct {
	*graph
	from, to []int32 // edges
	number   map[turned]int32
	tails    map[string]*tail // of each stream of the rank in the run
	events   map[int]int32
	open     int32 // New and Bind
	// meetings are the nodes of each collective of the run, by communicator.
	meetings [][]meeting
}

// turned is a word of one half of a landing's flags.
type turned struct {
	ops.Loc
	half int32
}

// build makes the graph of the order that streams, events and the sequence of runs give; no wait has its post yet. The
// graph does not carry the order of a stream from run to run: a replay keeps none (see the package comment).
func build(m Model, lists [][]ops.Op, runs int, both bool) *graph {
	b := &builder{graph: &graph{model: m, lists: lists, runs: runs, both: both}, number: map[turned]int32{}}
	b.open = b.add(node{kind: opened})
	last := make([]int32, len(lists))
	for r := range last {
		last[r] = b.open
	}
	for run := range runs {
		b.meetings = make([][]meeting, b.rails())
		b.start = append(b.start, make([]int32, len(lists)))
		b.end = append(b.end, make([]int32, len(lists)))
		for r := range lists {
			free := b.add(node{kind: caller, rank: int32(r), run: int32(run)}, last[r])
			last[r] = b.rank(r, run, free)
		}
		b.meet()
	}
	for r := range lists {
		last[r] = b.add(node{kind: caller, rank: int32(r), run: int32(runs)}, last[r])
	}
	b.add(node{kind: closed, run: int32(runs)}, last...)
	b.index(len(b.nodes))
	return b.graph
}

// add makes a node after others.
func (b *builder) add(n node, after ...int32) int32 {
	i := int32(len(b.nodes))
	b.nodes = append(b.nodes, n)
	id := int32(-1)
	if w, ok := b.item(i); ok && b.model.semaphore(w.At.Buffer) {
		at := turned{w.At, b.model.half(w.At.Buffer, n.run)}
		if id, ok = b.number[at]; !ok {
			id = int32(len(b.words))
			b.words = append(b.words, w.At)
			b.number[at] = id
		}
	}
	b.id = append(b.id, id)
	b.match = append(b.match, -1)
	for _, p := range after {
		b.edge(p, i)
	}
	return i
}

func (b *builder) edge(from, to int32) {
	b.from, b.to = append(b.from, from), append(b.to, to)
}

// rank adds one run of one rank, after the node in which its caller is free, and returns the run's end.
func (b *builder) rank(r, run int, free int32) int32 {
	b.tails, b.events = map[string]*tail{}, map[int]int32{}
	collectives := 0
	for i, o := range b.lists[r] {
		n := node{rank: int32(r), run: int32(run), op: int32(i)}
		if b.tails[o.Stream] == nil {
			b.tails[o.Stream] = &tail{}
		}
		after := b.tails[o.Stream].before(&o)
		switch o.Kind {
		case ops.After:
			after = append(after, free)
		case ops.WaitEvent:
			if p, ok := b.events[o.Event]; ok {
				after = append(after, p)
			}
		}
		var last int32
		switch {
		case o.Kind == ops.Signal && o.Kernel != "":
			last = b.kernel(n, o.Words, after)
		case o.Kind == ops.Signal && len(o.Words) > 0:
			last = b.batch(n, o.Words, after)
		case o.Kind == ops.Collective:
			last = b.collective(n, collectives, after)
			collectives++
		default:
			last = b.add(n, append(after, b.ahead(n, o)...)...)
		}
		b.tails[o.Stream].add(&o, last)
		switch o.Kind {
		case ops.Record:
			b.events[o.Event] = last
		case ops.After:
			b.start[run][r] = last
		case ops.Done:
			b.end[run][r] = last
		}
	}
	return b.end[run][r]
}

// ahead adds a node for an operation's reads ahead. Only New and Bind come before it: the launch before may let the
// next launch start at once, and may itself have started in this way.
func (b *builder) ahead(n node, o ops.Op) []int32 {
	if !slices.ContainsFunc(o.Uses, func(u ops.Use) bool { return u.Ahead }) {
		return nil
	}
	n.kind = ahead
	return []int32{b.add(n, b.open)}
}

// batch adds the items of a batch of stream memory operations, one after the other.
func (b *builder) batch(n node, words []ops.Word, after []int32) int32 {
	n.kind = word
	var last int32
	for i := range words {
		n.word = int32(i)
		last = b.add(n, after...)
		after = []int32{last}
	}
	return last
}

// kernel adds the items of a signalling kernel. Each word has a thread, which resets the word once it has waited for
// it. The step word is written when all threads have ended.
func (b *builder) kernel(n node, words []ops.Word, after []int32) int32 {
	n.kind = begin
	start := b.add(n, after...)
	threads := []int32{start}
	waited := map[ops.Loc]int32{}
	for i, w := range words {
		n.kind, n.word = word, int32(i)
		after := []int32{start}
		if p, ok := waited[w.At]; ok {
			after = []int32{p}
		} else if ops.OfStream(w.At) {
			after = threads
		}
		item := b.add(n, after...)
		if !w.Write {
			waited[w.At] = item
		}
		threads = append(threads, item)
	}
	n.kind = finish
	return b.add(n, threads...)
}

// index turns the builder's edges into the graph's form for n nodes.
func (b *builder) index(n int) {
	b.graph.first, b.graph.edges = compress(n, b.from, b.to)
}

// compress groups edges by the node they lead to.
func compress(n int, from, to []int32) (first, edges []int32) {
	first = make([]int32, n+1)
	for _, t := range to {
		first[t+1]++
	}
	for i := range n {
		first[i+1] += first[i]
	}
	edges = make([]int32, len(from))
	next := append([]int32{}, first...)
	for i, t := range to {
		edges[next[t]] = from[i]
		next[t]++
	}
	return first, edges
}
