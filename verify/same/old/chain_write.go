package old

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// putName is the stream of partial results on their way, and of sums.
const putName = "put"

// writer writes the program of a chain. Rows of rank r+i go through a stage in its step i: they are
// gathered, multiplied as soon as they are there, and their partial results leave as soon as they are
// made, while others still come. The own rows wait for nobody and fill the gaps.
type writer struct {
	*draft
	inBatches
	across    map[*stage]junction // sums that go on in parts
	through   map[*stage]bool     // stages whose own rows such a sum takes along
	fine      map[string]int64    // how many parts each rank's rows have in memory that such a sum is about
	set       hostir.StreamSet
	work, put hostir.StreamRef
}

// linked leaves the program to the writer of the chain, which waits for the ways of all communications.
func linked(*draft) error { return nil }

// writeChain writes the program once the ways of all communications are known.
func writeChain(d *draft) error {
	if err := d.tensors(); err != nil {
		return err
	}
	w := &writer{draft: d, inBatches: d.inBatches(), set: workStreams(d), work: poolRef(d), put: hostir.Stream(putName)}
	w.heads()
	w.memories()
	if err := w.junctions(); err != nil {
		return err
	}
	w.words()
	w.head()
	for i := range d.chain.stages {
		s := &d.chain.stages[i]
		if w.through[s] && s.own {
			continue
		}
		w.add(s.gathering.steps(w, s, s.here())...)
		if w.inTurns(s) {
			w.add(w.batches(s, i)...)
		} else {
			w.add(w.whole(s)...)
		}
		w.add(s.summing.steps(w, s, s.sums)...)
		w.add(w.widen(s)...)
	}
	w.tail()
	return nil
}

// inTurns says that the rows of the ranks go through a stage one after the other, else all at once.
func (w *writer) inTurns(s *stage) bool { return s.pulls() || s.puts() }

// byRanks says that each rank's rows of a stage are chunks of their own: they go through it, or have come, so.
func (w *writer) byRanks(s *stage) bool { return w.inTurns(s) || s.gathering != nil }

// spreads says that the sums of a stage, each made by its owner, are copied to all.
func (w *writer) spreads(s *stage) bool { return s.puts() && s.toAll }

// any reports whether is holds for some stage.
func (d *draft) any(is func(*stage) bool) bool {
	return slices.ContainsFunc(d.chain.stages, func(s stage) bool { return is(&s) })
}

// named is the name of a stage's memory or semaphore, with a number from the second stage that communicates on.
func (w *writer) named(name string, s *stage) string {
	n := 0
	for i := range w.chain.stages {
		x := &w.chain.stages[i]
		if x.gathers || x.sums != "" || x.gathersColumns() {
			n++
		}
		if x == s {
			break
		}
	}
	return name + suffix(max(n, 1))
}

// words declares the semaphores.
func (w *writer) words() {
	for i := range w.chain.stages {
		s := &w.chain.stages[i]
		if s.pulls() {
			w.semaphores(w.named(ready, s))
		}
		if s.gathersColumns() {
			w.semaphores(w.named(columnsName, s))
		}
		if w.original.OverHosts() {
			w.overRailsWords(s)
		}
		switch {
		case s.puts() && w.original.OverHosts():
			w.semaphores(w.named(free, s))
		case s.puts():
			w.semaphores(w.named(free, s))
			w.program.Semaphores = append(w.program.Semaphores, w.parts.semaphore(w.named(arrived, s)))
			if s.toAll {
				w.semaphores(w.named(summed, s))
			}
		}
	}
	if w.any((*stage).copies) || w.any(w.spreads) {
		w.semaphores(read)
	}
}

