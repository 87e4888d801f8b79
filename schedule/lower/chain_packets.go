package lower

import (
	"fmt"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// One kernel sends this rank's rows, or partial results, to the peers as packets, and takes the packets that land here.
// Each communication of a chain has a landing of its own, so each kernel runs once a run and its halves take turns.

// linkedPushGather serves rows that go to the peers as packets.
func linkedPushGather(d *draft) error {
	d.gatherBy(landedRows)
	return errorsOf(d.equalRows("one kernel sends shards of one size only", "schedule.Get"), d.wholeRows("one kernel"))
}

// landedRows brings all rows of a stage's input to each rank.
func landedRows(w *writer, s *stage) []hostir.Node {
	own := w.buffer(s.input).Tensor
	to := w.landing(w.named(landed, s.here()), w.named(arrived, s.here()), false, elements(own), own.Axes...)
	return []hostir.Node{hostir.GatherPackets(mainRef, hostir.Whole(s.here()), to, hostir.Whole(s.input).EachRank())}
}

// linkedPushShot serves partial results that go to their owners, or to all, as packets or plain data.
func linkedPushShot(d *draft) error {
	s := &d.chain.stages[d.summedIn()]
	if bias := s.ops[len(s.ops)-1].Bias(); bias != "" {
		return &schedule.FieldError{Path: d.at(), Hint: "use schedule.Shot, or leave it out",
			Msg: fmt.Sprintf("no kernel that takes what lands adds %s to each row of %s", bias, d.edge.Of)}
	}
	d.sumBy(landedSums(d.with.words))
	return errorsOf(d.roundsSums(s), d.wholeRows("one kernel"))
}

// landedSums adds up the partial results of all ranks, in the order of ranks, and the tensor that is added to them.
func landedSums(words bool) atOnce {
	return func(w *writer, s *stage) []hostir.Node {
		each := hostir.Whole(w.summands(s))
		if !s.toAll {
			each = hostir.Chunk(each.Buffer, hostir.Var(hostir.RankIndex))
		}
		var added hostir.View
		o := s.ops[len(s.ops)-1]
		if name := o.Added(); name != "" {
			added = hostir.Whole(name)
		}
		sum := w.buffer(s.sums).Tensor
		to := w.landing(w.named(landed, s.sums), w.named(arrived, s.sums), words, elements(sum), sum.Axes...)
		return []hostir.Node{hostir.SumPackets(mainRef, hostir.Whole(s.sums), to, each.EachRank(), added).
			Described("q's part to rank q; the order of ranks").Applying(w.functionsOf(o.Out, anyFunction))}
	}
}
