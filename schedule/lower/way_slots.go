package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var slotted = slices.Concat(
	by(slotsOf, reduceRows, allRows).with(lacksOf("By one kernel")),
	by(slotsOf, reduceColumns, reduceBalanced, reduceBatches).with(lacksOf("Parts")),
	by(slotsOf, reduceBare).with(inPlace, lacksOf("Parts", "Streams", "Equal")))

// slottedSums are not the fastest of their communications.
var slottedSums = by(slotsOf, allBare).with(lacksOf("Streams", "Equal", "By one kernel"))

func slotsOf(d *draft, s *stage, w schedule.Slots) error {
	d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
	s.parts, s.partsAt = w.Parts, d.at()+".Parts"
	d.leaveBy(s, leaving{plan: ownersSlots, memory: func(x *writer, s *stage, columns schedule.Axis) {
		slotMemory(x, s, columns, w.Parts)
	}})
	const unmade, leave = "no product makes the terms of %s", "leave it out"
	switch {
	case d.edge.Carrier.Fused && (s.toAll || !d.lonely()):
		return d.noKernel("By")
	case s.given != "" && w.Streams > 0:
		return d.refusal("Streams", leave, unmade, s.sums)
	case s.given != "" && w.Equal:
		return d.refusal("Equal", leave, unmade, s.sums)
	}
	return d.prioritize(w.Streams, w.Equal)
}

