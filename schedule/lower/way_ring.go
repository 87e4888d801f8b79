package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var (
	rings = slices.Concat(roundRing(ringed), by(ringed, gather(ofRows).Alone()).with(comesAtOnce),
		by(ringed, gather(ofCounted).Alone()).with(comesAtOnce, wholeCounts)).has(intoCallers).with(because(rowsInTurn))
	pushRings = roundRing(ringPushed, intoPlans).with(because(pushHoles))
)

// roundRing are the gathers by a way round the ring that products take, with what else there is to say of columns.
func roundRing[W schedule.Way](write func(*writer, *stage, W) error, columns ...func(*lowering)) rowsOfTable {
	return slices.Concat(by(write, gather(ofRows)),
		by(write, gather(ofBalanced)).with(lacksOf(wholeParts, "Direction both")),
		by(write, gather(ofBatches)).with(lacksOf(inBatches, "Direction both")),
		by(write, gather(ofCounted)).with(comesAtOnce, wholeCounts),
		by(write, gather(ofColumns)).with(columnsWhole, comesAtOnce,
			lacksOf("a strided copy moves a rank's columns of %s in all rows", "Direction both")).with(columns...),
		by(write, gather(ofOperand)).with(comesAtOnce, behindSums))
}

// wholeCounts says that a rank's counted rows go one way.
var wholeCounts = lacksOf("Bind is told how many rows of %s each rank has, and not how many halves have",
	"Direction both")

func ringed(w *writer, s *stage, way schedule.Ring) error {
	if way.WithStep && w.comesWhole(s) {
		return w.refusal("WithStep", leaveOut, noPart, w.edge.Of)
	}
	return w.passedOn(s, way.Direction, way.Streams, ring{directed(way.Direction), way.WithStep}.pulled)
}

func ringPushed(w *writer, s *stage, way schedule.PushRing) error {
	return w.passedOn(s, way.Direction, way.Streams, ring{lanes: directed(way.Direction)}.pushed)
}

// passedOn has the rows that are being lowered go round, half of them each way where both are taken.
func (w *writer) passedOn(s *stage, way schedule.Direction, streams int, rows func(w *writer, s *stage) arrival) error {
	s.arriving, s.once = rows, w.comesWhole(s)
	halves := 1
	if way == schedule.Both {
		halves = 2
	}
	s.cut = w.inParts(halves, "", "Direction")
	return w.pooled(s, "Streams", streams)
}

// ring is rows that go from rank to rank: a rank has those of another one from its neighbour, who had them a round ago.
type ring struct {
	lanes    []lane
	withStep bool // on the streams of the products
}

// lane is one direction round the ring.
type lane struct {
	next, prev hostir.Expr   // the neighbours
	to, from   hostir.Expr   // their names in the loop
	got, had   hostir.Expr   // the rank whose rows arrive in a round, and in the one before
	names      []hostir.Node // of these
	parts                    // that a rank's rows travel in, one a lane
	mine       int64         // the number of this lane's
}

// directed are the lanes of a direction: one, or two with half of each rank's rows.
func directed(way schedule.Direction) []lane {
	round := func(next, prev func(hostir.Expr) hostir.Expr, suffix string) lane {
		got, had := "got"+suffix, "had"+suffix
		return lane{next: next(one), prev: prev(one), to: hostir.Var("to"), from: hostir.Var("from"),
			got: hostir.Var(got), had: hostir.Var(had),
			names: []hostir.Node{hostir.Bind(got, prev(step)), hostir.Bind(had, prev(hostir.Sub(step, one)))}}
	}
	first := round(hostir.Ahead, hostir.Behind, "")
	if way == schedule.Backward {
		first = round(hostir.Behind, hostir.Ahead, "")
	}
	first.names = append([]hostir.Node{hostir.Bind("to", first.next), hostir.Bind("from", first.prev)}, first.names...)
	if way != schedule.Both {
		return []lane{first}
	}
	back := round(hostir.Behind, hostir.Ahead, "Back")
	back.to, back.from = first.from, first.to
	first.n, back.n, back.mine = 2, 2, 1
	return []lane{first, back}
}

// of is this lane's part of a rank's rows.
func (l lane) of(rank hostir.Expr) piece { return piece{rank: rank, part: l.member()} }

// member of a semaphore with one for each lane.
func (l lane) member() hostir.Expr { return l.numbered(hostir.Const(l.mine)) }

// hop is the member of a semaphore with one for each lane in each round, of each batch that has rounds of its own.
func (w *writer) hop(l lane, round hostir.Expr) hostir.Expr {
	return l.chunkOf(w.apart().chunk(round), hostir.Const(l.mine))
}

