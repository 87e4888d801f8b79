package lower

import (
	"cmp"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// leaving is a way by which partial results leave, one rank's rows after another's.
type leaving struct {
	memory []declare // that it needs
	plan   func(w *writer, s *stage) departure
	cut    parts // that a rank's rows leave in
	ofAll  bool  // rows of all ranks leave together, a part of them at a time
	behind bool  // they leave when all products are made, whose rows may come in parts of a rank's
}

// madeWhole has one product make the summands of a gradient, or of counted rows, which then leave like the caller's.
func (s *stage) madeWhole(w *writer) {
	s.whole = s.Given == "" && (s.Last().Name() == schedule.GradientWord || s.Left.Size == edges.Counted)
	if s.whole {
		s.Given = w.named(partial, s.Sums)
	}
}

// departure is what a way does with the partial results of a stage; the writer puts it around the products.
type departure struct {
	open  []hostir.Node               // peers may begin
	begin []hostir.Node               // waits for all peers, ahead of all parts
	puts  hostir.StreamSet            // of the copies of each round, if these have streams of their own
	own   hostir.StreamRef            // of the product of own rows
	take  func(p piece) []hostir.Node // brings a peer's rows to their owner
	after []hostir.StreamSet          // that the sum waits for, beside that
	came  []hostir.Node               // waits until all peers' parts of own rows are here
	sums  hostir.StreamRef            // of the sum
	sum   hostir.Step                 // of own rows
	toAll []hostir.Node               // brings all ranks the sums of all
	// from is where products make a peer's rows, if sends says what that takes; nil: in memory of the plan.
	from  func(p piece) hostir.View
	sends func(on hostir.StreamRef, p piece) (before, behind []hostir.Node)
	// Rounds in which all of this happens instead, and the order in which the rows of peers go through the stage before
	// that, if no arrival has another one.
	turns, order []turns
	// All products and what is between, where sums are passed on.
	passes func() []hostir.Node
	beyond
}

// outward reports whether partial results leave a stage to which no rows come, and nothing runs beside them, as where
// own rows go on in parts. That is the first stage, whose products begin one after the other, own rows last, or a stage
// without products. In a later stage all products would begin at the same moment.
func (s *stage) outward() bool {
	return (s.First || s.Bare()) && s.departs() && !s.OfAll() && s.across == nil
}

// streamsOf are the streams of the copies that take partial results away, and of the product of own rows. Where these
// leave outward, the copies of each round have a stream, so that their start-up latency overlaps other copies, and own
// rows have that of the lowest priority: they fill what the products that travel leave of the device. Else one stream
// has all copies, and own rows wait for the products of all others.
func (w *writer) streamsOf(s *stage) (puts hostir.StreamSet, own hostir.StreamRef) {
	if !s.outward() || s.Bare() {
		return hostir.StreamSet{Name: putName, High: true}, mainRef
	}
	return hostir.StreamSet{Name: putsName, First: one, Count: hostir.Size, High: true},
		w.worker(hostir.Size)
}

// partsOf are the parts of a rank's rows that go through a stage one after the other, with all that comes and leaves:
// batches, or those of sums for all ranks.
func (w *writer) partsOf(s *stage) parts {
	if s.ToAll && s.outward() {
		return cmp.Or(w.apart(), s.parts)
	}
	return w.apart()
}

// pieceOf is what a stage makes of a rank's rows at a time.
func (w *writer) pieceOf(s *stage, rank hostir.Expr) piece {
	return piece{rank: rank, part: w.partsOf(s).part()}
}

// inBatch is that piece of a rank's rows of a batch, where partial results of all batches leave together.
func (w *writer) inBatch(s *stage, p piece) piece {
	if x := w.inRound(s); s.departs() && x.n > 1 {
		p.part = x.part()
	}
	return p
}

// rounds are those of a departure that has its own.
func (w *writer) rounds(s *stage) (nodes []hostir.Node) {
	for _, t := range s.leaves.turns {
		nodes = append(nodes, w.nested(s, t)...)
	}
	return append(nodes, hostir.MovesOf(s.Sums, s.leaves.toAll...)...)
}

// ownLeaves makes the partial results of this rank's rows, lets those of peers leave that have not, and sums.
func (w *writer) ownLeaves(s *stage) []hostir.Node {
	d, taken := s.leaves, []hostir.Node{}
	p, ops := w.inBatch(s, w.pieceOf(s, hostir.Rank)), s.Ops
	if !s.outward() {
		p.from, ops = w.own(s).from, s.Ops[len(s.BeforeSum()):]
	}
	last, made := w.partials(d.own, s, ops, p) // that are left for the end
	if len(made) > 0 {
		made = into(w.at(w.named(slots, s.Sums), p), made)
		made[0] = hostir.Remarked(made[0], "own rows last, straight into their slot")
		last = w.within(append(last, made...)...)
	}
	for _, t := range w.order(s) {
		if d.take != nil && !s.outward() {
			taken = append(taken, t.over(nil, d.take(t.pieces[0])...)...)
		}
	}
	if s.across != nil {
		return w.goOn(*s.across, last, taken, d)
	}
	if len(last) > 0 {
		taken = append(taken, hostir.After(d.sums, append([]hostir.StreamRef{d.own}, hostir.Refs(d.after)...)...))
	}
	return append(last, hostir.MovesOf(s.Sums, slices.Concat(taken, d.came, []hostir.Node{d.sum}, d.toAll)...)...)
}
