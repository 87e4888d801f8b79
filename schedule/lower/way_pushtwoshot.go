package lower

import (
	"cmp"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var pushTwoShots = by(pushTwoShot, allRows, allBare, allGradient)

// pushTwoShot serves partial results that go to their owners as packets, and the sums from there to all.
func pushTwoShot(d *draft, s *stage, _ schedule.PushTwoShot) error {
	s.summing = spreadSums
	return cmp.Or(d.noLandedBias(s), d.roundsSums(s, "the kernel of packets"))
}

// spreadSums adds up a part of the partial results on each rank, and of the tensor that is added to them, and brings
// the sums to all. Parts are of elements, or of rows where other steps take rows of a rank.
func spreadSums(w *writer, s *stage) []hostir.Node {
	from, o := w.summands(s), s.ops[len(s.ops)-1]
	w.cutFlat(s.sums, w.any(w.byRanks), from)
	part := w.buffer(s.sums).Chunk
	land := func(name, flags string) hostir.Buffer {
		name = w.named(name, s.sums)
		whole := w.buffer(s.sums)
		elements, axes := whole.Elements, whole.Tensor.Axes
		w.landing(name, w.named(flags, s.sums), false, part, schedule.Dim(axes[0].Extent.Joined(axes[1].Extent),
			schedule.DIDx(schedule.D)))
		w.buffer(name).Elements = elements
		return *w.buffer(name)
	}
	var added hostir.View
	if name := o.Added(); name != "" {
		w.buffer(name).Chunk = part
		added = hostir.Chunk(name, hostir.Rank)
	}
	each := hostir.Chunk(from, hostir.Var(hostir.RankIndex)).EachRank()
	sum := hostir.SpreadPackets(mainRef, s.sums, land(landed, arrived), land(spreadName, returned), each, added)
	return []hostir.Node{sum.Described("q's part to rank q; the order of ranks").
		Applying(w.functionsOf(o, false))}
}
