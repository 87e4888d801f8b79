package lower

import (
	"cmp"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

var slotted = slices.Concat(
	by(slotsOf, reduce(ofRows)).with(wholeRows),
	by(slotsOf, reduceAll(ofRows)).with(wholeRows, lacksKernel),
	by(slotsOf, reduce(ofColumns), reduce(ofBatches)).with(wholeRows, partsGoOn),
	by(slotsOf, reduce(ofBalanced)).with(wholeRows, lacksOf(wholeParts, "Parts")),
	slotsAtOnce(ofSummands, reduce(ofRows).Alone()).has(ofCodes).with(partsGoOn)).
	has(ofSomeRows).with(because(slotHoles), roundsByKernel)

const (
	unmade     = "no product makes the terms of %s"
	madeAtOnce = "a product makes all rows of the gradient %s at once"
	allCounted = "one product makes all counted rows of %s"
)

// slottedSums are not the fastest of their communications.
var slottedSums = slices.Concat(
	slotsAtOnce(ofSummands, reduceAll(ofRows).Alone()).has(ofCodes).with(lacksKernel),
	slotsAtOnce(madeAtOnce, reduceAll(ofGradient)).with(lacksKernel),
	slotsAtOnce(allCounted, reduce(ofCounted)).with(partsGoOn),
	slotsAtOnce(ofSummands, reduce(ofCounted).Alone()).with(partsGoOn),
	slotsAtOnce(madeAtOnce, reduce(ofGradient)).with(partsGoOn)).with(because(slotHoles), roundsByKernel)

// slotsAtOnce are of terms that no products make one rank's after another's: none has a stream, or a priority.
func slotsAtOnce(why string, of ...need) rowsOfTable {
	return by(slotsOf, of...).with(lacksOf(why, "Streams", "Equal"))
}

// ofSummands leaves the reason to the way: a product may make codes that are summed, and then streams serve.
const ofSummands = ""

// partsGoOn leaves Parts out of the help: junctions refuses it, with the fact, where no parts of own rows go on.
var partsGoOn = lacksOf("", "Parts")

func slotsOf(w *writer, s *stage, way schedule.Slots) error {
	s.madeWhole(w)
	s.parts = w.inParts(way.Parts, "j", "Parts")
	s.leaving = leaving{plan: ownersSlots, memory: []declare{summandMemory, each(slots), reducedMemory}}
	if s.ToAll && s.outward() {
		s.leaving.cut = s.parts
	}
	switch {
	case s.Bare() && way.Streams > 0:
		return w.refusal("Streams", leaveOut, unmade, s.Sums)
	case s.Bare() && way.Equal:
		return w.refusal("Equal", leaveOut, unmade, s.Sums)
	case s.ToAll && way.Parts > 1 && !s.outward():
		return w.refusal("Parts", leaveOut,
			"parts of the sums %s for all ranks are of products that begin the schedule", s.Sums)
	}
	w.pool.falls = true
	return cmp.Or(w.onePriority("Equal", way.Equal), w.pooled(s, "Streams", way.Streams))
}

// summandMemory is that of partial results.
func summandMemory(w *writer, s *stage) {
	if s.Given == "" || s.whole {
		w.ofEachRank(s, partial)
	} else if w.cut(s.Given, schedule.D); s.Bare() {
		w.cut(s.Input, schedule.D)
	}
}

// reducedMemory is for this rank's sums, where they go to all ranks.
func reducedMemory(w *writer, s *stage) {
	if s.ToAll {
		sum := w.named(reduced, s.Sums)
		w.ofRows(sum, s.Sums, true, w.ColumnsOf(s.Sums))
		w.program.At(sum).Tensor.Type = w.program.At(s.Sums).Tensor.Type
	}
}

// ownersSlots puts the partial results of peers' rows into slots at their owners. Each owner adds up its slots once, in
// the order of ranks. The sums of a part for all ranks are made and travel while the next part is multiplied.
func ownersSlots(w *writer, s *stage) (d departure) {
	cut, put, own := w.partsOf(s), putRef, w.pieceOf(s, hostir.Rank)
	d = w.slotsFill(s)
	if d.puts, d.own = w.streamsOf(s); d.puts.Name != putName {
		put = hostir.StreamAt(d.puts.Name, step)
	}
	d.take = func(p piece) (nodes []hostir.Node) {
		switch {
		case s.Bare() && s.Summand.Out != "":
			nodes = append(nodes, hostir.After(put, mainRef))
		case !s.Bare():
			nodes = append(nodes, hostir.After(put, w.work))
		}
		if cut.n < 2 {
			nodes = append(nodes, hostir.Wait(put, w.named(free, s.Sums), p.rank))
		}
		if s.outward() { // while the product is made
			slices.Reverse(nodes)
		}
		return append(nodes, hostir.Set(put, w.at(w.named(slots, s.Sums), own).At(p.rank), w.at(w.summands(s), p)),
			hostir.Post(put, w.named(arrived, s.Sums), p.rank).Member(cut.part()))
	}
	if cut.n > 1 {
		d.begin = []hostir.Node{hostir.Wait(putRef, w.named(free, s.Sums), every)}
	}
	if d.puts.Name != putName {
		d.after = []hostir.StreamSet{d.puts}
		if cut.n > 1 {
			d.begin = append(d.begin, hostir.Synchronize{Streams: hostir.Refs(d.after), On: []hostir.StreamRef{putRef}})
		}
		if w.pool.streams > 0 { // own rows may have one of many
			d.after = append(d.after, w.set)
		}
	}
	return d
}

// slotsFill is what owners do with slots that peers fill: they say that these are free, and sum when all have come.
func (w *writer) slotsFill(s *stage) departure {
	cut, free := w.partsOf(s), w.slotsFree(s)
	arrived := w.words(arrived, s.Sums, cut.members())
	on := putRef
	if s.outward() && !s.Bare() && !s.ToAll && len(w.stages) == 1 { // nothing else travels
		on = mainRef
	}
	d := w.slotsSummed(on, s)
	d.open, d.came = free, []hostir.Node{hostir.Wait(d.sums, arrived, every).Member(cut.part())}
	return d
}

// slotsSummed is a departure that sums slots, and brings the sums to all ranks that get them.
func (w *writer) slotsSummed(on hostir.StreamRef, s *stage) departure {
	cut, d := w.partsOf(s), departure{sums: on}
	dst, rows := w.ownSums(s, cut)
	if s.ToAll {
		d.toAll = w.toAll(on, s, cut, dst)
	}
	slot := w.at(w.named(slots, s.Sums), w.pieceOf(s, rankIndex))
	terms := []hostir.View{slot.EachRank()}
	if s.Given != "" { // own terms are where they are
		terms = []hostir.View{slot.Over(hostir.RankIndex, zero, hostir.Rank),
			w.at(s.Given, w.pieceOf(s, hostir.Rank)),
			slot.Over(hostir.RankIndex, hostir.Add(hostir.Rank, one), hostir.Size)}
	}
	d.sum = w.sumOf(on, s, dst, rows, terms...).Described("once, in the order of ranks")
	return d
}

// ownSums is where this rank makes its part of a stage's sums, and the rows of the result that these are.
func (w *writer) ownSums(s *stage, cut parts) (to, rows hostir.View) {
	if to = hostir.Chunk(s.Sums, cut.part()); !s.ToAll {
		return to, to
	}
	return hostir.Chunk(w.named(reduced, s.Sums), cut.part()), w.at(s.Sums, piece{rank: hostir.Rank, part: cut.part()})
}

const mayWrite = "the slots may be written"

func (w *writer) slotsFree(s *stage) []hostir.Node {
	return []hostir.Node{hostir.Post(mainRef, w.word(free, s.Sums), every).Described(mayWrite)}
}

// toAll brings all ranks' rows of the sums here, beside own ones, a part of them.
func (w *writer) toAll(on hostir.StreamRef, s *stage, cut parts, sums hostir.View) []hostir.Node {
	from, word := hostir.Var("from"), w.words(summed, s.Sums, cut.members())
	at := func(rank hostir.Expr) hostir.View { return hostir.Chunk(s.Sums, cut.chunk(rank)) }
	return []hostir.Node{
		hostir.Post(on, word, every).Member(cut.part()),
		hostir.Set(on, at(hostir.Rank), sums),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			hostir.Wait(on, word, from).Member(cut.part()),
			hostir.Set(on, at(from), sums.At(from)))}
}

