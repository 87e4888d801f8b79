package lower

import (
	"cmp"
	"slices"

	"ovgen/schedule/hostir"
)

// byBatch is a stage with the rows of each batch in turn.
func (w *writer) byBatch(s *stage) []hostir.Node {
	var nodes []hostir.Node
	switch {
	case s.through, s.comes.ownLast, // peers may read its input already
		!s.First && s.AddsShares() && (s.held != nil || w.early(s)):
	case s.pulls() && !w.early(s):
		nodes = w.begin(s, mainRef)
	case s.Bare() && (!s.First || s.whole):
		if s.whole {
			for _, o := range s.BeforeSum() {
				nodes = append(nodes, w.operation(mainRef, s, o, w.allRows(s))...)
			}
			nodes = append(nodes, w.products(mainRef, s, s.Last(), w.allRows(s), w.at(s.Last().In[0], w.allRows(s)))...)
		}
		if w.putting(s) {
			nodes = append(nodes, hostir.After(putRef, mainRef))
		}
	case !s.First || s.Gathers && !s.pulls():
		nodes = append(nodes, w.workAfter(s, mainRef))
	}
	nodes = append(nodes, w.partsOf(s).inTurn(w.rowsInTurn(s)...)...)
	if s.across == nil && (w.putting(s) || s.leaving.ofAll) {
		sums := coming{made: []string{s.Sums}, on: []hostir.StreamRef{putRef}, late: true}
		for _, o := range s.BeforeSum() {
			if s.outward() || s.leaves.turns != nil { // which main does not wait for
				sums.made = append(sums.made, w.MadeIn(o.Out))
			}
		}
		if d := s.leaves; s.leaving.ofAll {
			sums.on = []hostir.StreamRef{collectiveRef}
		} else if d.turns != nil {
			sums.on = hostir.Refs(d.beside)
		}
		w.coming = append(w.coming, sums)
	}
	return nodes
}

// begin lets peers read the rows of a stage that operations have made on a stream, and lets the streams that bring rows
// begin.
func (w *writer) begin(s *stage, made hostir.StreamRef) []hostir.Node {
	a := s.comes
	nodes := hostir.MovesOf(s.here(), hostir.AllOn(a.ready, made)...)
	if len(nodes) > 0 {
		nodes[0] = hostir.Remarked(nodes[0], "peers may read "+s.Input)
	}
	if a.withStep() {
		return append(nodes, w.workAfter(s, made))
	}
	nodes = append(nodes, hostir.After(a.on, made))
	if a.exchanges {
		nodes = append(nodes, hostir.After(collectiveRef, made))
	}
	return nodes
}

// workAfter lets the streams of a stage's products begin behind another one.
func (w *writer) workAfter(s *stage, on hostir.StreamRef) hostir.Node {
	var sets []hostir.StreamSet
	for _, t := range w.order(s) {
		sets = w.program.WithSet(sets, t.set)
	}
	return hostir.Synchronize{Streams: hostir.Refs(sets), On: []hostir.StreamRef{on}}
}

// bringAll brings all rows of a stage, ahead of its operations.
func (w *writer) bringAll(s *stage) (nodes []hostir.Node) {
	a := s.comes
	if !s.First && !w.early(s) {
		nodes = w.begin(s, mainRef)
	}
	if a.all != nil {
		return hostir.MovesOf(s.here(), append(nodes, a.all...)...)
	}
	if nodes = append(nodes, a.ahead...); !w.ahead(s) {
		nodes = append(nodes, a.sends...)
	}
	for _, t := range a.turns {
		nodes = append(nodes, t.brought()...)
	}
	switch {
	case a.own != nil:
		nodes = append(nodes, a.own)
	case !a.copied:
		own := hostir.Set(mainRef, w.comesTo(s, ofRank(hostir.Rank)), w.shard(s, hostir.Expr{}))
		nodes = append(nodes, w.within(own)...)
	}
	on := hostir.Refs(a.beside)
	if !slices.Contains(on, a.on) {
		on = slices.Insert(on, 0, a.on)
	}
	w.coming = append(w.coming, coming{[]string{cmp.Or(s.Into, s.Input)}, on, w.late(s)})
	if len(s.Ops) > 0 {
		nodes = append(nodes, w.awaitComing(s)...)
	}
	return hostir.MovesOf(s.here(), nodes...)
}

