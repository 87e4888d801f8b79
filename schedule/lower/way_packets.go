package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// One kernel sends this rank's rows, or partial results, to the peers as packets, and takes the packets that land here.
// Each communication of a chain has a landing of its own, so each kernel runs once a run and its halves take turns.

// pushShots serve partial results that go to their owners, or to all, as packets or plain data.
var pushShots = by(func(d *draft, s *stage, w schedule.PushShot) error {
	d.edge.Carrier.Rows = w.Rows
	s.summing = landedSums(w.Words)
	return d.roundsSums(s, "the kernel of packets")
}, reduceRows, reduceBare, allRows, allBare, reduceGradient, allGradient)

// pushGathers serve rows that go to the peers as packets. They are not the fastest of their communications.
var pushGathers = append(by(pushGather, gatherRows).with(intoCallers), by(pushGather, gatherBare, gatherOperand)...)

func pushGather(d *draft, s *stage, _ schedule.PushGather) error {
	s.gathering = landedRows
	if t := d.tensor(s.input); t.Scale != "" && !d.tensor(t.Scale).OfRows() {
		return refused(d.at(), "use another way, or give each row of "+t.Name+" a scale",
			"packets bring rows with their scales, and %s has one", t.Name)
	}
	return nil
}

func landedRows(w *writer, s *stage) []hostir.Node {
	own := w.program.At(s.input).Tensor
	to := w.landing(w.named(landed, s.here()), w.named(arrived, s.here()), false, hostir.Elements(own), own.Axes...)
	return []hostir.Node{hostir.GatherPackets(mainRef, hostir.Whole(s.here()), to, hostir.Whole(s.input).EachRank())}
}

// landedSums adds up the partial results of all ranks, in the order of ranks, with what functions make of that.
func landedSums(words bool) atOnce {
	return func(w *writer, s *stage) []hostir.Node {
		each := hostir.Whole(w.summands(s))
		if !s.toAll {
			each = hostir.Chunk(each.Buffer, hostir.Var(hostir.RankIndex))
		}
		added, finish := w.finish(s, hostir.Whole(s.sums))
		sum := w.program.At(s.sums).Tensor
		to := w.landing(w.named(landed, s.sums), w.named(arrived, s.sums), words, hostir.Elements(sum), sum.Axes...)
		step := hostir.SumPackets(mainRef, hostir.Whole(s.sums), to, each.EachRank(), added...)
		step = hostir.Changed(step, func(x *hostir.Packets) { x.Finish = finish })
		return []hostir.Node{step.Described("q's part to rank q; the order of ranks").
			Applying(w.functionsOf(s.last(), false))}
	}
}

// landing declares memory in which a part of every rank's lands, with the given elements and axes: packets, which are
// their own flags, or plain data with words behind it.
func (d *draft) landing(name, flags string, words bool, chunk hostir.Expr, axes ...schedule.Axis) hostir.Buffer {
	d.memory(name, chunk, append([]schedule.Axis{schedule.Dim(schedule.D)}, axes...)...)
	d.program.At(name).Lands = hostir.Landing{Flags: flags, Halves: hostir.Halves, Words: words}
	d.semaphores(flags)
	return *d.program.At(name)
}

// pushTwoShots serve partial results that go to their owners as packets, and the sums from there to all.
var pushTwoShots = by(func(d *draft, s *stage, _ schedule.PushTwoShot) error {
	s.summing = spreadSums
	return d.roundsSums(s, "the kernel of packets")
}, allRows, allBare, allGradient)

// spreadSums adds up a part of the partial results on each rank, with what functions make of that, and brings the sums
// to all. Parts are of elements, or of rows where functions or other steps take rows of a rank.
func spreadSums(w *writer, s *stage) []hostir.Node {
	from := w.summands(s)
	w.cutFlat(s, from)
	part := w.program.At(s.sums).Chunk
	land := func(name, flags string) hostir.Buffer {
		name = w.named(name, s.sums)
		whole := w.program.At(s.sums)
		elements, axes := whole.Elements, whole.Tensor.Axes
		w.landing(name, w.named(flags, s.sums), false, part, schedule.Dim(axes[0].Extent.Joined(axes[1].Extent),
			schedule.DIDx(schedule.D)))
		w.program.At(name).Elements = elements
		return *w.program.At(name)
	}
	added, finish := w.finish(s, hostir.Chunk(s.sums, hostir.Rank))
	each := hostir.Chunk(from, hostir.Var(hostir.RankIndex)).EachRank()
	sum := hostir.SpreadPackets(mainRef, s.sums, land(landed, arrived), land(spreadName, returned), each, added...)
	sum = hostir.Changed(sum, func(x *hostir.PacketSpread) { x.Sum.Finish = finish })
	return []hostir.Node{sum.Described("q's part to rank q; the order of ranks").
		Applying(w.functionsOf(s.last(), false))}
}
