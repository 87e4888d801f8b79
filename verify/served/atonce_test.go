package served

import (
	"fmt"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/sampling"
)

// Ways by which rows come in pieces other than a rank's, and by which sums meet when all are there.
var (
	inPieces = []s.Way{s.Grouped{}, s.Pull{Parts: 2}, s.Push{Parts: 2}, s.Ring{Direction: s.Both},
		s.PushRing{Direction: s.Both}, s.NCCL{Parts: 2}}
	ofOwners = []s.Way{s.Shot{}, s.Shot{Signals: s.MemOps}, s.PushShot{}, s.PushShot{Words: true}, s.NCCL{}, s.Tiles{}}
	ofAll    = []s.Way{s.Shot{}, s.TwoShot{}, s.PushShot{}, s.PushTwoShot{}, s.NCCL{}}
)

// gatedMLP is an MLP whose rows come by a way, and whose sums meet by another; wholeMLP has all of them on each rank.
func gatedMLP(come, meet s.Way) s.Schedule {
	x := scheduletest.Clone(catalog.GatedMLP)
	x.Types, x.Moves = []s.Type{s.BF16}, []s.Move{{Of: "A", Way: come}, {Of: "C", Way: meet}}
	return x
}

func wholeMLP(come, meet s.Way) s.Schedule {
	return of("A[M/D K] B[F/D K] B2[N F/D] C[M N]", s.Linear("H", "A", "B", s.GELU()), s.Linear("C", "H", "B2")).
		by("A", come).by("C", meet).types(s.BF16).Schedule
}

// atOnceShown are some of the forms below, whose packages TestAcceptedAreGreen runs.
var atOnceShown = map[string]form{
	"GroupedShot":       {gatedMLP(s.Grouped{}, s.Shot{})},
	"PartsTiles":        {gatedMLP(s.Pull{Parts: 2}, s.Tiles{})},
	"PushedPackets":     {gatedMLP(s.Push{Parts: 2}, s.PushShot{})},
	"BothWaysTwoShot":   {wholeMLP(s.Ring{Direction: s.Both}, s.TwoShot{})},
	"PartsTwoPackets":   {wholeMLP(s.Pull{Parts: 3}, s.PushTwoShot{})},
	"PartsNCCL":         {gatedMLP(s.NCCL{Parts: 2}, s.NCCL{})},
	"RingBehindNCCL":    {gatedMLP(s.NCCL{}, s.RingSum{})},
	"RingBehindPackets": {blockBy(s.Shot{}, s.PushGather{}, s.RingAccumulate{})},
	"StoresMLP":         {gatedMLP(s.Pull{}, s.Stores{})},
	"StoresBlock":       {blockBy(s.Stores{}, s.Pull{}, s.Stores{})},
	"OneKernelBlock":    {blockBy(s.Slots{By: s.OneKernel}, s.Push{By: s.OneKernel}, s.Slots{By: s.OneKernel})},
	"ReadByOneKernel":   {blockBy(s.Stores{}, s.Pull{By: s.OneKernel}, s.Slots{})},
	"WaitsWithSteps":    {gatedMLP(s.Pull{WithStep: true, By: s.Kernels}, s.Slots{})},
	"StagedBlock":       {blockBy(s.Staged{}, s.Pull{}, s.Slots{})},
	"StreamsFollow":     {blockBy(s.RingSum{Streams: 2}, s.Pull{}, s.Stores{})},
	"StoresMet":         {blockBy(s.Shot{}, s.GatherShot{}, s.Stores{})},
	"PartedBlock":       {blockBy(s.NCCL{Parts: 2}, s.Pull{}, s.Slots{})},
	"PartedAll":         partedAll,
	"PacketsInPlace":    lying("A[D/D M N] C[M N]", s.Sum("C", "A"), s.PushShot{}),
	"SlotsInPlace":      lying("A[D/D M N] C[M N]", s.Sum("C", "A"), s.Slots{}),
	"WeightsOverHosts":  shardedWeights.by("B", s.Rails{Parts: 2}).onHosts(),
	"TilesForAll":       tiledForAll,
	"StagedForAll":      sumsForAll(s.Staged{}),
	"RingForAll":        sumsForAll(s.RingSum{}),
	"AddedForAll":       sumsForAll(s.RingAccumulate{By: s.Kernels}),
	"GradientSlots":     gradient("A[M/D N] B[M/D K] C[N K]").by("C", s.Slots{Parts: 2}),
	"BackwardOverHosts": shardedBackward.onHosts(),
	"RingAlone":         moved("A[M/D N] C[M N]").by("A", s.Ring{Direction: s.Both}),
	"WeightsInRings":    shardedWeights.by("B", s.PushRing{By: s.Kernels}).by("B2", s.Ring{Direction: s.Both}),
	"NCCLInPlace":       lying("A[D/D M N] C[M/D N]", s.Sum("C", "A"), s.NCCL{}),
	"GatheredInPlace":   gatheredInPlace(s.Ring{}),
	"RingOfTerms":       lying("A[D/D M N] C[M/D N]", s.Sum("C", "A"), s.RingSum{Signals: s.Kernels}),
	"RingOfGradients":   gradient("A[M/D N] B[M/D K] C[N K]").by("C", s.RingSum{}),
	"RingOfCounted":     moved("A[M/D~ N] C[M N]").by("A", s.Ring{Direction: s.Backward}),
	"MovedOnByNCCL":     moved("A[M/D N] C[M/D+1 N]").by("A", s.NCCL{}),
	"RingOfUneven": of("A[D/D M N] V[N] R[M/D~ N] C[M/D~ N]", s.Sum("C", "A", s.Add("R"), s.RMSNorm("V"))).
		by("C", s.RingSum{}),
	"BalancedRing": of("A[M K/D] B[N K/D] V[N] C[M/D~ N]", s.Linear("C", "A", "B", s.RMSNorm("V"))).inBalance().
		by("C", s.RingSum{Signals: s.Kernels}),
	"BalancedAdded":    linear("A[M K/D] B[N K/D] C[M/D~ N]").inBalance().by("C", s.RingAccumulate{}),
	"WeightsSent":      weightsBy(behindSums, s.Push{}),
	"WeightsNCCL":      weightsBy(twoLayers, s.NCCL{}),
	"WeightsShots":     weightsBy(behindLayer, s.GatherShot{}),
	"WeightsOfPackets": weightsBy(twoLayers, s.PushGather{}),
	"PartsOverHosts":   moved("A[M/D N] C[M N]").by("A", s.Rails{Parts: 2}).onHosts(),
}

