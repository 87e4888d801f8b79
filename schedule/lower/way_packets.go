package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

// One kernel sends this rank's rows, or partial results, to the peers as packets, and takes the packets that land here.
// Each communication of a chain has a landing of its own, so each kernel runs once a run and its halves take turns.

// pushShots serve partial results that go to their owners, or to all, as packets or plain data.
var pushShots = by(pushShot, reduce(ofRows), reduceAll(ofRows), reduceAll(ofBatches), reduce(ofGradient),
	reduceAll(ofGradient), reduce(ofRows).Alone(), reduceAll(ofRows).Alone()).
	with(lacks(lack{ofFP32: true, why: "no kernel of plain data keeps the sums of %s in fp32"}, "Words"))

func pushShot(w *writer, s *stage, way schedule.PushShot) error {
	w.edge.Carrier.Rows = way.Rows
	s.summing = landedSums(way.Words)
	if way.Words && way.Rows {
		return w.refusal("Rows", "leave Words out", "the kernel of plain data makes no function of whole rows of %s",
			s.Sums)
	}
	return nil
}

// pushGathers serve rows that go to the peers as packets. They are not the fastest of their communications.
var pushGathers = slices.Concat(by(pushGather, gather(ofRows)),
	by(pushGather, gather(ofRows).Alone()).with(lacksOf("", "Rows")),
	by(pushGather, gather(ofOperand)).with(aside(copySet), lacksOf("", "Rows"))).
	has(copiesOwn | ofRowScales | intoCallers)

func pushGather(w *writer, s *stage, way schedule.PushGather) error {
	w.edge.Carrier.Rows = way.Rows
	s.gathering = landedRows
	return nil
}

func landedRows(w *writer, s *stage) []hostir.Node {
	own := w.program.At(s.Input).Tensor
	to := w.landing(s.here(), landed, arrived, hostir.Elements(own), own.Axes...)
	return []hostir.Node{hostir.GatherPackets(mainRef, hostir.Whole(s.here()), *to, hostir.Whole(s.Input).EachRank())}
}

// landedSums adds up the partial results of all ranks, in the order of ranks, with what functions make of that. The
// kernel of packets rounds its sums, so another one adds up what lands where these are kept in fp32.
func landedSums(words bool) atOnce {
	return func(w *writer, s *stage) []hostir.Node {
		sum, all := w.program.At(s.Sums).Tensor, hostir.Whole(s.Sums)
		if w.Widens(s.Stage) {
			return w.addedApart(s, w.sent(s), all, all, hostir.Elements(sum), sum.Axes...)
		}
		to := w.landing(s.Sums, landed, arrived, hostir.Elements(sum), sum.Axes...)
		to.Lands.Words = words
		added, finish := w.finish(s, all)
		return w.added(s, finish, hostir.SumPackets(mainRef, all, *to, w.sent(s).EachRank(), added...))
	}
}

// added is a kernel that adds up a stage's sums as they land.
func (w *writer) added(s *stage, finish hostir.Finish, sum hostir.Step) []hostir.Node {
	return []hostir.Node{sum.Finishing(finish).Described("q's part to rank q; the order of ranks").
		Applying(w.functionsOf(s.Last(), false))}
}

// sent are the partial results that a rank gets: of its rows, or all.
func (w *writer) sent(s *stage) hostir.View {
	if s.ToAll {
		return hostir.Whole(w.summands(s))
	}
	return w.rowsAt(w.summands(s), rankIndex)
}

// addedApart gathers packets of this rank's part, which has the given elements and axes, and adds them up to a view.
// rows is the view of the result that the sums belong to.
func (w *writer) addedApart(s *stage, from, sums, rows hostir.View, part hostir.Expr,
	axes ...schedule.Axis) []hostir.Node {
	slots := w.named(slots, s.Sums)
	w.ofRanks(slots, part, axes...)
	to := w.landing(s.Sums, landed, arrived, part, axes...)
	term := hostir.Chunk(slots, rankIndex).EachRank()
	return []hostir.Node{
		hostir.GatherPackets(mainRef, hostir.Whole(slots), *to, from.EachRank()).Described("q's part to rank q"),
		w.sumOf(mainRef, s, sums, rows, term).Described("in the order of ranks")}
}

// landing declares memory of a move in which a part of every rank's lands, with the given elements and axes: packets,
// which are their own flags, or plain data with words behind it.
func (w *writer) landing(move, name, flags string, chunk hostir.Expr, axes ...schedule.Axis) *hostir.Buffer {
	name, flags = w.named(name, move), w.word(flags, move)
	w.ofRanks(name, chunk, axes...)
	b := w.program.At(name)
	b.Lands = hostir.Landing{Flags: flags, Halves: hostir.Halves}
	return b
}

// pushTwoShots serve partial results that go to their owners as packets, and the sums from there to all.
var pushTwoShots = by(func(w *writer, s *stage, way schedule.PushTwoShot) error {
	w.edge.Carrier.Rows = way.Rows
	s.summing = spreadSums(way.Rows)
	return nil
}, reduceAll(ofRows), reduceAll(ofBatches), reduceAll(ofRows).Alone(), reduceAll(ofGradient)).has(betweenElements).
	with(because(twoShotHoles))

// spreadSums adds up a part of the partial results on each rank, with what functions make of that, and brings the sums
// to all. Parts are of elements, or of rows where functions or other steps take rows of a rank.
func spreadSums(rows bool) atOnce {
	return func(w *writer, s *stage) []hostir.Node {
		each := w.flatAt(w.summands(s), rankIndex)
		if w.Widens(s.Stage) {
			return w.spreadApart(s, rows, each)
		}
		w.cutFlat(s, rows)
		added, finish := w.finish(s, hostir.Chunk(s.Sums, hostir.Rank))
		sums := *w.landingOfParts(s, landed, arrived)
		spread := *w.landingOfParts(s, hostir.SpreadSuffix, hostir.ReturnedSuffix)
		return w.added(s, finish, hostir.SpreadPackets(mainRef, s.Sums, sums, spread, each.EachRank(), added...))
	}
}

// spreadApart has a kernel of its own add up what lands of a part, and keep that in fp32, and brings it to all.
func (w *writer) spreadApart(s *stage, rows bool, each hostir.View) []hostir.Node {
	own, sum := w.ownPart(s, rows), *w.program.At(s.Sums)
	nodes := w.addedApart(s, each, own, hostir.Chunk(s.Sums, hostir.Rank), sum.Chunk, stages.PartOf(sum.Tensor))
	all := w.landingOfParts(s, hostir.SpreadSuffix, hostir.ReturnedSuffix)
	all.Tensor.Type = sum.Tensor.Type
	return append(nodes, hostir.GatherPackets(mainRef, hostir.Whole(s.Sums), *all, own.EachRank()))
}

// landingOfParts declares memory in which a part of a stage's sums from every rank lands.
func (w *writer) landingOfParts(s *stage, name, flags string) *hostir.Buffer {
	sums := *w.program.At(s.Sums)
	b := w.landing(s.Sums, name, flags, sums.Chunk, stages.PartOf(sums.Tensor))
	b.Elements = sums.Elements
	return b
}
