package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

var pulls = slices.Concat(
	by(pull, gather(ofRows)).has(intoCallers),
	by(pull, gather(ofBalanced)).with(lacksOf(wholeParts, "Parts"), func(l *lowering) {
		l.usual = func(w *writer, of leg) schedule.Way { return schedule.Pull{Once: w.scalesApart(of)} }
	}),
	by(pullOnce, gather(ofCounted)).with(lacksOf("", "Parts", "Streams", "WithStep"), func(l *lowering) {
		l.usual = func(*writer, leg) schedule.Way { return schedule.Pull{Once: true} }
	}),
	by(pull, gather(ofBatches)).with(lacksOf("the rows of %s come in batches", "Parts"), lacksKernel,
		lacksOf("one product takes all rows at once, and those of %s come in batches", "Once")),
	pullOf(pulling{}.rows, gather(ofRows).alone()).has(inPlace),
	pullOf(pulling{}.rows, gather(ofCounted).alone()),
	pullOf(partOfEach, gather(ofColumns), exchangeColumns).with(lacks(lack{why: "no kernel copies parts of columns",
		hint: "use schedule.CopyEngine or schedule.KernelSignals"}, "By kernel copies", "By kernels")),
	pullOf(partOfEach, gather(ofOperand), exchange),
	pullOf(fromNeighbour, rotation),
	pullOf(fromRoot, broadcast)).has(ofMoved)

// pull does rows that products take, one rank's after another's.
func pull(w *writer, s *stage, way schedule.Pull) error {
	const hint = "leave it out, or Once"
	switch {
	case w.edge.Carrier.Fused && way.Parts > 1:
		return w.refusal("By", "use schedule.Kernels", noKernel)
	case way.Once && len(s.Ops) == 0:
		return w.refusal("Once", "leave it out", "no product begins with rows of %s", w.edge.Of)
	case way.Once && way.Parts > 1:
		return w.refusal("Parts", hint, "all rows are multiplied at once")
	case way.Once && way.Streams > 0:
		return w.refusal("Streams", hint, "one product of all rows has the caller's stream")
	case way.Once && way.WithStep:
		return w.refusal("WithStep", hint, "one product of all rows has the caller's stream")
	case len(s.Ops) == 0 && way.Parts > 1:
		return w.refusal("Parts", leaveOut, noPart, w.edge.Of)
	case len(s.Ops) == 0 && way.Streams > 0:
		return w.refusal("Streams", leaveOut, noPart, w.edge.Of)
	}
	s.cut = w.inParts(way.Parts, "p", "Parts")
	s.arriving, s.asMade = pulling{s.cut, way.WithStep}.rows, true
	if s.once = way.Once || len(s.Ops) == 0 && !way.WithStep; s.once {
		return nil
	}
	return w.pooled(way.Streams)
}

// pullOnce does rows by counts, all of which one product takes, as New is told how many it has.
func pullOnce(w *writer, s *stage, way schedule.Pull) error {
	way.Once = true
	w.edge.Way = way
	return pull(w, s, way)
}

// pullOf does what comes whole by an arrival: no product takes a part of it alone. It refuses what else that can't do.
func pullOf(arrives func(*writer, *stage) arrival, of ...need) rowsOfTable {
	return by(func(_ *writer, s *stage, _ schedule.Pull) error {
		s.arriving, s.once = arrives, !s.AddsShares()
		return nil
	}, of...).with(lacksOf(noPart, "Parts", "Streams", "WithStep", "Once"), lacksKernel)
}

// pulling is how a rank copies peers' rows from their owners: those of rank r+i in round i.
type pulling struct {
	parts
	withStep bool // on the streams of the products
}

func (x pulling) rows(w *writer, s *stage) arrival {
	n := x.parts
	t, a := w.shift(n), arrival{on: copyRef, reads: s.Input}
	made := w.makerOf(s)
	if made != nil { // a part of each rank in a round, with streams as if all parts were in one loop
		set := t.set
		t = w.shift(parts{})
		t.pieces[0].part, t.set, t.work = n.part(), set, w.worker(n.chunk(step))
	}
	if x.withStep {
		a.on = t.work
	}
	p, word := t.pieces[0], w.named(ready, s.here())
	a.words = []hostir.Semaphore{n.semaphore(word)}
	a.ready = n.posts(word)
	from := hostir.View{Buffer: s.Input, Peer: p.rank, Index: p.part}
	if w.n > 1 {
		from.Index = w.part()
	}
	switch {
	case w.n > 1 && w.Order == stages.BatchByBatch && x.withStep:
		a.begin = t.over(nil, hostir.Wait(a.on, word, p.rank))
	case w.n > 1 && w.Order == stages.BatchByBatch:
		a.begin = []hostir.Node{hostir.Wait(a.on, word, every)}
	default:
		t.bring = []hostir.Node{hostir.Wait(a.on, word, p.rank).Member(p.part)}
	}
	t.bring = append(t.bring, w.within(hostir.Set(a.on, w.at(s.here(), p), from))...)
	if a.turns = []turns{t}; made != nil {
		a.turns = []turns{w.partsMade(made, s, a.ready[0], t, a.on)}
		a.ready, a.ownLast = nil, true
	}
	return a
}

// noPart is the fact of what comes whole.
const noPart = "no product takes a part of %s alone"

var groups = by(func(w *writer, s *stage, way schedule.Grouped) error {
	s.arriving = groupedRows
	return nil
}, gather(ofRows)).with(because(append(slices.Clone(rowsInTurn), hole{cutInto(ofBalanced),
	"it multiplies several ranks' parts as one, and of parts that differ a plan has the place of each, or of all"})))

// groupedRows pulls rows in the order r+1, r+2, ..., and has them multiplied as two blocks: those of the ranks after
// this one, r+1 to D-1, when the last of them are there, and then those of the ranks before it, 0 to r-1.
func groupedRows(w *writer, s *stage) arrival {
	r, last, from := hostir.Rank, hostir.Sub(hostir.Size, one), hostir.Var("from")
	a := pulling{}.rows(w, s)
	block := func(i int64, skips, first, end, peer hostir.Expr, ranks piece) turns {
		return turns{skips: skips, pieces: []piece{ranks}, work: hostir.StreamAt(workName, hostir.Const(i)),
			set: hostir.StreamSet{Name: workName, First: hostir.Const(0), Count: hostir.Const(2)},
			bring: []hostir.Node{hostir.Loop(stepIndex, first, end, hostir.Bind("from", peer),
				hostir.Wait(a.on, a.words[0].Name, from),
				hostir.Set(a.on, w.rowsAt(s.here(), from), hostir.Whole(s.Input).At(from)))}}
	}
	around := hostir.Sub(hostir.Size, r)
	a.turns = []turns{
		block(0, last, one, around, hostir.Add(r, step), piece{rank: hostir.Add(r, one), ranks: hostir.Sub(last, r)}),
		block(1, hostir.Const(0), around, hostir.Size, hostir.Sub(hostir.Add(r, step), hostir.Size),
			piece{rank: hostir.Const(0), ranks: r})}
	return a
}