// sumsForAll are sums that all ranks get by a way, with a residual and a norm, ahead of another product.
func sumsForAll(way s.Way) form {
	return of("A[M K] B[F/D K] B2[N F/D] R[M N] Norm[N] X[M N] B3[K/D N] C[M K/D]", s.Linear("H", "A", "B", s.GELU()),
		s.Linear("X", "H", "B2", s.Add("R"), s.RMSNorm("Norm")), s.Linear("C", "X", "B3")).by("X", way)
}

// partedAll has sums for all ranks in parts, with functions before and behind them, and a product.
var partedAll = of("A[M K] B[F/D K] B2[N F/D] Norm[N] R[M N] X[M N] B3[K/D N] C[M K/D]",
	s.Linear("H", "A", "B", s.GELU()), s.Linear("X", "H", "B2", s.Add("R"), s.RMSNorm("Norm")),
	s.Linear("C", "X", "B3")).by("X", s.NCCL{Parts: 3})

// lying is an operation by a way, whose result lies within its operand.
func lying(tensors string, o s.Op, way s.Way) form {
	x := of(tensors, o)
	x.Tensors[1].Within = x.Tensors[0].Name
	return x.by(x.Tensors[1].Name, way)
}

// gatheredInPlace is a product of rows that come by a way to where the own rows are.
func gatheredInPlace(way s.Way) form {
	return of("A[M/D K] B[N K] C[M:D N] Gathered[M:D K]", s.Linear("C", "A", "B"), s.Copy("Gathered", "A")).
		within("A", "Gathered").by("A", way)
}

// TestPiecesBesideSums: rows come in pieces of any kind where the sums meet at once.
func TestPiecesBesideSums(t *testing.T) {
	sampling.Test(t, 0, 3)
	for _, x := range []struct {
		of   func(come, meet s.Way) s.Schedule
		meet []s.Way
	}{{gatedMLP, ofOwners}, {wholeMLP, ofAll}} {
		for _, come := range inPieces {
			for _, meet := range x.meet {
				isCrossed(t, fmt.Sprintf("%T, %T", come, meet), x.of(come, meet), 1, 2, 3, 4, 8)
			}
		}
	}
}

// blockBy is a block behind attention, whose sums and gather have the given ways.
func blockBy(sum, gather, last s.Way) s.Schedule {
	x := scheduletest.Clone(catalog.BlockBehindAttention)
	x.Moves = []s.Move{{Of: "R", Way: sum}, {Of: "X", Way: gather}, {Of: "C", Way: last}}
	return x
}

