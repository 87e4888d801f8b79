package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// leaving is a way by which partial results leave, one rank's rows after another's.
type leaving struct {
	memory func(w *writer, s *stage, columns schedule.Axis) // that it needs
	plan   func(w *writer, s *stage) departure
	cut    int    // parts that a rank's rows leave in; 0 and 1: one
	cutAt  string // the field that says so
}

// departure is what a way does with the partial results of a stage; the writer puts it around the products.
type departure struct {
	words []hostir.Semaphore
	open  []hostir.Node                        // peers may begin
	mine  hostir.View                          // where own rows are made
	take  func(peer hostir.Expr) []hostir.Node // brings a peer's rows to their owner
	came  []hostir.Node                        // waits until all peers' parts of own rows are here
	sum   hostir.Step                          // of own rows
	toAll []hostir.Node                        // brings all ranks the sums of all
	// Where a peer's rows are made, and what is around their product; nil: in memory of the plan.
	slot           func(peer hostir.Expr) hostir.View
	before, behind func(on hostir.StreamRef, peer hostir.Expr) []hostir.Node
	// Rounds in which all of this happens instead, and the order in which the rows of peers go through the stage before
	// that, if no arrival has another one.
	turns, order []turns
	beyond

	lone // in a program that is this stage, to which no rows come
}

// lone is what a departure is, beyond that, where no rows come beside it.
type lone struct {
	share
	head   []hostir.Node // forks its streams, and opens
	last   hostir.StreamRef
	first  bool                 // own rows are multiplied before peers'
	passes func() []hostir.Node // all products and what is between, where sums are passed on
	met    []hostir.Node        // brings the streams together for the sum
	tail   []hostir.Node
}

// departures asks the ways of sums how partial results leave.
func (w *writer) departures() {
	w.leaves = map[*stage]departure{}
	for _, s := range w.chain.stages {
		if s.puts() {
			w.leaves[s] = s.leaving.plan(w, s)
		}
	}
}

// leaveBy gives a stage that ends with sums a way. What the caller gives leaves at once
// where other stages follow.
func (d *draft) leaveBy(s *stage, way leaving) {
	if s.given != "" && !d.lonely() {
		s.summing = way.atOnce
		return
	}
	s.leaving = way
}

// alone says that a stage is a program of its own, or as one: nothing comes beside its partial results.
func (d *draft) alone(s *stage) bool { return s.given != "" || d.lonely() }

// atOnce is a departure of what the caller gives, among other stages.
func (l leaving) atOnce(w *writer, s *stage) []hostir.Node {
	l.memory(w, s, w.columnsOf(s.sums))
	d := l.plan(w, s)
	w.program.Semaphores = append(w.program.Semaphores, d.words...)
	if len(d.toAll) > 0 {
		w.semaphores(w.named(read, s.sums))
	}
	return w.leavesAlone(s, d)
}

// lonely says that the program is one product whose partial results leave, and that nothing comes. Sums in fp32
// leave as those of several operations do.
func (d *draft) lonely() bool {
	s := d.chain.stages[0]
	return len(d.chain.stages) == 1 && !s.gathers && len(s.ops) == 1 && len(s.terms) == 0 &&
		s.puts() && !d.widens(s)
}

// post lets peers begin.
func (d departure) post(s *stage) []hostir.Node { return hostir.MovesOf(s.sums, d.open...) }

// slotsFree posts that peers may write the slots of a stage.
func (w *writer) slotsFree(s *stage) []hostir.Node {
	return []hostir.Node{hostir.Post(mainRef, w.named(free, s.sums), every).Described("the slots may be written")}
}

// ownLast puts products on streams of their own, the product of this rank's rows on the last, and returns that. Partial
// results that travel must be made first: products that may run at once with equal priority share the device instead.
func (w *writer) ownLast() (set hostir.StreamSet, last hostir.StreamRef) {
	if w.with.compute == 0 {
		w.set.First, w.set.Count = one, hostir.Add(hostir.Size, one)
	}
	return w.set, hostir.StreamAt(w.set.Name, poolIndex(w.draft, hostir.Size))
}

// staggered forks the streams of the products, posts to the peers, and forks the other
// streams: the first product need not wait for the post, and the copies wait for peers. If
// priorities fall, only the first step is forked before the post: a product that has begun
// keeps the device, whatever its priority, so the others must not begin at the same moment.
func (w *writer) staggered(post []hostir.Node, set hostir.StreamSet, others ...hostir.StreamSet) []hostir.Node {
	first := w.fork(append(others, set)...)
	rest := first
	first.Remark = "the first product starts before the post"
	first.Streams, rest.Streams = refs([]hostir.StreamSet{set}), refs(others)
	if set.Falling {
		first.Streams = []hostir.StreamRef{hostir.StreamAt(set.Name, one)}
		rest.Streams = append(rest.Streams, hostir.StreamRef{Set: set.Name, From: hostir.Const(2), To: set.Count})
	}
	return append(append([]hostir.Node{first}, post...), rest)
}

// leavesAlone is the program of a stage from which partial results leave, and to which no rows come. A step multiplies
// the rows of one peer.
func (w *writer) leavesAlone(s *stage, d departure) []hostir.Node {
	between := d.passes
	switch {
	case between != nil:
	case d.turns != nil:
		between = func() []hostir.Node { return d.rounds(s) }
	default:
		between = func() []hostir.Node { return d.inTurn(w.piecesLeave(s, d)...) }
	}
	return slices.Concat(d.head, between(), d.tail)
}

// rounds are those of a departure that has its own.
func (d departure) rounds(s *stage) (nodes []hostir.Node) {
	for _, t := range d.turns {
		nodes = append(nodes, d.round(s, t)...)
	}
	return append(nodes, hostir.MovesOf(s.sums, d.toAll...)...)
}

func (d departure) round(s *stage, t turns) (nodes []hostir.Node) {
	for _, p := range t.pieces {
		nodes = append(nodes, d.made(t.work, p.into, p.rank)...)
	}
	nodes = append(nodes, hostir.MovesOf(s.sums, t.leave...)...)
	for _, inner := range t.then {
		nodes = append(nodes, d.round(s, inner)...)
	}
	return t.over(nil, nodes...)
}

// piecesLeave makes the peers' rows, sends each product, makes the own rows, and sums.
func (w *writer) piecesLeave(s *stage, d departure) []hostir.Node {
	to := hostir.Var("to")
	piece := []hostir.Node{hostir.Bind("to", hostir.Ahead(step))}
	if d.before != nil {
		piece = append(piece, hostir.MovesOf(s.sums, d.before(w.work, to)...)...)
	}
	piece = append(piece, d.made(w.work, d.slot(to), to)...)
	if d.behind != nil {
		piece = append(piece, hostir.MovesOf(s.sums, d.behind(w.work, to)...)...)
	} else {
		piece = append(piece, hostir.MovesOf(s.sums, d.take(to)...)...)
	}
	when := "last, "
	if d.first {
		when = ""
	}
	own := d.made(d.last, d.mine, hostir.Rank)
	for i, n := range own {
		if x, ok := n.(hostir.Step); ok {
			own[i] = x.Described("own " + d.what() + " " + when + "straight into their slot")
		}
	}
	nodes := append([]hostir.Node{steps(piece...)}, own...)
	if d.first {
		slices.Reverse(nodes)
	}
	return slices.Concat(nodes, d.met, hostir.MovesOf(s.sums, append(append(d.came, d.sum), d.toAll...)...))
}
