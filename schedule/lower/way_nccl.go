package lower

import (
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

// NCCL gathers rows or adds up partial results at once, on the stream of the products: nothing runs beside it. Or it
// gathers them in parts, or a batch of them after the other, and each is multiplied while the next one travels. Weights
// come on a stream of their own, beside the products ahead of theirs.

var overNCCL = slices.Concat(
	by(gatheredByNCCL, gather(ofRows)).has(intoCallers),
	by(gatheredByNCCL, gather(ofBatches)).has(intoCallers).with(lacksOf(inBatches, "Parts")),
	by(gatheredByNCCL, gather(ofSteps)).with(
		lacksOf("the stream axis of what is made of %s has as many steps as there are collectives", "Parts")),
	by(gatheredByNCCL, gather(ofRows).Alone()).with(lacksOf(noPart, "Parts")),
	by(gatheredByNCCL, gather(ofOperand)).with(aside(collectiveSet),
		lacksOf("one collective brings all of %s", "Parts")),
	by(summedByNCCL, reduce(ofRows), reduceAll(ofRows)),
	by(summedByNCCL, reduce(ofBatches), reduceAll(ofBatches)).with(lacksOf(sumsInBatches, "Parts")),
	by(summedByNCCL, reduce(ofRows).Alone(), reduceAll(ofRows).Alone()).with(lacksOf(unmade, "Parts")),
	by(summedByNCCL, reduce(ofGradient), reduceAll(ofGradient)).with(lacksOf(madeAtOnce, "Parts")),
	movedByNCCL(rotatedByNCCL, stages.Rotation).with(lacksOf("one exchange brings all of %s", "Parts")),
	movedByNCCL(exchangedByNCCL, stages.Exchange).has(overwrites|intoCallers).
		with(lacksOf("one collective exchanges all of %s", "Parts"))).has(network | rounds).with(because(ncclHoles))

func gatheredByNCCL(w *writer, s *stage, way schedule.NCCL) error {
	s.arriving = roundsByNCCL
	switch {
	case w.Order == stages.BatchInRound:
		return nil
	case way.Parts < 2:
		s.gathering = func(w *writer, s *stage) []hostir.Node {
			return w.comeIn(s).inTurn(
				hostir.Together(mainRef, hostir.AllGather, w.ofAll(s.here()), w.shard(s, hostir.Expr{})))
		}
		return nil
	case s.Into != "", w.any(func(x *stage) bool { return x.held == s }):
		var by []string
		for _, o := range w.Schedule.Ops {
			if slices.Contains(o.In, s.Input) {
				by = append(by, o.Out)
			}
		}
		return w.refusal("Parts", "leave it out", "part by part all ranks' rows of %s lie together, and one of %s "+
			"is of each rank's", s.Input, strings.Join(by, ", "))
	}
	s.cut = w.inParts(way.Parts, stepIndex, "Parts")
	return nil
}

// ofAll are all ranks' rows in a buffer, of the step's batch.
func (w *writer) ofAll(buffer string) hostir.View {
	if w.batchesOf(w.program.At(buffer).Tensor.Axes[0].Extent).n < 2 {
		return hostir.Whole(buffer)
	}
	return w.at(buffer, piece{rank: zero, ranks: hostir.Size})
}

// roundsByNCCL gathers by one collective a round, beside the products, which are all on the caller's stream: a part of
// every rank's rows, or a batch of them, which is multiplied as one.
func roundsByNCCL(w *writer, s *stage) arrival {
	first := hostir.Mul(step, hostir.Size)
	t := turns{first: zero, end: hostir.Const(max(s.cut.n, w.batches.n)), work: mainRef, ofAll: s.cut.n > 1,
		pieces: []piece{{rank: first, ranks: hostir.Size}},
		bring: []hostir.Node{hostir.Together(collectiveRef, hostir.AllGather,
			hostir.Chunks(s.here(), first, hostir.Size), hostir.Chunk(s.Input, step))}}
	if t.ofAll {
		t.pieces = []piece{{rank: rankIndex, part: step, from: hostir.Chunk(s.here(), hostir.Add(first, rankIndex))}}
	}
	return arrival{turns: []turns{t}, on: collectiveRef, copied: true, oneLoop: true,
		beyond: beyond{beside: []hostir.StreamSet{collectiveSet}}}
}

// movedByNCCL does what comes at once, and no product takes a part of.
func movedByNCCL(moves atOnce, of need) rowsOfTable {
	return by(func(_ *writer, s *stage, _ schedule.NCCL) error {
		s.gathering = moves
		return nil
	}, of)
}

// exchangedByNCCL is an all-to-all by one collective.
func exchangedByNCCL(w *writer, s *stage) []hostir.Node {
	w.cut(s.Input, schedule.D)
	w.cut(s.here(), schedule.D)
	return []hostir.Node{hostir.Together(mainRef, hostir.AllToAll, hostir.Whole(s.here()), hostir.Whole(s.Input))}
}

// rotatedByNCCL is a permutation by a send and a receive of each rank.
func rotatedByNCCL(_ *writer, s *stage) []hostir.Node {
	distance := hostir.Onwards(s.Moved.To.Shift - s.Moved.From.Shift)
	return []hostir.Node{hostir.Exchanged(mainRef, hostir.Whole(s.here()), hostir.Whole(s.Input),
		hostir.Ahead(distance), hostir.Behind(distance))}
}

// summedByNCCL adds up partial results by one collective or, where they are of products of rows that are all there from
// the beginning, a part of the rows by one while the next part is multiplied.
func summedByNCCL(w *writer, s *stage, way schedule.NCCL) error {
	switch {
	case way.Parts < 2:
	case s.OfAll():
		return w.refusal("Parts", leaveOut, "parts of the sums %s are of rows that do not travel, and %s does", s.Sums,
			s.Input)
	case !s.First:
		return w.refusal("Parts", leaveOut, "sums in parts begin a schedule, and other stages come before that of %s",
			s.Sums)
	default:
		s.leaving = leaving{memory: []declare{partsMemory}, plan: partsLeave, ofAll: true,
			cut: w.inParts(way.Parts, "j", "Parts")}
		return nil
	}
	s.summing = func(w *writer, s *stage) []hostir.Node { // it rounds them, and then functions are made
		to, finish := w.rounded(s)
		do, from, batches := hostir.AllReduce, hostir.Whole(w.summands(s)), w.leaveIn(s)
		if !s.ToAll {
			do, from = hostir.ReduceScatter, w.ofAll(from.Buffer)
		}
		to.Index = batches.part()
		return append(batches.inTurn(hostir.Together(mainRef, do, to, from)), finish...)
	}
	return nil
}

// rounded returns the view in which NCCL leaves its rounded sums, and the step that applies the functions behind them:
// a sum of one term, or no step without functions.
func (w *writer) rounded(s *stage) (to hostir.View, finish []hostir.Node) {
	to = hostir.Whole(s.Sums)
	if w.Schedule.HasFinish(s.Last()) {
		sum := *w.program.At(s.Sums)
		to.Buffer = w.named(reduced, s.Sums)
		chunk := sum.Chunk
		if !sum.Rows.IsZero() { // whose columns travel further
			chunk = sum.Elements
		}
		w.program.Memory(to.Buffer, chunk, sum.Tensor.Axes...)
		finish = []hostir.Node{w.sumOf(mainRef, s, hostir.Whole(s.Sums), hostir.Whole(s.Sums), to)}
	}
	return to, finish
}

// partsMemory is that of partial results that leave in parts of all ranks' rows. In a reduce-scatter a part has rows of
// each rank.
func partsMemory(w *writer, s *stage) {
	x := s.leaving.cut
	n, rows := schedule.Number(x.n), w.RowExtent(s.Sums)
	w.sum(s)
	if s.ToAll {
		w.cut(s.Sums, n)
		if rows == schedule.D {
			w.cutRows(rows, x)
		} else {
			w.program.Ask(hostir.Divide{Extent: rows, By: n})
		}
	} else {
		w.finer(s.Sums, x.n)
		w.cutRows(rows, x)
	}
	inParts, atOnce := append(w.InRowsOf(s.BeforeSum()...), s.Input), append(stages.InRows(s.Last().Then), s.Sums)
	for _, name := range append(w.there(w.EachRows(s.Stage)), s.Input) {
		switch {
		case s.ToAll && w.Schedule.HasFinish(s.Last()) && slices.Contains(atOnce, name) &&
			!slices.Contains(inParts, name): // by functions
		case s.ToAll:
			w.cut(name, n)
			w.parted[name] = s
		default:
			w.finer(name, x.n)
		}
	}
	w.program.Memory(w.named(partial, s.Sums), w.program.At(s.Sums).Chunk, schedule.Dim(rows), w.ColumnsOf(s.Sums))
}

// partsLeave multiplies a part and adds it up while the next one is multiplied. Each collective waits for its products.
func partsLeave(w *writer, s *stage) (d departure) {
	x, partial := s.leaving.cut, w.named(partial, s.Sums)
	t := turns{index: x.index, first: zero, end: hostir.Const(x.n), work: mainRef}
	collective, of := hostir.AllReduce, hostir.Chunk(partial, x.part())
	to, finish := w.rounded(s)
	to.Index, w.program.At(to.Buffer).Chunk = x.part(), w.program.At(partial).Chunk
	if s.ToAll {
		t.pieces = []piece{{rank: x.part(), into: of}}
	} else {
		first := hostir.Mul(x.part(), hostir.Size)
		collective, of = hostir.ReduceScatter, hostir.Chunks(partial, first, hostir.Size)
		t.then = []turns{{index: hostir.RankIndex, first: zero, end: hostir.Size, work: mainRef,
			pieces: []piece{{rank: rankIndex, part: x.part(),
				into: hostir.Chunk(partial, hostir.Add(first, rankIndex))}}}}
	}
	t.then = append(t.then, turns{leave: []hostir.Node{hostir.After(collectiveRef, mainRef),
		hostir.Together(collectiveRef, collective, to, of)}})
	if len(finish) > 0 {
		d.toAll = append([]hostir.Node{hostir.After(mainRef, collectiveRef)}, finish...)
	}
	w.program.Declare(collectiveSet)
	d.exchanges, d.order, d.turns = true, []turns{{}}, []turns{t}
	return d
}

var collectives = by(func(w *writer, s *stage, way schedule.Collective) error {
	s.arriving = func(x *writer, s *stage) arrival { return collectedRows(x, s, way.WithStep) }
	return w.pooled(s, "Streams", way.Streams)
}, gather(ofSteps)).with(because(collectiveHoles))

// collectedRows gathers a batch of every rank's rows by one collective a round, and has them multiplied as one:
// nvFuser's collective pipeline. All ranks meet before the first batch and after the last, so that batches need no
// signals of their own.
func collectedRows(w *writer, s *stage, withStep bool) arrival {
	t, word := w.turns(zero, hostir.Const(w.batches.n)), w.word(ready, s.here())
	a := arrival{on: copyRef, reads: s.Input, copied: true,
		ready: []hostir.Node{hostir.Post(mainRef, word, every), hostir.Wait(mainRef, word, every)}}
	if withStep {
		a.on, a.oneLoop = t.work, true
	}
	own, from := hostir.Chunk(s.Input, step), hostir.Ahead(rankIndex)
	of := func(rank hostir.Expr) hostir.View {
		return hostir.Chunk(s.here(), hostir.Add(hostir.Mul(step, hostir.Size), rank))
	}
	t.pieces = []piece{{rank: hostir.Mul(step, hostir.Size), ranks: hostir.Size}}
	t.bring = []hostir.Node{
		hostir.Set(a.on, of(hostir.Rank), own), // and those of the peers, r+1 first
		hostir.Loop(hostir.RankIndex, one, hostir.Size, hostir.Set(a.on, of(from), own.At(from)))}
	a.turns = []turns{t}
	return a
}

var ncclHoles = []hole{
	{func(n need) bool { return n.Hosts },
		"over hosts it joins ranks of one number, by Rails, and no communicator joins all"},
	{func(n need) bool { return n.Kind == edges.AllToAll && n.Of == ofCounted },
		"by choice the interface to the library has all-to-alls of parts of one size: exchanges alone have two"},
	{func(n need) bool { return n.Kind == edges.Broadcast },
		"by choice the interface to the library leaves ncclBroadcast out: in its collectives every rank sends"},
}

var collectiveHoles = []hole{{func(need) bool { return true }, "it brings a batch of all ranks' rows a step"}}