// head forks the streams and posts the words that let peers begin.
func (w *writer) head() {
	gathers, puts := w.any((*stage).copies), w.any((*stage).puts)
	first := w.put
	var sets []hostir.StreamSet
	if gathers {
		sets, first = append(sets, copySet), copyRef
	}
	if puts {
		sets = append(sets, hostir.StreamSet{Name: putName, High: true})
	}
	if w.any(w.inTurns) {
		sets = append(sets, w.set)
	}
	if w.original.OverHosts() {
		sets = append(sets, ncclSet, relays)
	}
	if gathers || puts {
		w.add(w.fork(sets...))
	} else {
		w.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
	}
	if s := &w.chain.stages[0]; s.pulls() {
		w.moves(s.here(), hostir.Post(copyRef, w.named(ready, s), every).Described("beside the first product"))
	}
	for i := range w.chain.stages {
		if s := &w.chain.stages[i]; s.puts() {
			w.moves(s.sums, hostir.Post(first, w.named(free, s), every).Described("the slots may be written"))
		}
	}
	if gathers && puts {
		w.add(hostir.After(w.put, copyRef))
	}
	if w.original.OverHosts() {
		w.add(hostir.After(ncclRef, first)) // peers need these posts before they can exchange
	}
	if w.n > 1 {
		s := &w.chain.stages[0]
		w.moves(s.here(), hostir.Wait(copyRef, ready, every))
		w.moves(s.sums, hostir.Wait(w.put, free, every))
	}
}

// tail lets the owners overwrite the rows that were gathered, and joins.
func (w *writer) tail() {
	gathers, puts := w.any((*stage).copies), w.any((*stage).puts)
	last, set := w.put, hostir.StreamSet{Name: putName}
	if !puts {
		last, set = copyRef, copySet
	}
	spreads := w.any(w.spreads)
	name, of := w.readAcross()
	join := func(sets ...hostir.StreamSet) hostir.Synchronize {
		if w.original.OverHosts() {
			sets = append(sets, ncclSet)
		}
		return join(sets...)
	}
	if gathers && w.original.OverHosts() {
		w.add(hostir.Synchronize{Streams: []hostir.StreamRef{copyRef}, On: refs([]hostir.StreamSet{relays})})
	}
	post := func(on hostir.StreamRef) hostir.Node {
		return hostir.Post(on, read, every).Described(name + " may be overwritten afterwards")
	}
	if gathers && !spreads {
		w.moves(of, post(copyRef))
	}
	if gathers && puts {
		w.add(hostir.After(w.put, copyRef))
	}
	if spreads {
		w.moves(of, post(w.put))
	}
	if gathers && w.original.OverHosts() {
		w.add(hostir.After(last, ncclRef)) // peers' exchanges need this rank's
	}
	if (gathers || spreads) && w.any((*stage).meets) {
		w.add(hostir.After(last, mainRef)) // peers need it before they can post
	}
	if gathers || spreads {
		w.moves(of, hostir.Wait(last, read, every))
	}
	switch {
	case w.chain.stages[len(w.chain.stages)-1].puts(): // the sum of this rank's rows waited for all products
		w.add(join(set))
	case w.any(w.inTurns):
		w.add(join(set, w.set))
	case gathers:
		w.add(join(set))
	}
}

// moves appends steps of a tensor's move to the program.
func (w *writer) moves(of string, nodes ...hostir.Node) { w.add(hostir.MovesOf(of, nodes...)...) }

// readAcross is the first memory that peers read, or that they read the sums of, and its move.
func (w *writer) readAcross() (name, move string) {
	for i := range w.chain.stages {
		switch s := &w.chain.stages[i]; {
		case s.pulls():
			return s.input, s.here()
		case w.spreads(s):
			return s.sums, s.sums
		case s.gathersColumns():
			return w.madeIn(s.widened), s.widened
		}
	}
	return "", ""
}

// batches is a stage with the rows of each batch in turn.
func (w *writer) batches(s *stage, i int) []hostir.Node {
	var nodes []hostir.Node
	switch {
	case w.through[s]: // peers may read its input already
	case i > 0 && s.pulls():
		nodes = hostir.MovesOf(s.here(), hostir.Post(mainRef, w.named(ready, s), every).
			Described("peers may read "+s.input), hostir.After(copyRef, mainRef))
		if w.original.OverHosts() {
			nodes = append(nodes, hostir.After(ncclRef, mainRef))
		}
	case i > 0 || s.gathering != nil:
		nodes = append(nodes, hostir.Synchronize{Origin: hostir.Origin{Field: movesField},
			Streams: refs([]hostir.StreamSet{w.set}), On: []hostir.StreamRef{mainRef}})
	}
	sums := w.put
	if w.original.OverHosts() {
		nodes, sums = append(nodes, w.hostsInTurn(s)...), ncclRef
	} else {
		nodes = append(nodes, w.parts.inTurn(w.rowsInTurn(s)...)...)
	}
	if _, goesOn := w.across[s]; s.puts() && !goesOn && i < len(w.chain.stages)-1 {
		nodes = append(nodes, hostir.After(mainRef, sums))
	}
	return nodes
}

