package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

var pulls = slices.Concat(
	by(pull, gather(ofRows)),
	by(pull, gather(ofBalanced)).with(lacksOf(wholeParts, "Parts"), usuallyOnce),
	by(pull, gather(ofCounted)).with(lacksOf(takenAtOnce, "Parts", "Streams", "WithStep"), usuallyOnce),
	by(pull, gather(ofBatches)).with(lacksOf(inBatches, "Parts"), lacksKernel),
	pullOf(pulling{}.rows, gather(ofRows).Alone(), gather(ofCounted).Alone()),
	pullOf(partOfEach, gather(ofColumns), stages.ExchangeColumns).has(overwrites).with(columnsWhole),
	pullOf(partOfEach, gather(ofOperand)),
	pullOf(partOfEach, stages.Exchange, stages.ExchangeCounted).has(overwrites),
	pullOf(fromNeighbour, stages.Rotation),
	pullOf(fromRoot, stages.Broadcast)).has(ofMoved | intoCallers)

// takenAtOnce is the fact of rows that one product takes.
const takenAtOnce = "all rows are multiplied at once"

// usuallyOnce has one product take rows that none takes a part of alone.
func usuallyOnce(l *lowering) {
	l.usual = func(w *writer, l leg) schedule.Way {
		return schedule.Pull{Once: l.Of == ofCounted || w.ScalesApart(l.stage.Stage, l.Of)}
	}
}