// TestSumsBehindRowsAtOnce: sums pass on, or leave by kernels, behind rows that came at once, and beside other
// communications.
func TestSumsBehindRowsAtOnce(t *testing.T) {
	sampling.Test(t, 1, 3)
	rings := []s.Way{s.RingSum{}, s.RingSum{Streams: 2}, s.RingAccumulate{}}
	for _, come := range []s.Way{s.Pull{Once: true}, s.NCCL{}, s.GatherShot{}, s.PushGather{}} {
		for _, ring := range rings {
			isCrossed(t, fmt.Sprintf("%T, %T", come, ring), gatedMLP(come, ring), 1, 2, 3, 4, 8)
			isCrossed(t, fmt.Sprintf("a block's %T, %T", come, ring), blockBy(s.Shot{}, come, ring), 1, 2, 3, 4, 8)
		}
	}
	for _, ring := range rings {
		isCrossed(t, fmt.Sprintf("%T of a sum for all", ring), of("A[D/D M K] X[M K] B[F/D K] B2[N F/D] C[M/D N]",
			s.Sum("X", "A"), s.Linear("H", "X", "B", s.GELU()), s.Linear("C", "H", "B2")).by("C", ring).Schedule,
			1, 2, 3, 4, 8)
	}
	explored(t, "Staged", []declared{{"staged behind rows", "they are there", form{gatedMLP(s.NCCL{}, s.Staged{})},
		at("Moves[1].Way", "its products begin the schedule")},
		{"a ring behind rows", "they come in turn", form{gatedMLP(s.Pull{}, s.RingSum{})},
			at("Moves[1].Way", "these come one rank's after another's")}})
	for _, leave := range []s.Way{s.Stores{}, s.Stores{Signals: s.Kernels}, s.Slots{By: s.OneKernel}} {
		isCrossed(t, fmt.Sprintf("%T", leave), gatedMLP(s.Pull{}, leave), 1, 2, 3, 4, 8)
		isCrossed(t, fmt.Sprintf("a block's %T", leave), blockBy(leave, s.Pull{}, leave), 1, 2, 3, 4, 8)
	}
	explored(t, "Met", []declared{
		{"a kernel that waits", "behind packets", form{gatedMLP(s.PushGather{}, s.Stores{})}, served},
		{"kernels that wait alone", "behind packets",
			form{gatedMLP(s.PushGather{}, s.Stores{Signals: s.Kernels})}, served},
		{"a kernel that waits", "behind a shot", form{blockBy(s.Shot{}, s.Pull{}, s.Stores{})}, served},
		{"a kernel that waits", "behind slots and packets",
			form{blockBy(s.Slots{}, s.PushGather{}, s.Stores{})}, served},
		{"a ring", "behind tiles", form{gatedMLP(s.Tiles{}, s.RingSum{})}, at("Moves[1].Way", "no pass does the ")}})
	push := s.Push{By: s.OneKernel}
	isCrossed(t, "pushed by one kernel", gatedMLP(push, s.Slots{}), 1, 2, 3, 4, 8)
	isCrossed(t, "a block's pushed by one kernel", blockBy(s.Slots{}, push, s.Slots{}), 1, 2, 3, 4, 8)
	isCrossed(t, "keys by one kernel beside values", of("A[M/D K] X[M/D K] B[N K] B2[N K] C[M:D N] C2[M:D N]",
		s.Linear("C", "A", "B"), s.Linear("C2", "X", "B2")).by("A", push).by("X", s.Pull{}).Schedule, 1, 2, 3, 4, 8)
}