// rowsInTurn does the operations on the rows of each rank in turn. This rank's rows come first, but last in the last
// operation.
func (w *writer) rowsInTurn(s *stage) []hostir.Node {
	peer := hostir.Var("peer")
	peerIs := hostir.Bind("peer", hostir.Ahead(step))
	ops := s.ops
	if s.puts() {
		ops = ops[:len(ops)-1]
	}
	var nodes []hostir.Node
	if !w.through[s] {
		nodes = w.operations(mainRef, s, ops, hostir.Rank, w.own(s))
	}
	if len(nodes) > 0 && s.pulls() {
		nodes[0] = nodes[0].(hostir.Step).Described("own rows, in place")
	}
	here := w.rowsAt(s.here(), peer)
	if s.pulls() {
		gather := []hostir.Node{peerIs}
		if w.n == 1 {
			gather = append(gather, hostir.Wait(copyRef, w.named(ready, s), peer))
		}
		gather = append(gather, hostir.Set(copyRef, here, hostir.Remote(s.input, peer, w.part())),
			hostir.After(w.work, copyRef))
		nodes = append(nodes, steps(hostir.MovesOf(s.here(), gather...)...))
	}
	nodes = append(nodes, steps(append([]hostir.Node{peerIs}, w.operations(w.work, s, s.ops, peer, here)...)...))
	done := hostir.Synchronize{Origin: hostir.Origin{Field: movesField}, Streams: []hostir.StreamRef{mainRef},
		On: refs([]hostir.StreamSet{w.set})}
	if !s.puts() {
		if s == &w.chain.stages[len(w.chain.stages)-1] && s.summing == nil && !s.gathersColumns() {
			return nodes // the join waits for them
		}
		return append(nodes, done)
	}
	sum := s.ops[len(s.ops)-1]
	x := w.own(s)
	if sum.In[0] != s.input {
		x = w.rowsAt(sum.In[0], hostir.Rank)
	}
	last := w.product(mainRef, s, sum, hostir.Rank, x).
		Described("own rows last, straight into their slot")
	last = last.Into(w.rowsAt(w.named(slots, s), hostir.Rank))
	nodes = append(nodes, done)
	if j, ok := w.across[s]; ok {
		return append(nodes, w.goOn(j, last, w.sent(s, peerIs, peer), w.ownSum(s))...)
	}
	return append(append(nodes, last), w.leave(s, peerIs, peer)...)
}

// own are this rank's rows of a stage's input, where they are.
func (w *writer) own(s *stage) hostir.View {
	if s.pulls() {
		return hostir.Chunk(s.input, w.part())
	}
	return w.rowsAt(s.here(), hostir.Rank)
}

// sent puts the partial results of the peers' rows into slots at their owners.
func (w *writer) sent(s *stage, peerIs hostir.Node, peer hostir.Expr) []hostir.Node {
	moved := []hostir.Node{peerIs, hostir.After(w.put, w.work)}
	if w.n == 1 {
		moved = append(moved, hostir.Wait(w.put, w.named(free, s), peer))
	}
	moved = append(moved,
		hostir.Set(w.put, w.rowsAt(w.named(slots, s), hostir.Rank).At(peer), w.rowsAt(w.named(partial, s), peer)),
		hostir.Post(w.put, w.named(arrived, s), peer).Member(w.part()))
	return []hostir.Node{steps(moved...)}
}

// ownSum adds up the slots of this rank's rows.
func (w *writer) ownSum(s *stage) hostir.Step {
	rows := hostir.Chunk(s.sums, w.part())
	dst := rows
	if s.toAll {
		rows, dst = hostir.Chunk(s.sums, hostir.Rank), hostir.Whole(w.named(reduced, s))
	}
	return w.sumOf(w.put, s, dst, rows, w.rowsAt(w.named(slots, s), hostir.Var(hostir.RankIndex)).EachRank()).
		Described("once, in the order of ranks")
}