// prioritize sets the streams of products whose results travel, and whether their priorities
// fall. Streams that steps take in turn have equal priorities.
func (d *draft) prioritize(streams int, equal bool) error {
	batched := d.chunks > 0 && !d.lonely()
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
func slotMemory(w *writer, s *stage, columns schedule.Axis, parts int) {
	names := []string{partial, slots}
	if s.given != "" {
		names = names[1:]
	}
	w.stacks(s, columns, parts, names...)
	if s.toAll {
		reduced := w.named(reduced, s.sums)
		w.memory(reduced, w.rowElements(s.sums, true, columns), w.rowAxis(s.sums, true), columns)
		sum, b := w.buffer(s.sums), w.buffer(reduced)
		if b.Tensor.Type = sum.Tensor.Type; w.alone(s) {
			b.Chunk = sum.Chunk
		}
	}
}

// slotting is where slots are filled and added up.
type slotting struct {
	*writer
	s        *stage
	put, sum hostir.StreamRef // of copies to the slots, and of sums
	parts                     // that a rank's rows travel in
	at       func(buffer string, rank hostir.Expr) hostir.View
}

// ownersSlots puts the partial results of peers' rows into slots at their owners. Each owner adds up its slots once, in
// the order of ranks.
func ownersSlots(w *writer, s *stage) departure {
	switch {
	case s.given != "":
		return slotsOfTerms(w, s)
	case w.lonely():
		return slotsAlone(w, s)
	}
	x := slotting{w, s, w.put, w.put, w.parts, w.rowsAt}
	d := x.plan()
	take := d.take
	d.take = func(peer hostir.Expr) []hostir.Node {
		nodes := []hostir.Node{hostir.After(w.put, w.work)}
		if w.n == 1 {
			nodes = append(nodes, hostir.Wait(w.put, w.named(free, s.sums), peer))
		}
		return append(nodes, take(peer)...)
	}
	return d
}

// plan is what slots are on any streams.
func (x slotting) plan() (d departure) {
	named := func(name string) string { return x.named(name, x.s.sums) }
	d.words = []hostir.Semaphore{{Name: named(free)}, x.semaphore(named(arrived))}
	d.open = x.slotsFree(x.s)
	d.mine = x.at(named(slots), hostir.Rank)
	d.take = func(peer hostir.Expr) []hostir.Node {
		return []hostir.Node{hostir.Set(x.put, d.mine.At(peer), x.at(x.summands(x.s), peer)),
			hostir.Post(x.put, named(arrived), peer).Member(x.part())}
	}
	d.came = []hostir.Node{hostir.Wait(x.sum, named(arrived), every).Member(x.part())}
	rows := hostir.Chunk(x.s.sums, x.part())
	dst := rows
	if x.s.toAll {
		rows, dst = hostir.Chunk(x.s.sums, x.chunk(hostir.Rank)), hostir.Chunk(named(reduced), x.part())
		d.words = append(d.words, x.semaphore(named(summed)))
		d.toAll = x.toAll(rows, dst)
	}
	d.sum = x.slotsSum(x.sum, x.s, dst, rows, x.at)
	return d
}

// slotsSum adds up this rank's slots. Own terms that the caller has are where they are.
func (w *writer) slotsSum(on hostir.StreamRef, s *stage, dst, rows hostir.View,
	at func(buffer string, rank hostir.Expr) hostir.View) hostir.Step {
	slot := at(w.named(slots, s.sums), hostir.Var(hostir.RankIndex))
	terms := []hostir.View{slot.EachRank()}
	if s.given != "" {
		terms = []hostir.View{slot.Over(hostir.RankIndex, hostir.Const(0), hostir.Rank), at(s.given, hostir.Rank),
			slot.Over(hostir.RankIndex, hostir.Add(hostir.Rank, one), hostir.Size)}
	}
	return w.sumOf(on, s, dst, rows, terms...).Described("once, in the order of ranks")
}

// toAll brings all ranks' rows of the sums here, beside own ones.
func (x slotting) toAll(rows, sums hostir.View) []hostir.Node {
	from, word := hostir.Var("from"), x.named(summed, x.s.sums)
	return []hostir.Node{
		hostir.Post(x.sum, word, every).Member(x.part()),
		hostir.Set(x.sum, rows, sums),
		steps(hostir.Bind("from", hostir.Ahead(step)),
			hostir.Wait(x.sum, word, from).Member(x.part()),
			hostir.Set(x.sum, hostir.Chunk(x.s.sums, x.chunk(from)), sums.At(from)))}
}

// slotsAlone are slots of a product to which no rows come. Each step's copy has a stream, so that its start-up latency
// overlaps other copies. Sums for all ranks have streams of their own: those of one part are made and travel while the
// next part is multiplied.
func slotsAlone(w *writer, s *stage) departure {
	set, last := w.ownLast()
	c := shareOf(s, s.parts)
	named := func(name string) string { return w.named(name, s.sums) }
	copies, sums := hostir.StreamSet{Name: copyName, First: one, Count: hostir.Size, High: true}, hostir.StreamSet{}
	x := slotting{w, s, hostir.StreamAt(copyName, step), mainRef, c.parts, c.at}
	if s.toAll {
		copies, sums = copySet, hostir.StreamSet{Name: gatherName, High: true}
		x.put, x.sum = copyRef, hostir.Stream(gatherName)
	}
	d := x.plan()
	d.share, d.last = c, last
	take := d.take
	d.take = func(peer hostir.Expr) []hostir.Node {
		return append([]hostir.Node{hostir.After(x.put, w.work)}, take(peer)...)
	}
	d.slot = func(peer hostir.Expr) hostir.View { return c.at(named(partial), peer) }
	if !s.toAll {
		d.head = w.staggered(d.post(s), set, copies)
		d.before = func(_ hostir.StreamRef, peer hostir.Expr) []hostir.Node {
			return []hostir.Node{hostir.Wait(x.put, named(free), peer)}
		}
		d.met = []hostir.Node{join(copies, set)}
		return d
	}
	d.head = append(w.staggered(d.post(s), set, copies, sums),
		hostir.MovesOf(s.sums, hostir.Wait(x.put, named(free), every))...)
	d.met = []hostir.Node{hostir.After(x.sum, last, x.put)}
	d.tail = append(hostir.MovesOf(s.sums, hostir.Post(x.sum, read, every), hostir.Wait(x.sum, read, every)),
		join(copies, sums, set))
	return d
}

// slotsOfTerms are slots of terms that the caller has.
func slotsOfTerms(w *writer, s *stage) departure {
	c, free := shareOf(s, s.parts), w.named(free, s.sums)
	d := slotting{w, s, copyRef, mainRef, c.parts, c.at}.plan()
	d.share = c
	d.slot = func(peer hostir.Expr) hostir.View { return c.at(s.given, peer) }
	d.head = append(d.post(s), w.fork(copySet))
	d.met = []hostir.Node{join(copySet)}
	if !s.toAll {
		d.before = func(_ hostir.StreamRef, peer hostir.Expr) []hostir.Node {
			return []hostir.Node{hostir.Wait(copyRef, free, peer)}
		}
		return d
	}
	d.head = append(d.head, hostir.MovesOf(s.sums, hostir.Wait(copyRef, free, every))...)
	done := w.named(read, s.sums)
	d.tail = hostir.MovesOf(s.sums, hostir.Post(mainRef, done, every), hostir.Wait(mainRef, done, every))
	return d
}