// TestKernelsOfChains: kernels do whole steps, or wait for rows or for slots on the streams of products, whatever else
// travels and wherever all ranks meet.
func TestKernelsOfChains(t *testing.T) {
	sampling.Test(t, 2, 3)
	crossed := func(name string, x form) { isCrossed(t, name, x.Schedule, 1, 2, 3, 4, 8) }
	two := func() form {
		return of("A[M/D K] X[M/D K] B[N K] B2[N K] C[M:D N] C2[M:D N]", s.Linear("C", "A", "B"),
			s.Linear("C2", "X", "B2"))
	}
	with, one := s.Pull{WithStep: true, By: s.Kernels}, s.Pull{By: s.OneKernel}
	ways := []s.Way{s.Slots{}, s.Slots{By: s.OneKernel}, s.Stores{}, s.Shot{}, s.PushShot{}, s.NCCL{}}
	for _, come := range []s.Way{one, with, s.Pull{WithStep: true, By: s.OneKernel},
		s.Pull{Once: true, By: s.OneKernel}, s.Ring{WithStep: true, By: s.Kernels}} {
		for _, leave := range ways {
			crossed("rows by kernels", form{gatedMLP(come, leave)})
			crossed("a block's rows by kernels", form{blockBy(leave, come, leave)})
			crossed("rows by kernels behind a shot", form{blockBy(s.Shot{}, come, leave)})
		}
		crossed("first rows by kernels", two().by("A", come))
		crossed("other rows by kernels", two().by("X", come))
		crossed("all rows by kernels", two().by("A", come).by("X", come))
		crossed("a layer's", form{catalog.LlamaLayer}.by("Y", come))
		crossed("a layer's first", form{catalog.LlamaLayer}.by("X", come))
	}
	block := func(sum, gather s.Way) form { return form{blockBy(sum, gather, s.Stores{})}.types(s.BF16) }
	for _, meet := range []s.Way{s.GatherShot{}, s.PushGather{}, s.NCCL{}, s.Tiles{}} {
		crossed("stores behind rows at once", form{gatedMLP(meet, s.Stores{})})
		crossed("a block's stores behind rows at once", block(s.Slots{}, meet))
	}
	for _, meet := range []s.Way{s.Shot{}, s.PushShot{}, s.NCCL{}, s.Tiles{}, s.NCCL{Parts: 2}} {
		crossed("stores behind sums at once", block(meet, s.Pull{}))
	}
	crossed("stores beside rows in parts", form{catalog.LlamaLayer}.by("X", s.NCCL{Parts: 2}).by("R", s.Stores{}))
}

// TestInPlace: ways work in place, but for those by which ranks write results while others read what these are made of,
// and those that copy own rows to their place.
func TestInPlace(t *testing.T) {
	gather := func(way s.Way) form { return moved("A[M/D N] C[M N]").within("A", "C").by("A", way) }
	scatter := func(way s.Way) form { return lying("A[D/D M N] C[M/D N]", s.Sum("C", "A"), way) }
	reduce := func(way s.Way) form { return lying("A[D/D M N] C[M N]", s.Sum("C", "A"), way) }
	for _, x := range []form{gather(s.NCCL{}), gather(s.Ring{By: s.Kernels}),
		scatter(s.NCCL{}), reduce(s.NCCL{}), reduce(s.PushTwoShot{}), gatheredInPlace(nil), gatheredInPlace(s.Ring{}),
		gatheredInPlace(s.Pull{WithStep: true}), gatheredInPlace(s.NCCL{}),
		gatheredInPlace(s.Tiles{}).types(s.BF16, s.FP16), scatter(s.Rails{}).onHosts(), reduce(s.Rails{}).onHosts(),
		gatheredInPlace(s.Rails{}).onHosts()} {
		isCrossed(t, "in place", x.Schedule, 1, 2, 4, 6, 8)
	}
	for _, x := range []declared{
		{"a shot", "for all", reduce(s.Shot{}), at("Tensors[1].Within", "by Shot ranks write where others still read "+
			"(leave it out, or use schedule.TwoShot, ")},
		{"a gather", "by one kernel", gatheredInPlace(s.GatherShot{}), at("Tensors[0].Within", "by GatherShot a "+
			"kernel copies own rows to their place, too (leave it out, or use schedule.Pull, schedule.Ring, "+
			"schedule.NCCL)")},
		{"a gather", "by packets", gather(s.PushGather{}), at("Tensors[0].Within", "by PushGather a kernel copies own "+
			"rows to their place, too (leave it out, or use schedule.Pull, schedule.Ring, schedule.NCCL)")},
		{"an operand", "within a result that is made before", of("Dy[M N/D] X[M/D K] Wt[K N/D] Dx[M K] Dw[N/D K]",
			s.Linear("Dx", "Dy", "Wt"), s.Gradient("Dw", "Dy", "X")).within("X", "Dx"),
			at("Tensors[1].Within", "Dw is made of X too, behind Dx, which replaces a part of it")},
	} {
		if _, err := x.holds(t); err != nil {
			t.Errorf("%s, %s: %v", x.id, x.what, err)
		}
	}
}

// TestInPlaceByPackets: what lies within another tensor goes as packets, and sums of slots go to all in place.
func TestInPlaceByPackets(t *testing.T) {
	for _, x := range []form{
		atOnceShown["PacketsInPlace"], atOnceShown["SlotsInPlace"],
		lying("A[D/D M N] C[M N]", s.Sum("C", "A"), s.PushShot{Words: true}),
		lying("A[D/D M N] C[M/D N]", s.Sum("C", "A"), s.PushShot{}),
		lying("A[D/D M N] C[M N]", s.Sum("C", "A"), s.Slots{Parts: 2}),
	} {
		isCrossed(t, "in place", x.Schedule, 1, 2, 3, 4, 8)
	}
}