// leave puts the partial results into the slots of their owners, who add them up.
func (w *writer) leave(s *stage, peerIs hostir.Node, peer hostir.Expr) []hostir.Node {
	sum := w.ownSum(s)
	nodes := append(w.sent(s, peerIs, peer),
		hostir.After(w.put, mainRef),
		hostir.Wait(w.put, w.named(arrived, s), every).Member(w.part()),
		sum)
	if s.toAll {
		rows, dst := hostir.Chunk(s.sums, hostir.Rank), sum.Result()
		nodes = append(nodes,
			hostir.Post(w.put, w.named(summed, s), every),
			hostir.Set(w.put, rows, dst),
			steps(peerIs,
				hostir.Wait(w.put, w.named(summed, s), peer),
				hostir.Set(w.put, hostir.Chunk(s.sums, peer), dst.At(peer))))
	}
	return hostir.MovesOf(s.sums, nodes...)
}

// sumOf is a sum of partial results and of the tensors that are added to it; rows is the view of the
// result that it belongs to, wherever it is made.
func (w *writer) sumOf(on hostir.StreamRef, s *stage, dst, rows hostir.View, terms ...hostir.View) hostir.Step {
	o := s.ops[len(s.ops)-1]
	sum := sumAnd(o.Added(), o.Bias(), on, dst, rows, terms...)
	if s.widens() {
		sum.By = hostir.WidenKernel
	}
	return sum
}

// whole is a stage on all of its rows.
func (w *writer) whole(s *stage) []hostir.Node {
	return w.operations(mainRef, s, s.ops, hostir.Expr{}, hostir.Whole(s.here()))
}

// operations are operations of a stage on the rows of one rank, or on all where rank is absent; here is
// where the stage's input has them.
func (w *writer) operations(on hostir.StreamRef, s *stage, ops []schedule.Op, rank hostir.Expr,
	here hostir.View) (nodes []hostir.Node) {
	for _, o := range ops {
		if o.Call != "" {
			nodes = append(nodes, called(on, o, s.launch))
			continue
		}
		x := here
		if o.In[0] != s.input {
			x = w.rowsAt(o.In[0], rank)
		}
		if kind(o.Name()) == linear {
			nodes = append(nodes, w.product(on, s, o, rank, x))
			x = w.rowsAt(o.Out, rank)
		}
		nodes = append(nodes, w.apply(on, o, rank, x)...)
	}
	return nodes
}

// product is the product of an operation. Biases and functions of partial results are applied to
// their sum.
func (w *writer) product(on hostir.StreamRef, s *stage, o schedule.Op, rank hostir.Expr, x hostir.View) hostir.Step {
	if o.Out == s.sums {
		return hostir.Multiply(on, hostir.Linear, w.rowsAt(w.named(partial, s), rank), x, hostir.Whole(o.In[1]))
	}
	var bias []hostir.View
	if o.Bias() != "" {
		bias = []hostir.View{hostir.Whole(o.Bias())}
	}
	n := hostir.Multiply(on, hostir.Linear, w.rowsAt(o.Out, rank), x, hostir.Whole(o.In[1]), bias...)
	for _, f := range o.Then {
		if ofProduct(f) {
			n = n.Then(do(f))
		}
	}
	return n
}

// rowsAt are a rank's rows of the step's batch in a buffer of all ranks' rows; all where rank is absent.
func (w *writer) rowsAt(buffer string, rank hostir.Expr) hostir.View {
	if buffer = w.madeIn(buffer); rank.IsZero() {
		return hostir.Whole(buffer)
	}
	if n := w.fine[buffer]; n > 0 {
		return hostir.Chunks(buffer, hostir.Mul(rank, hostir.Const(n)), hostir.Const(n))
	}
	return hostir.Chunk(buffer, w.chunk(rank))
}

// inBatches is the batches that the rows of all ranks come in, one after the other.
type inBatches struct{ parts }

func (d *draft) inBatches() inBatches { return inBatches{parts{int64(max(d.chunks, 1)), "s"}} }

// chunk is the index of a rank's rows in a buffer of all ranks' rows of each batch, batch by batch.
func (m inBatches) chunk(rank hostir.Expr) hostir.Expr {
	if m.n == 1 {
		return rank
	}
	return hostir.Add(hostir.Mul(m.part(), hostir.Size), rank)
}