// coming is what other streams bring or make that the caller's stream has not waited for: a stage's input or sums, and
// what is made beside sums that leave first.
type coming struct {
	made []string
	on   []hostir.StreamRef
	late bool // it waits for peers beyond posts that begin the program
}

// awaitComing lets the caller's stream wait for what a stage takes of that, with all that the same streams have done
// before, or, where it waits for peers on another stream while they may hold the device, for all that is late: peers
// need what leaves here before they can meet this rank.
func (w *writer) awaitComing(s *stage) []hostir.Node {
	takes := append(s.Operands(), s.Into)
	if j := s.across; j != nil {
		takes = append(takes, j.next.Operands()...)
		if j.own != nil {
			takes = append(takes, j.own.Operands()...)
		}
	}
	var on []hostir.StreamRef
	for _, x := range w.coming {
		apart := (x.late || w.meets(s)) &&
			slices.ContainsFunc(w.waitsOn(s), func(on hostir.StreamRef) bool { return !slices.Contains(x.on, on) })
		if apart || slices.ContainsFunc(x.made, func(name string) bool { return slices.Contains(takes, name) }) {
			on = append(on, slices.DeleteFunc(slices.Clone(x.on), func(s hostir.StreamRef) bool {
				return slices.Contains(on, s)
			})...)
		}
	}
	if len(on) == 0 {
		return nil
	}
	w.coming = slices.DeleteFunc(w.coming, func(x coming) bool {
		return !slices.ContainsFunc(x.on, func(s hostir.StreamRef) bool { return !slices.Contains(on, s) })
	})
	return []hostir.Node{hostir.After(mainRef, on...)}
}

// rowsInTurn does the operations on the rows of each rank in turn. This rank's rows come first, but last in the last
// operation, and where nothing comes.
func (w *writer) rowsInTurn(s *stage) []hostir.Node {
	var nodes []hostir.Node
	ops, d := s.Ops, s.leaves
	switch {
	case d.passes != nil:
		return d.passes()
	case s.outward() && d.turns != nil:
		return w.rounds(s)
	case s.outward():
		return append(w.peersInTurn(s), w.ownLeaves(s)...)
	case s.departs() && d.turns == nil:
		ops = s.BeforeSum()
	}
	if !s.through && !s.comes.copied {
		nodes = w.operations(mainRef, s, ops, w.inBatch(s, w.own(s)))
		if s.pulls() && len(nodes) > 0 {
			nodes[0] = hostir.Remarked(nodes[0], "own rows, in place")
		}
	}
	nodes = append(w.within(nodes...), w.behindSums(s)...)
	if s.pulls() {
		nodes = append(hostir.MovesOf(s.here(), s.comes.ahead...), nodes...)
	}
	if peers := w.peersInTurn(s); s.comes.ownLast {
		nodes = append(peers, nodes...)
	} else {
		nodes = append(nodes, peers...)
	}
	if d.turns != nil {
		return append(nodes, w.rounds(s)...)
	}
	if s.departs() {
		return append(append(nodes, w.afterWork(s)), w.ownLeaves(s)...)
	}
	if (s != w.stages[len(w.stages)-1] || w.joined(s)) && len(w.sets) > 0 {
		nodes = append(nodes, w.afterWork(s))
	}
	return nodes
}

// behindSums lets what waits for the rows of a batch do so behind the sums of the one before, which peers have: a wait
// may hold the device, and keep it from what they wait for.
func (w *writer) behindSums(s *stage) []hostir.Node {
	switch a := s.comes; {
	case w.apart().n == 0 || !s.departs() || !w.late(s) || a.exchanges: // the network brings all batches first
		return nil
	case a.sent || a.withStep():
		return []hostir.Node{w.workAfter(s, s.leaves.sums)}
	default:
		return []hostir.Node{hostir.After(a.on, s.leaves.sums)}
	}
}

// joined says that the caller's stream waits for the products of a stage when it ends, not only at the end.
func (w *writer) joined(s *stage) bool {
	return s.summing != nil || s.GathersColumns() || s.comes.withStep()
}

