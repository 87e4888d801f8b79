package lower

import (
	"cmp"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// One kernel sends this rank's rows, or partial results, to the peers as packets, and takes the packets that land here.
// Each communication of a chain has a landing of its own, so each kernel runs once a run and its halves take turns.

// pushShots serve partial results that go to their owners, or to all, as packets or plain data.
var pushShots = by(func(d *draft, s *stage, w schedule.PushShot) error {
	d.edge.Carrier.Rows = w.Rows
	s.summing = landedSums(w.Words)
	return cmp.Or(d.noLandedBias(s), d.roundsSums(s, "the kernel of packets"))
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

// noLandedBias refuses a bias of the sums.
func (d *draft) noLandedBias(s *stage) error {
	bias := s.ops[len(s.ops)-1].Bias()
	if bias == "" {
		return nil
	}
	return refused(d.at(), "use schedule.Shot, or leave it out",
		"no kernel that takes what lands adds %s to each row of %s", bias, d.edge.Of)
}

// landedRows brings all rows of a stage's input to each rank.
func landedRows(w *writer, s *stage) []hostir.Node {
	own := w.program.At(s.input).Tensor
	to := w.landing(w.named(landed, s.here()), w.named(arrived, s.here()), false, hostir.Elements(own), own.Axes...)
	return []hostir.Node{hostir.GatherPackets(mainRef, hostir.Whole(s.here()), to, hostir.Whole(s.input).EachRank())}
}

// landedSums adds up the partial results of all ranks, in the order of ranks, and the tensor that is added to them.
func landedSums(words bool) atOnce {
	return func(w *writer, s *stage) []hostir.Node {
		each := hostir.Whole(w.summands(s))
		if !s.toAll {
			each = hostir.Chunk(each.Buffer, hostir.Var(hostir.RankIndex))
		}
		o := s.ops[len(s.ops)-1]
		sum := w.program.At(s.sums).Tensor
		to := w.landing(w.named(landed, s.sums), w.named(arrived, s.sums), words, hostir.Elements(sum), sum.Axes...)
		return []hostir.Node{hostir.SumPackets(mainRef, hostir.Whole(s.sums), to, each.EachRank(), whole(o.Added())).
			Described("q's part to rank q; the order of ranks").Applying(w.functionsOf(o, false))}
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
	return cmp.Or(d.noLandedBias(s), d.roundsSums(s, "the kernel of packets"))
}, allRows, allBare, allGradient)

// spreadSums adds up a part of the partial results on each rank, and of the tensor that is added to them, and brings
// the sums to all. Parts are of elements, or of rows where other steps take rows of a rank.
func spreadSums(w *writer, s *stage) []hostir.Node {
	from, o := w.summands(s), s.ops[len(s.ops)-1]
	w.cutFlat(s.sums, w.any(w.byRanks), from)
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
	var added hostir.View
	if name := o.Added(); name != "" {
		w.program.At(name).Chunk = part
		added = hostir.Chunk(name, hostir.Rank)
	}
	each := hostir.Chunk(from, hostir.Var(hostir.RankIndex)).EachRank()
	sum := hostir.SpreadPackets(mainRef, s.sums, land(landed, arrived), land(spreadName, returned), each, added)
	return []hostir.Node{sum.Described("q's part to rank q; the order of ranks").
		Applying(w.functionsOf(o, false))}
}
