package old

import (
	"fmt"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// One kernel sends this rank's rows, or partial results, to the peers as packets, and takes the packets that land here.
// Each communication of a chain has a landing of its own, so each kernel runs once a run and its halves take turns.

// linkedPushGather is linked for rows that go to the peers as packets.
func linkedPushGather(d *draft) error {
	d.with.carriage = carriage{}
	err := d.holdsDevice(d.chain.stages[:d.gatheredIn()], d.at, "use schedule.Get, or leave it out")
	d.gatherBy(landedRows)
	return errorsOf(err, d.wholeRows("one kernel"))
}

// landedRows brings all rows of a stage's input to each rank. The landing is named after the input: the stage's sums
// may have one too.
func landedRows(w *writer, s *stage) []hostir.Node {
	own := w.buffer(s.input).Tensor
	to := w.landing(s.input+landed, s.input+arrived, false, elements(own), own.Axes...)
	return []hostir.Node{hostir.GatherPackets(mainRef, hostir.Whole(s.here()), to, hostir.Whole(s.input).EachRank())}
}

// linkedPushShot is linked for partial results that go to their owners, or to all, as packets or plain data.
func linkedPushShot(d *draft) error {
	d.with.carriage = carriage{}
	i := d.summedIn()
	s := &d.chain.stages[i]
	if bias := s.ops[len(s.ops)-1].Bias(); bias != "" {
		return &schedule.FieldError{Path: d.at, Hint: "use schedule.Shot or schedule.LayerSlots, or leave it out",
			Msg: fmt.Sprintf("no kernel that takes what lands adds %s to each row of %s", bias, d.of)}
	}
	err := d.holdsDevice(d.chain.stages[:i+1], d.at, "use schedule.LayerSlots, or gather by schedule.PushGather")
	d.sumBy(landedSums(d.with.words))
	return errorsOf(err, d.roundsSums(s))
}

// landedSums adds up the partial results of all ranks, in the order of ranks, and the tensor that is added to them.
func landedSums(words bool) atOnce {
	return func(w *writer, s *stage) []hostir.Node {
		each := hostir.Whole(w.named(partial, s))
		if !s.toAll {
			each = hostir.Chunk(each.Buffer, hostir.Var(hostir.RankIndex))
		}
		var added []hostir.View
		if name := s.ops[len(s.ops)-1].Added(); name != "" {
			added = append(added, hostir.Whole(name))
		}
		sum := w.buffer(s.sums).Tensor
		to := w.landing(w.named(landed, s), w.named(arrived, s), words, elements(sum), sum.Axes...)
		added = append(added, hostir.View{})
		return []hostir.Node{hostir.SumPackets(mainRef, hostir.Whole(s.sums), to, each.EachRank(), added[0]).
			Described("q's part to rank q; the order of ranks")}
	}
}
