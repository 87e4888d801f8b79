package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var pushes = slices.Concat(by(push, gather(ofRows)), by(push, gather(ofBalanced)).with(lacksOf(wholeParts, "Parts")),
	by(pushPart, gather(ofOperand)).with(lacksOf(noPart, "Parts", "Streams"), lacksKernel)).with(because(pushHoles))

// pushPart does an operand, which is taken at once, or in the order in which its parts come.
func pushPart(_ *writer, s *stage, _ schedule.Push) error {
	s.arriving, s.once = pushedPart, !s.AddsShares()
	return nil
}

// pushedPart copies this rank's part into the memory of all others, while theirs arrive.
func pushedPart(w *writer, s *stage) arrival {
	w.transferred(s)
	a := pushedRows(w, s)
	t := a.turns[0].onMain()
	if a.oneLoop = s.AddsShares(); a.oneLoop {
		t.came = hostir.MovesOf(s.here(), hostir.Wait(mainRef, w.named(arrived, s.here()), t.pieces[0].rank))
	}
	a.turns = []turns{t}
	return a
}

func push(w *writer, s *stage, way schedule.Push) error {
	s.arriving, s.once, s.cut = pushedRows, s.takenWhole(), w.inParts(way.Parts, "p", "Parts")
	return w.pooled(s, "Streams", way.Streams)
}

// pushedRows copies own rows into the memory of rank r-i in round i, while those of rank r+i arrive. Each rank says
// before everything that its memory may be written. In each round it pushes first, and the products wait for what
// arrives. The rank that pushes to it does the same, so no circle of ranks can wait for each other.
func pushedRows(w *writer, s *stage) arrival {
	cut := s.cut
	t, a := w.shift(cut), arrival{on: copyRef, sent: true}
	p, to := t.pieces[0], hostir.Var("to")
	open, came := w.words(free, s.here(), cut.members()), w.words(arrived, s.here(), cut.members())
	a.free = cut.posts(open)
	t.bring = []hostir.Node{hostir.Bind("to", hostir.Behind(cut.turn())),
		hostir.Wait(a.on, open, to).Member(p.part),
		hostir.Set(a.on, w.at(s.here(), piece{rank: hostir.Rank, part: p.part}).At(to),
			hostir.View{Buffer: s.Input, Index: p.part}),
		hostir.Post(a.on, came, to).Member(p.part)}
	if s.once { // copies wait for what comes, too
		t.bring, a.sent = append(t.bring, hostir.Wait(a.on, came, p.rank).Member(p.part)), false
	} else {
		t.came = hostir.MovesOf(s.here(), hostir.Wait(t.work, came, p.rank).Member(p.part))
	}
	a.turns = []turns{t}
	return a
}

var broadcasts = slices.Concat(by(broadcastInTurn, gather(ofRows), gather(ofBalanced)),
	by(broadcastInTurn, gather(ofOperand)).with(lacksOf(noPart, "Streams"))).with(because(pushHoles))

func broadcastInTurn(w *writer, s *stage, way schedule.Broadcast) error {
	s.arriving, s.once = broadcastRows, s.takenWhole()
	return w.pooled(s, "Streams", way.Streams)
}

// broadcastRows takes a root a round: in round i rank i pushes its rows to all peers, and the others multiply them when
// they are there. A rank after its own round waits for a root's rows after its own push, so waits lead to lower roots
// only.
func broadcastRows(w *writer, s *stage) arrival {
	open, came, to := w.word(free, s.here()), w.word(arrived, s.here()), hostir.Var("to")
	t := w.turns(zero, hostir.Size) // a round for each root, the rank itself among them
	t.skips, t.pieces = step, []piece{ofRank(step)}
	t.instead = []hostir.Node{
		hostir.Wait(copyRef, open, every),
		hostir.Loop("q", one, hostir.Size,
			hostir.Bind("to", hostir.Ahead(hostir.Var("q"))),
			hostir.Set(copyRef, w.rowsAt(s.here(), hostir.Rank).At(to), hostir.Whole(s.Input))),
		hostir.Post(copyRef, came, every)}
	if s.once {
		t.bring = []hostir.Node{hostir.Wait(copyRef, came, step)}
	} else {
		t.came = hostir.MovesOf(s.here(), hostir.Wait(t.work, came, step))
	}
	return arrival{turns: []turns{t}, on: copyRef, sent: !s.once,
		free: []hostir.Node{hostir.Post(mainRef, open, every)}}
}

// pushHoles are the facts of ways by which peers write what comes.
var pushHoles = append([]hole{memoryOfPeers, gathersAll, {func(n need) bool { return n.bare },
	"peers may not write the caller's memory"}}, rowsInTurn...)

// rowsInTurn are the facts of ways that bring one rank's rows after another's to products.
var rowsInTurn = []hole{
	memoryOfPeers,
	gathersAll,
	{func(n need) bool { return n.bare && !n.sums() }, "no product takes some rows while others come"},
	{cutInto(ofBatches), "it brings a rank's rows once, and each batch has some of them"},
	{cutInto(ofOperand), "it orders the rows that products take, and this is taken at once, or its parts in one order"},
	{func(n need) bool { return n.of == ofCounted && !n.bare },
		"one product takes all counted rows, as New is told their sum alone, and by it products take some " +
			"before others"},
}
