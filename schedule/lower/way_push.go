package lower

import (
	"cmp"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

var pushes = slices.Concat(by(push, gather(ofRows)), by(push, gather(ofBalanced)).with(lacksOf(wholeParts, "Parts")),
	by(push, gather(ofBatches)).with(lacksOf(inBatches, "Parts"), lacksKernel),
	slices.Concat(by(push, gather(ofCounted)), by(pushPart, gather(ofOperand)),
		by(pushPart, stages.Exchange, stages.ExchangeCounted).has(overwrites).with(intoPlans),
		by(pushPart, gather(ofColumns), stages.ExchangeColumns).has(overwrites).with(columnsWhole, intoPlans)).
		with(comesAtOnce, lacksKernel)).with(because(append([]hole{sendsToEach}, pushHoles...)))

// intoPlans says that peers write what comes, which is memory of the plan.
var intoPlans = except(nil, "what comes into the caller's memory, which peers do not write")

// pushPart does an operand, which is taken at once, or in the order in which its parts come.
func pushPart(_ *writer, s *stage, _ schedule.Push) error {
	s.arriving, s.once = pushedPart, !s.AddsShares()
	return nil
}

// pushedPart copies this rank's part into the memory of all others, while theirs arrive.
func pushedPart(w *writer, s *stage) arrival {
	of, place, own := w.transferred(s)
	a := w.pushed(s, func(to hostir.Expr) (dst, src hostir.View) { return place(hostir.Rank).At(to), of(to) })
	a.own = own
	t := a.turns[0].onMain()
	if a.oneLoop = s.AddsShares(); a.oneLoop {
		t.came = []hostir.Node{hostir.Wait(mainRef, w.named(arrived, s.here()), t.pieces[0].rank)}
	}
	a.turns = []turns{t}
	return a
}

func push(w *writer, s *stage, way schedule.Push) error {
	s.arriving, s.once, s.cut = pushedRows, w.comesWhole(s), w.inParts(way.Parts, "p", "Parts")
	return w.pooled(s, "Streams", way.Streams)
}

// pushedRows copies own rows into the memory of all others, while theirs arrive.
func pushedRows(w *writer, s *stage) arrival {
	return w.pushed(s, func(to hostir.Expr) (dst, src hostir.View) {
		return w.at(s.here(), piece{rank: hostir.Rank, part: s.cut.part()}).At(to), w.shard(s, s.cut.part())
	})
}

// pushed copies own views into the memory of rank r-i in round i, while those of rank r+i arrive. Each rank says before
// everything that its memory may be written. In each round it pushes first, and the products wait for what arrives. The
// rank that pushes to it does the same, so no circle of ranks can wait for each other.
func (w *writer) pushed(s *stage, views func(to hostir.Expr) (dst, src hostir.View)) arrival {
	cut, words := s.cut, cmp.Or(w.apart(), s.cut)
	t, a := w.shift(cut), arrival{on: copyRef}
	p, to := t.pieces[0], hostir.Var("to")
	dst, src := views(to)
	open, came := w.words(free, s.here(), cut.members()), w.words(arrived, s.here(), words.members())
	a.free = cut.posts(open)
	send := slices.Concat([]hostir.Node{hostir.Bind("to", hostir.Behind(cut.turn()))},
		w.opened(&a, []hostir.Node{hostir.Wait(a.on, open, every)}, hostir.Wait(a.on, open, to).Member(p.part)),
		w.within(hostir.Set(a.on, dst, src)),
		[]hostir.Node{hostir.Post(a.on, came, to).Member(words.part())})
	if a.sent = !s.once; a.sent {
		t.bring = send
	} else {
		a.sends = turns{first: t.first, end: t.end, names: cut.ofStep(), bring: send}.brought()
	}
	a.turns = []turns{t.awaiting(s, came, p.rank, words)}
	return a
}

// awaiting are rounds in which products wait for what a peer sends, or the copies do, where operations begin later.
func (t turns) awaiting(s *stage, came string, from hostir.Expr, words parts) turns {
	wait := func(on hostir.StreamRef) hostir.Node { return hostir.Wait(on, came, from).Member(words.part()) }
	if s.once {
		t.bring = append(t.bring, wait(copyRef))
	} else {
		t.came = []hostir.Node{wait(t.work)}
	}
	return t
}

var broadcasts = slices.Concat(by(broadcastInTurn, gather(ofRows), gather(ofBalanced), gather(ofBatches)),
	by(broadcastInTurn, gather(ofOperand)).with(comesAtOnce, behindSums),
	by(broadcastInTurn, gather(ofCounted)).with(comesAtOnce),
	by(broadcastInTurn, gather(ofColumns)).with(columnsWhole, intoPlans, comesAtOnce)).
	with(because(pushHoles))

func broadcastInTurn(w *writer, s *stage, way schedule.Broadcast) error {
	s.arriving, s.once = broadcastRows, w.comesWhole(s)
	return w.pooled(s, "Streams", way.Streams)
}

// broadcastRows takes a root a round: in round i rank i pushes its rows to all peers, and the others multiply them when
// they are there. A rank after its own round waits for a root's rows after its own push, so waits lead to lower roots
// only.
func broadcastRows(w *writer, s *stage) arrival {
	words := w.apart()
	open, came := w.word(free, s.here()), w.words(arrived, s.here(), words.members())
	a := arrival{on: copyRef, sent: !s.once, free: []hostir.Node{hostir.Post(mainRef, open, every)}}
	t := w.turns(zero, hostir.Size) // a round for each root, the rank itself among them
	t.skips, t.pieces = step, []piece{ofRank(step)}
	opened := hostir.Wait(copyRef, open, every)
	t.instead = append(w.opened(&a, []hostir.Node{opened}, opened),
		hostir.Loop("q", one, hostir.Size, append([]hostir.Node{hostir.Bind("to", hostir.Ahead(hostir.Var("q")))},
			w.within(hostir.Set(copyRef, w.comesTo(s, ofRank(hostir.Rank)).At(hostir.Var("to")),
				w.shard(s, hostir.Expr{})))...)...),
		hostir.Post(copyRef, came, every).Member(words.part()))
	a.turns = []turns{t.awaiting(s, came, step, words)}
	return a
}

// sendsToEach is the fact of a way by which every rank sends something to each of the others.
var sendsToEach = hole{func(n need) bool { return n.Kind == edges.Broadcast || n.Kind == edges.Permutation },
	"by it every rank sends to each of the others, and here one rank sends alone, or each rank to one"}

// pushHoles are the facts of ways by which peers write what comes.
var pushHoles = append([]hole{{func(n need) bool { return n.Bare },
	"a rank writes no caller's memory at a peer, where an abort would spoil a result"}}, rowsInTurn...)

// rowsInTurn are the facts of ways that bring one rank's rows after another's to products.
var rowsInTurn = []hole{
	gathersAll,
	{func(n need) bool { return (n.Bare || n.Of == ofColumns) && !n.Sums() },
		"no product takes some rows while others come"},
	{cutInto(ofOperand), "it orders the rows that products take, and this is taken at once, or its parts in one order"},
	{func(n need) bool { return n.Of == ofCounted && !n.Bare },
		"one product takes all counted rows, as New is told their sum alone, and by it products take some " +
			"before others"},
}