// pull does rows that products take: one rank's after another's, or all by one product. One takes those by counts, as
// New is told how many it has.
func pull(w *writer, s *stage, way schedule.Pull) error {
	const hint = "leave it out, or Once"
	way.Once = way.Once || w.Comes(s.Stage).Of == ofCounted
	w.edge.Way = way
	switch {
	case w.edge.Carrier.Fused && way.Parts > 1:
		return w.refusal("By", "use schedule.Kernels", noKernel)
	case way.Once && len(s.Ops) == 0:
		return w.refusal("Once", "leave it out", "no product begins with rows of %s", w.edge.Of)
	case way.Once && w.apart().n > 0:
		return w.refusal("Once", leaveOut, "one product takes all rows of %s, and batches of its sums leave before "+
			"the last one comes", w.edge.Of)
	case way.Once && way.Parts > 1:
		return w.refusal("Parts", hint, takenAtOnce)
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
	s.arriving, s.asMade = pulling{parts: s.cut, withStep: way.WithStep}.rows, true
	s.once = way.Once || len(s.Ops) == 0 && !way.WithStep
	return w.pooled(s, "Streams", way.Streams)
}

// pullOf does what comes whole by an arrival: no product takes a part of it alone. It refuses what else that can't do.
func pullOf(arrives func(*writer, *stage) arrival, of ...need) rowsOfTable {
	return by(func(_ *writer, s *stage, _ schedule.Pull) error {
		s.arriving, s.once = arrives, !s.AddsShares()
		return nil
	}, of...).with(comesAtOnce, lacksKernel)
}

// pulling is how a rank copies peers' rows from their owners: those of rank r+i in round i.
type pulling struct {
	parts
	withStep bool // on the streams of the products
	// views are those of a copy, where other parts of a peer's tensor come than its rows.
	views func(peer hostir.Expr) (to, from hostir.View)
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
	p, word := t.pieces[0], w.words(ready, s.here(), n.members())
	a.ready = n.posts(word)
	to, from := w.comesTo(s, p), w.shard(s, p.part).At(p.rank)
	if x.views != nil {
		to, from = x.views(p.rank)
	}
	ahead := []hostir.Node{hostir.Wait(a.on, word, every)}
	if x.withStep {
		ahead = t.over(nil, hostir.Wait(a.on, word, p.rank))
	}
	t.bring = append(w.opened(&a, ahead, hostir.Wait(a.on, word, p.rank).Member(p.part)),
		w.within(hostir.Set(a.on, to, from))...)
	if a.turns = []turns{t}; made != nil {
		a.turns = []turns{w.partsMade(made, s, word, t, a.on)}
		a.ready, a.ownLast = nil, true
	}
	return a
}

// columnsWhole says that the copy engine alone makes strided copies.
var columnsWhole = lacks(lack{why: "no kernel copies parts of columns",
	hint: "use schedule.CopyEngine or schedule.KernelSignals"}, "By kernel copies", "By kernels")

// noPart is the fact of what comes whole.
const noPart = "no product takes a part of %s alone"

var comesAtOnce = lacksOf(noPart, "Parts", "Streams", "WithStep", "Once")

var groups = by(func(w *writer, s *stage, way schedule.Grouped) error {
	s.arriving = groupedRows
	return w.begins(s)
}, gather(ofRows), gather(ofBatches)).with(because(append(slices.Clone(rowsInTurn), hole{cutInto(ofBalanced),
	"it multiplies several ranks' parts as one, and of parts that differ a plan has the place of each, or of all"})))

// begins refuses rows that no product takes as they come.
func (w *writer) begins(s *stage) error {
	if len(s.Ops) > 0 {
		return nil
	}
	return refused(w.path(), "use "+plainBringing, "no product is made of %s as its rows come", w.edge.Of)
}

// groupedRows pulls rows in the order r+1, r+2, ..., and has them multiplied as two blocks: those of the ranks after
// this one, r+1 to D-1, when the last of them are there, and then those of the ranks before it, 0 to r-1.
func groupedRows(w *writer, s *stage) arrival {
	r, last, from := hostir.Rank, hostir.Sub(hostir.Size, one), hostir.Var("from")
	a := pulling{}.rows(w, s)
	block := func(i int64, skips, first, end, peer hostir.Expr, ranks piece) turns {
		return turns{skips: skips, pieces: []piece{ranks}, work: hostir.StreamAt(workName, hostir.Const(i)),
			set: hostir.StreamSet{Name: workName, First: zero, Count: hostir.Const(2)},
			bring: []hostir.Node{hostir.Loop(stepIndex, first, end, slices.Concat(
				[]hostir.Node{hostir.Bind("from", peer)},
				w.opened(&a, a.begin, hostir.Wait(a.on, w.named(ready, s.here()), from)),
				w.within(hostir.Set(a.on, w.rowsAt(s.here(), from), w.shard(s, hostir.Expr{}).At(from))))...)}}
	}
	around := hostir.Sub(hostir.Size, r)
	a.turns = []turns{
		block(0, last, one, around, hostir.Add(r, step), piece{rank: hostir.Add(r, one), ranks: hostir.Sub(last, r)}),
		block(1, zero, around, hostir.Size, hostir.Sub(hostir.Add(r, step), hostir.Size),
			piece{rank: zero, ranks: r})}
	return a
}

// A stage without operations may give the caller what it has of a tensor otherwise: each rank takes its part from every
// rank, and no operation reads what comes.

// transferred cuts the caller's tensors for a transfer. of is the view that a rank takes of every peer's input; place
// is where it puts one peer's; own puts its own there.
func (w *writer) transferred(s *stage) (of, place func(rank hostir.Expr) hostir.View, own hostir.Node) {
	part := func(buffer string, axis int) func(rank hostir.Expr) hostir.View {
		w.byRank(buffer)
		if b := w.program.At(buffer); axis > 1 && len(b.Tensor.Axes) == 2 {
			if b.Rows.IsZero() { // else it is cut
				b.CutColumns(schedule.D)
			}
			return func(rank hostir.Expr) hostir.View { return hostir.Columns(buffer, rank) }
		}
		w.cut(buffer, schedule.D)
		return func(rank hostir.Expr) hostir.View {
			if w.fine[buffer] > 0 { // products take parts of a rank's rows
				return w.rowsAt(buffer, rank)
			}
			return hostir.Chunk(buffer, rank)
		}
	}
	of = func(hostir.Expr) hostir.View { return hostir.Whole(s.Input) }
	place = part(s.here(), s.Moved.From.Axis)
	if n, at := s.Moved.From.Shift, place; n != 0 {
		place = func(rank hostir.Expr) hostir.View {
			return at(hostir.Mod(hostir.Add(rank, hostir.Onwards(-n)), hostir.Size))
		}
	}
	if s.Moved.To.Spread() {
		of = part(s.Input, s.Moved.To.Axis)
	}
	if w.Uneven(s.Input) {
		w.counted(s.Input, exchangedCounts(s.Moved.From))
		w.counted(s.here(), exchangedCounts(s.Moved.To))
	}
	return of, place, hostir.Set(mainRef, place(hostir.Rank), of(hostir.Rank))
}

// partOfEach takes this rank's part from every rank, r+1 first, and its own at the same time. It also brings a weight,
// or rows that are multiplied one rank's after another's: each product adds its share of a gradient to the sum of those
// before, so one stream has them all.
func partOfEach(w *writer, s *stage) arrival {
	if s.AddsShares() {
		a := pulling{}.rows(w, s)
		a.turns[0], a.oneLoop = a.turns[0].onMain(), true
		return a
	}
	of, place, own := w.transferred(s)
	a := pulling{views: func(peer hostir.Expr) (to, from hostir.View) {
		return place(peer), of(hostir.Rank).At(peer)
	}}.rows(w, s)
	a.own = own
	return a
}

// fromNeighbour copies a shard from the one rank that has it.
func fromNeighbour(w *writer, s *stage) arrival {
	distance := hostir.Onwards(s.Moved.To.Shift - s.Moved.From.Shift)
	from, to := hostir.Var("from"), hostir.Var("to")
	ready, read := w.word(ready, s.here()), w.word(read, s.here())
	return onMain(hostir.Bind("from", hostir.Behind(distance)), hostir.Bind("to", hostir.Ahead(distance)),
		hostir.If{X: from, Y: hostir.Rank,
			Then: []hostir.Node{hostir.Set(mainRef, hostir.Whole(s.Into), hostir.Whole(s.Input))},
			Else: []hostir.Node{
				hostir.Post(mainRef, ready, to),
				hostir.Wait(mainRef, ready, from),
				hostir.Set(mainRef, hostir.Whole(s.Into), hostir.Whole(s.Input).At(from)),
				hostir.Post(mainRef, read, from),
				hostir.Wait(mainRef, read, to).Described(s.Input + " may be overwritten afterwards"),
			}})
}

func fromRoot(w *writer, s *stage) arrival {
	ready, read := w.word(ready, s.here()), w.word(read, s.here())
	return onMain(hostir.If{X: hostir.Rank, Y: zero, // the root
		Then: []hostir.Node{
			hostir.Post(mainRef, ready, every),
			hostir.Set(mainRef, w.whole(s.Into), w.whole(s.Input)),
			hostir.Wait(mainRef, read, every).Described(s.Input + " may be overwritten afterwards"),
		},
		Else: []hostir.Node{
			hostir.Wait(mainRef, ready, zero),
			hostir.Set(mainRef, w.whole(s.Into), w.whole(s.Input).At(zero)),
			hostir.Post(mainRef, read, zero),
		}})
}

// onMain is an arrival of one copy, on the caller's stream.
func onMain(nodes ...hostir.Node) arrival { return arrival{on: mainRef, all: nodes} }