var stored = by(stores, reduce(ofRows), reduce(ofColumns), reduce(ofBalanced), reduce(ofBatches), reduceAll(ofRows)).
	has(ofSomeRows).with(wholeRows, because(slotHoles))

func stores(w *writer, s *stage, way schedule.Stores) error {
	s.leaving = leaving{memory: []declare{each(slots), reducedMemory}, plan: storesLeave}
	w.pool.falls = true
	return cmp.Or(w.onePriority("Equal", way.Equal), w.pooled(s, "Streams", way.Streams))
}

// storesLeave lets the product itself write the owner's slot.
func storesLeave(w *writer, s *stage) departure {
	d, free, arrived, slots := w.slotsFill(s), w.named(free, s.Sums), w.named(arrived, s.Sums), w.named(slots, s.Sums)
	cut := w.partsOf(s)
	d.from = func(p piece) hostir.View { return w.at(slots, piece{rank: hostir.Rank, part: p.part}).At(p.rank) }
	d.sends = func(on hostir.StreamRef, p piece) (before, behind []hostir.Node) {
		if cut.n < 2 {
			before = []hostir.Node{hostir.Wait(on, free, p.rank)}
		}
		return before, []hostir.Node{hostir.Post(on, arrived, p.rank).Member(cut.part())}
	}
	if cut.n > 1 { // once, ahead of all batches
		for _, t := range w.order(s) {
			d.begin = append(d.begin, t.over(nil, hostir.Wait(t.work, free, t.pieces[0].rank))...)
		}
	}
	if s.outward() {
		d.after = []hostir.StreamSet{w.set}
	}
	return d
}

