package forms

import (
	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Sums for all ranks whose owners' parts go on to the others.
var (
	ForAllTiles      = of16(by(catalog.LinearAllReduce, "C", s.Tiles{}))
	ForAllStaged     = by(catalog.LinearAllReduce, "C", s.Staged{})
	ForAllRing       = by(catalog.LinearAllReduce, "C", s.RingSum{})
	ForAllAccumulate = by(catalog.LinearAllReduce, "C", s.RingAccumulate{})
)

// Sums of gradients, which one product makes, and of terms of the caller's.
var (
	GradientSlots = by(gradient, "C", s.Slots{})
	GradientRing  = by(gradient, "C", s.RingSum{})
	TermsRing     = by(catalog.ReduceScatter, "C", s.RingSum{})
)

// Rows that no product takes, and a whole weight, round a ring; and what NCCL moves in place or on by a rank.
var (
	BareRing      = by(catalog.AllGather, "A", s.Ring{})
	BareBothWays  = by(catalog.AllGather, "A", s.Ring{Direction: s.Both})
	WeightRing    = by(catalog.AllGatherWeightLinear, "B", s.Ring{})
	InPlaceNCCL   = by(catalog.AllGatherInPlace, "A", s.NCCL{})
	SumPlacedNCCL = by(catalog.AllReduceInPlace, "C", s.NCCL{})
	MovedOnNCCL   = by(catalog.Permutation, "A", s.NCCL{})
)

// A weight, a gradient's operand and a gradient's sums over hosts.
var (
	HostsWeight   = onHosts(catalog.AllGatherWeightLinear)
	HostsOperand  = onHosts(catalog.RowWeightGradient)
	HostsGradient = onHosts(gradient)
)

// gradient is one whose ranks have rows, and all get its sums.
var gradient = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
	},
	Ops: []s.Op{s.Gradient("C", "A", "B")},
}

// by is a schedule whose tensor travels, or whose sums meet, by a way.
func by(x s.Schedule, of string, way s.Way) s.Schedule {
	x.Moves = []s.Move{{Of: of, Way: way}}
	return x
}