// each is every lane's nodes, one lane after the other.
func (x ring) each(f func(l lane) []hostir.Node) (nodes []hostir.Node) {
	for _, l := range x.lanes {
		nodes = append(nodes, f(l)...)
	}
	return nodes
}

// signals are a word of every lane, which a rank without peers leaves out.
func (x ring) signals(of func(l lane) hostir.Node) []hostir.Node {
	return []hostir.Node{hostir.If{X: hostir.Size, Y: one,
		Else: x.each(func(l lane) []hostir.Node { return []hostir.Node{of(l)} })}}
}

// rounds are an arrival round the ring, with a word for each round and one for the whole run, whose names it
// returns.
func (x ring) rounds(w *writer, s *stage, hop, once string) (a arrival, each, run string) {
	n := parts{n: int64(len(x.lanes))}
	t := w.turns(one, hostir.Size)
	for _, l := range x.lanes {
		t.names, t.pieces = append(t.names, l.names...), append(t.pieces, l.of(l.got))
	}
	each = w.words(hop, s.here(), n.all(w.apart().all(hostir.Size)))
	return arrival{turns: []turns{t}, on: copyRef}, each, w.words(once, s.here(), n.members())
}

// pulled copies from the rank before the rows that it got a round ago, and tells the next rank when they are here.
// Either way a round posts before it waits, so the ring can't hold itself.
func (x ring) pulled(w *writer, s *stage) arrival {
	a, word, done := x.rounds(w, s, ready, read)
	last := copyRef
	if x.withStep {
		a.on, last = w.work, w.worker(hostir.Sub(step, one))
	}
	a.ready = w.apart().inTurn(x.signals(func(l lane) hostir.Node {
		return hostir.Post(mainRef, word, l.next).Member(w.hop(l, one))
	})...)
	get := func(from func(l lane) hostir.View) []hostir.Node {
		return x.each(func(l lane) []hostir.Node {
			return append([]hostir.Node{hostir.Wait(a.on, word, l.from).Member(w.hop(l, step))},
				w.within(hostir.Set(a.on, w.comesTo(s, l.of(l.got)), from(l).At(l.from)))...)
		})
	}
	others := x.each(func(l lane) []hostir.Node {
		return []hostir.Node{hostir.Post(last, word, l.to).Member(w.hop(l, step))}
	})
	if x.withStep {
		others = append(others, hostir.After(a.on, last))
	}
	a.turns[0].bring = []hostir.Node{hostir.If{X: step, Y: one, // the first takes a neighbour's own rows
		Then: get(func(l lane) hostir.View { return w.shard(s, l.member()) }),
		Else: append(others, get(func(l lane) hostir.View { return w.comesTo(s, l.of(l.got)) })...)}}
	a.close = x.signals(func(l lane) hostir.Node { return hostir.Post(mainRef, done, l.prev).Member(l.member()) })
	a.closed = x.signals(func(l lane) hostir.Node { return hostir.Wait(mainRef, done, l.next).Member(l.member()) })
	return a
}

// pushed copies the rows that have come to the next rank.
func (x ring) pushed(w *writer, s *stage) arrival {
	a, came, open := x.rounds(w, s, arrived, free)
	a.free = x.signals(func(l lane) hostir.Node { return hostir.Post(mainRef, open, l.prev).Member(l.member()) })
	opened := func(l lane) []hostir.Node {
		wait := func(l lane) hostir.Node { return hostir.Wait(a.on, open, l.next).Member(l.member()) }
		return w.opened(&a, x.signals(wait), hostir.Wait(a.on, open, l.to).Member(l.member()))
	}
	push := func(l lane, rank hostir.Expr, rows hostir.View) []hostir.Node {
		return append(w.within(hostir.Set(a.on, w.comesTo(s, l.of(rank)).At(l.to), rows)),
			hostir.Post(a.on, came, l.to).Member(w.hop(l, step)))
	}
	first := x.each(func(l lane) []hostir.Node {
		return slices.Concat(opened(l), push(l, hostir.Rank, w.shard(s, l.member())))
	})
	a.turns[0].bring = []hostir.Node{hostir.If{X: step, Y: one, Then: first,
		Else: x.each(func(l lane) []hostir.Node { return push(l, l.had, w.comesTo(s, l.of(l.had))) })}}
	a.turns[0].bring = append(a.turns[0].bring, x.each(func(l lane) []hostir.Node {
		return []hostir.Node{hostir.Wait(a.on, came, l.from).Member(w.hop(l, step))}
	})...)
	return a
}