// staging holds the partial results that peers read.
const staging = "staging"

var stagings = by(func(w *writer, s *stage, way schedule.Staged) error {
	s.leaving = leaving{memory: []declare{each(slots), reducedMemory, stagedMemory}, plan: stagedLeave}
	w.pool.usual = 2 // while one is read the next is written
	return w.pooled(s, "Buffers", way.Buffers)
}, reduce(ofRows), reduce(ofColumns), reduce(ofBatches), reduceAll(ofRows)).with(except(
	func(s *stage) bool { return !s.outward() },
	"its products begin the schedule: each waits until peers have read the results of those before it"),
	because(slotHoles)).has(ofSomeRows)

func stagedMemory(w *writer, s *stage) {
	axes := w.program.At(s.Sums).Tensor.Axes
	if s.ToAll || len(axes) == 0 {
		axes = []schedule.Axis{w.RowAxis(s.Sums, true), w.ColumnsOf(s.Sums)}
	}
	name, buffer := w.named(staging, s.Sums), hostir.Elements(schedule.Tensor{Axes: axes})
	axes = append([]schedule.Axis{schedule.Dim(schedule.Number(w.pool.streams))}, axes...)
	if x := w.inRound(s); x.n > 1 {
		w.fine[name], buffer = x.n, hostir.Div(buffer, hostir.Const(x.n))
	}
	w.program.Memory(name, buffer, axes...)
}

// stagedLeave lets the owner copy partial results out of staging buffers that the steps take in turn, one for each
// compute stream. A step posts that its buffer is ready; the next step that takes the buffer waits until it was read.
// It waits after this rank's own copy of the step, for which another rank may wait.
func stagedLeave(w *writer, s *stage) departure {
	slots, staging := w.named(slots, s.Sums), w.named(staging, s.Sums)
	ready, free := w.word(ready, s.Sums), w.word(free, s.Sums)
	d := w.slotsSummed(putRef, s)
	buffer := w.rowsAt(staging, w.work.Index)
	d.from = func(p piece) hostir.View { return w.at(staging, piece{rank: w.work.Index, part: p.part}) }
	d.sends = func(hostir.StreamRef, piece) (before, behind []hostir.Node) {
		return []hostir.Node{hostir.Bind("from", hostir.Behind(step))}, nil
	}
	d.take = func(p piece) []hostir.Node {
		from := hostir.Var("from")
		return []hostir.Node{
			hostir.Post(w.work, ready, p.rank),
			hostir.After(putRef, w.work),
			hostir.Wait(putRef, ready, from),
			hostir.Set(putRef, w.rowsAt(slots, from), buffer.At(from)),
			hostir.Post(putRef, free, from),
			hostir.After(w.work, putRef),
			hostir.Wait(w.work, free, p.rank).Described("the buffer is free again")}
	}
	d.own, d.after = mainRef, []hostir.StreamSet{w.set}
	return d
}

// batchesForAll is the fact of ways that sum a rank's rows.
var batchesForAll = hole{func(n need) bool { return n.Kind == edges.AllReduce && n.Of == ofBatches },
	"it adds up a rank's rows, and those of batches lie apart in the sums of all ranks"}

// slotHoles are the facts of ways by which sums leave one rank's rows after another's.
var slotHoles = []hole{
	batchesForAll,
	{func(n need) bool { return n.Of == ofCounted && !n.Bare },
		"it makes the rows of a linear one rank's after another's, and one product makes all counted rows"},
	{cutInto(ofGradient), "a gradient is made at once, and no rank's rows of it before others"},
	{func(n need) bool { return n.Bare }, "no product makes the terms"},
}