// TestSumsForAll: ways that leave sums with their owners bring them to the others too, alone and in a chain. Rings have
// uneven rows.
func TestSumsForAll(t *testing.T) {
	for _, way := range []s.Way{s.Staged{}, s.Staged{Buffers: 3, By: s.Kernels}, s.Stores{}, s.RingSum{},
		s.RingSum{Streams: 2, Signals: s.Kernels}, s.RingAccumulate{}, s.RingAccumulate{By: s.KernelSignals}} {
		for _, x := range []form{linear("A[M K/D] B[N K/D] C[M N]").by("C", way), sumsForAll(way)} {
			isCrossed(t, s.WayName(way), x.Schedule, 1, 2, 3, 4, 5, 6, 7, 8)
		}
	}
	for _, name := range []string{"RingOfUneven", "BalancedRing", "BalancedAdded", "RingOfCounted"} {
		isCrossed(t, name, atOnceShown[name].Schedule, 1, 2, 3, 4)
	}
}

// TestPartsByNCCL: sums that begin a chain are collectives of parts of their rows.
func TestPartsByNCCL(t *testing.T) {
	sampling.Test(t, 2, 3)
	two, three := s.NCCL{Parts: 2}, s.NCCL{Parts: 3}
	for name, x := range map[string]form{
		"a block's":         {blockBy(two, s.Pull{}, s.Slots{})},
		"beside packets":    {blockBy(three, s.PushGather{}, s.PushShot{})},
		"beside NCCL":       {blockBy(two, s.NCCL{}, s.NCCL{})},
		"gathered in parts": {blockBy(two, s.NCCL{Parts: 2}, s.Shot{})},
		"pulled in parts":   {blockBy(two, s.Pull{Parts: 2}, s.Shot{})},
		"a function between": of("A[M K] B[F/D K] B2[N F/D] C[M/D N]", s.Linear("H", "A", "B", s.GELU()),
			s.Linear("C", "H", "B2")).by("C", two),
		"for all": of("A[M K] B[F/D K] B2[N F/D] C[M N]", s.Linear("H", "A", "B", s.GELU()),
			s.Linear("C", "H", "B2")).by("C", three),
		"for all, functions and a product": partedAll,
		"for all, and a norm": of("A[M K/D] B[N K/D] Norm[N] R[M N] C[M N]",
			s.Linear("C", "A", "B", s.Add("R"), s.RMSNorm("Norm"))).by("C", two),
		"for all, and a product": of("A[M K/D] B[N K/D] X[M N] B2[F/D N] C[M F/D]", s.Linear("X", "A", "B"),
			s.Linear("C", "X", "B2")).by("X", two),
		"for all, and another sum": of("O[M K/D] Wo[N K/D] X[M N] W1[F/D N] W2[N F/D] C[M N]",
			s.Linear("X", "O", "Wo"), s.Linear("H", "X", "W1", s.GELU()), s.Linear("C", "H", "W2")).
			by("X", two).by("C", s.Shot{}),
		"two terms": of("A[M K/D] B[N K/D] A2[M F/D] B2[N F/D] C[M/D N]", s.Linear("T", "A", "B"),
			s.Linear("C", "A2", "B2", s.Add("T"))).by("C", two),
	} {
		isCrossed(t, name, x.Schedule, 1, 2, 3, 4, 8)
	}
	gathered := func(parts int) form {
		return of("O[M K/D] Wo[N K/D] Wq[F/D N] Q[M:D F/D]", s.Linear("X", "O", "Wo"), s.Linear("Q", "X", "Wq")).
			by("X", s.Pull{Parts: parts}).by("X", two)
	}
	isCrossed(t, "gathered as it is", gathered(1).Schedule, 1, 2, 3, 4, 8)
	isCrossed(t, "gathered as it is, in as many parts", gathered(2).Schedule, 1, 2, 3, 4, 8)
	list := []declared{{"gathered in other parts", "the rows are cut once", gathered(3),
		at("Moves[0].Way.Parts", "X comes in 3 parts, and goes on in 2")}, {"by ranks behind", "X is cut by ranks",
		of("O[M K/D] Wo[N K/D] X[M N] W1[F/D N] W2[N F/D] C[M/D N]", s.Linear("X", "O", "Wo"),
			s.Linear("H", "X", "W1"), s.Linear("C", "H", "W2")).by("X", two).by("C", s.Slots{}),
		at("Moves[0].Way.Parts", "parts of all rows of X meet, and X is taken by the rows of a rank")}}
	explored(t, "Parts", list)
}
