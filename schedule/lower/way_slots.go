package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var slotted = slices.Concat(
	by(slotsOf, reduceRows, allRows).with(lacksOf("By one kernel")),
	by(slotsOf, reduceColumns, reduceBalanced, reduceBatches).with(lacksOf("Parts")),
	by(slotsOf, reduceBare).with(inPlace, ofCodes, lacksOf("Parts", "Streams", "Equal")))

// slottedSums are not the fastest of their communications.
var slottedSums = by(slotsOf, allBare).with(ofCodes, lacksOf("Streams", "Equal", "By one kernel"))

func slotsOf(d *draft, s *stage, w schedule.Slots) error {
	s.parts, s.partsAt = w.Parts, d.at()+".Parts"
	s.leaving = leaving{plan: ownersSlots, memory: slotMemory}
	if s.toAll && s.outward() {
		s.leaving.cut, s.leaving.cutAt = s.parts, s.partsAt
	}
	const unmade, leave = "no product makes the terms of %s", "leave it out"
	switch {
	case d.edge.Carrier.Fused && (s.toAll || !s.outward()):
		return d.noKernel("By")
	case w.Parts > 1 && d.chunks > 0:
		return d.refusal("Parts", leave, "the rows of %s leave in batches", s.sums)
	case s.bare() && w.Streams > 0:
		return d.refusal("Streams", leave, unmade, s.sums)
	case s.bare() && w.Equal:
		return d.refusal("Equal", leave, unmade, s.sums)
	}
	if d.edge.Carrier.Fused && d.widens(s) {
		return d.refusal("By", leave, "no kernel of a whole shot keeps the sums of %s in fp32", s.sums)
	}
	return d.prioritize(w.Streams, w.Equal)
}

// prioritize sets the streams of products whose results travel, and whether their priorities
// fall. Streams that steps take in turn have equal priorities.
func (d *draft) prioritize(streams int, equal bool) error {
	batched := d.chunks > 0 && d.chain.order == batchByBatch
	switch {
	case equal && streams > 0:
		return d.refusal("Equal", "leave it out, or Streams", "streams that steps take in turn have one priority")
	case equal && batched:
		return d.refusal("Equal", "leave it out", "the products of batches have one priority")
	}
	return d.inTurn("Streams", streams, !equal && streams == 0 && !batched)
}

// inTurn sets the streams that steps take in turn of products whose results leave, as an option of the way says, and
// whether their priorities fall. All sums of a chain have the same.
func (d *draft) inTurn(option string, streams int, falling bool) error {
	before, first := d.with, d.pool
	d.with.compute, d.with.falling = streams, falling
	d.pool.way, d.pool.option = d.at(), option
	if first.way == "" || before.compute == streams && before.falling == falling {
		return nil
	}
	at := d.pool
	if d.original.Way(d.edge.Of) == nil { // another one was written
		at = first
	}
	if before.compute == streams {
		at.option = "Equal"
	}
	return refused(at.way+"."+at.option, "write the same for each of its sums",
		"all stages of a chain have the same streams")
}

// slotMemory is that of partial results, of slots for this rank's rows, and of the sums that all ranks read.
func slotMemory(w *writer, s *stage, columns schedule.Axis) {
	if s.given != "" {
		w.cut(s.given, schedule.D)
		if s.bare() {
			w.cut(s.input, schedule.D)
		}
	} else {
		w.ofEachRank(s, columns, partial)
	}
	w.ofEachRank(s, columns, slots)
	if s.toAll {
		reduced := w.named(reduced, s.sums)
		w.ofRows(reduced, s.sums, true, columns)
		w.buffer(reduced).Tensor.Type = w.buffer(s.sums).Tensor.Type
	}
}

// ownersSlots puts the partial results of peers' rows into slots at their owners. Each owner adds up its slots once, in
// the order of ranks. The sums of a part for all ranks are made and travel while the next part is multiplied.
func ownersSlots(w *writer, s *stage) (d departure) {
	named := func(name string) string { return w.named(name, s.sums) }
	cut, put, own := w.partsOf(s), w.put, w.pieceOf(s, hostir.Rank)
	d.puts, d.own = w.streamsOf(s)
	d.sums = w.sumsOf(s)
	if d.puts.Name != putName {
		put = hostir.StreamAt(d.puts.Name, step)
	}
	d.words = []hostir.Semaphore{{Name: named(free)}, cut.semaphore(named(arrived))}
	d.open = w.slotsFree(s)
	d.take = func(p piece) (nodes []hostir.Node) {
		switch {
		case s.bare() && s.summand.Out != "":
			nodes = append(nodes, hostir.After(put, mainRef))
		case !s.bare():
			nodes = append(nodes, hostir.After(put, w.work))
		}
		if cut.n == 1 {
			nodes = append(nodes, hostir.Wait(put, named(free), p.rank))
		}
		if w.outward(s) { // while the product is made
			slices.Reverse(nodes)
		}
		return append(nodes, hostir.Set(put, w.at(named(slots), own).At(p.rank), w.at(w.summands(s), p)),
			hostir.Post(put, named(arrived), p.rank).Member(cut.part()))
	}
	if cut.n > 1 {
		d.begin = []hostir.Node{hostir.Wait(w.put, named(free), every)}
	}
	if d.puts.Name != putName {
		d.after = refs([]hostir.StreamSet{d.puts})
		if cut.n > 1 {
			d.begin = append(d.begin, hostir.Synchronize{Streams: d.after, On: []hostir.StreamRef{w.put}})
		}
		if w.with.compute > 0 { // own rows may have one of many
			d.after = append(d.after, refs([]hostir.StreamSet{w.set})...)
		}
	}
	d.came = []hostir.Node{hostir.Wait(d.sums, named(arrived), every).Member(cut.part())}
	rows := hostir.Chunk(s.sums, cut.part())
	dst := rows
	if s.toAll {
		rows, dst = w.at(s.sums, own), hostir.Chunk(named(reduced), cut.part())
		d.words = append(d.words, cut.semaphore(named(summed)))
		d.toAll = w.toAll(d.sums, s, cut, dst)
	}
	d.sum = w.slotsSum(d.sums, s, dst, rows)
	return d
}

// slotsSum adds up this rank's slots. Own terms that the caller has are where they are.
func (w *writer) slotsSum(on hostir.StreamRef, s *stage, dst, rows hostir.View) hostir.Step {
	slot := w.at(w.named(slots, s.sums), w.pieceOf(s, hostir.Var(hostir.RankIndex)))
	terms := []hostir.View{slot.EachRank()}
	if s.given != "" {
		terms = []hostir.View{slot.Over(hostir.RankIndex, hostir.Const(0), hostir.Rank),
			w.at(s.given, w.pieceOf(s, hostir.Rank)),
			slot.Over(hostir.RankIndex, hostir.Add(hostir.Rank, one), hostir.Size)}
	}
	return w.sumOf(on, s, dst, rows, terms...).Described("once, in the order of ranks")
}

// toAll brings all ranks' rows of the sums here, beside own ones, a part of them.
func (w *writer) toAll(on hostir.StreamRef, s *stage, cut parts, sums hostir.View) []hostir.Node {
	from, word := hostir.Var("from"), w.named(summed, s.sums)
	at := func(rank hostir.Expr) hostir.View { return hostir.Chunk(s.sums, cut.chunk(rank)) }
	return []hostir.Node{
		hostir.Post(on, word, every).Member(cut.part()),
		hostir.Set(on, at(hostir.Rank), sums),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			hostir.Wait(on, word, from).Member(cut.part()),
			hostir.Set(on, at(from), sums.At(from)))}
}