// afterWork makes the caller's stream wait for all products, and for own rows that leave after those of others come:
// peers need them before they can meet this rank.
func (w *writer) afterWork(s *stage) hostir.Node {
	on := hostir.Refs(w.sets)
	if a := s.comes; slices.ContainsFunc(a.turns, func(t turns) bool { return t.instead != nil }) {
		on = append(on, a.on)
	}
	return hostir.After(mainRef, on...)
}

// order is that in which the rows of peers go through a stage.
func (w *writer) order(s *stage) []turns {
	switch {
	case s.pulls():
		return s.comes.turns
	case s.AddsShares():
		return []turns{w.shift(parts{}).onMain()}
	case s.leaves.turns != nil && s.Bare(): // nothing is done ahead of these
		return nil
	case s.leaves.order != nil && !s.Bare():
		return s.leaves.order
	case w.Original.OverHosts() && !s.Bare(): // on the streams that their rows came by
		return w.byHosts()
	}
	t := w.shift(parts{})
	if s.departs() {
		t.pieces[0] = w.pieceOf(s, t.pieces[0].rank)
	}
	switch {
	case s.Bare(): // no product makes them
		t = t.onMain()
	case s.outward() && w.pool.streams == 0: // one for own rows
		t.set.Count = hostir.Add(t.end, one)
	}
	return []turns{t}
}

// peersInTurn brings the pieces of the peers' rows, and does the operations on them.
func (w *writer) peersInTurn(s *stage) (nodes []hostir.Node) {
	a := s.comes
	var products []hostir.Node
	for _, t := range w.order(s) {
		bring, round := w.round(s, t)
		instead := hostir.MovesOf(s.here(), t.instead...)
		switch {
		case t.then != nil:
			products = append(products, w.nested(s, t)...)
		case !s.pulls(), a.oneLoop:
			nodes = append(nodes, t.over(instead, append(bring, round...)...)...)
		default:
			nodes = append(nodes, t.over(instead, bring...)...)
			products = append(products, t.over(nil, round...)...)
		}
	}
	return append(nodes, products...)
}

// round brings the pieces of a round, and does the operations on them.
func (w *writer) round(s *stage, t turns) (bring, round []hostir.Node) {
	a, d := s.comes, s.leaves
	round = hostir.MovesOf(s.here(), t.came...)
	for _, p := range t.pieces {
		piece := p
		p = w.inBatch(s, p)
		var behind []hostir.Node
		products, made := w.partials(t.work, s, s.Ops, p)
		switch {
		case p.into.Buffer != "": // they write where a peer's rows leave from
			products = append(products, into(p.into, made)...)
		case d.sends != nil:
			before, posts := d.sends(t.work, piece)
			round = slices.Concat(round, w.within(products...), hostir.MovesOf(s.Sums, before...))
			products, behind = into(d.from(p), made), hostir.MovesOf(s.Sums, posts...)
		default:
			products = append(products, made...)
		}
		if t.ofAll {
			products = []hostir.Node{hostir.Loop(hostir.RankIndex, zero, hostir.Size, products...)}
		}
		round = slices.Concat(round, w.within(products...), behind)
		if d.take != nil && s.outward() {
			round = append(round, hostir.MovesOf(s.Sums, d.take(piece)...)...)
		}
	}
	round = slices.Concat(round, hostir.MovesOf(s.Sums, t.leave...), t.behind)
	bring = hostir.MovesOf(s.here(), t.bring...)
	if s.pulls() && !a.withStep() && len(t.pieces) > 0 {
		bring = append(bring, hostir.After(t.work, cmp.Or(t.on, a.on)))
	}
	return bring, round
}

// nested are rounds that have rounds of their own: each piece goes through the stage before the next one is brought.
func (w *writer) nested(s *stage, t turns) []hostir.Node {
	bring, round := w.round(s, t)
	nodes := append(bring, round...)
	for _, inner := range t.then {
		nodes = append(nodes, w.nested(s, inner)...)
	}
	return t.over(nil, nodes...)
}

// own are this rank's rows of a stage's input, where they are.
func (w *writer) own(s *stage) piece {
	p := ofRank(hostir.Rank)
	if s.inTurn() || s.Gathers && len(s.taken) > 0 {
		p.from = w.shard(s, hostir.Expr{})
	}
	return p
}
