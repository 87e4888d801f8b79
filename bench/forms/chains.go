package forms

import (
	"slices"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// MLPs whose rows come in pieces of several kinds, beside sums that meet once all are there.
var (
	PiecesGroupedShot = mlp(s.Grouped{}, s.Shot{})
	PiecesPartsTiles  = of16(mlp(s.Pull{Parts: 2}, s.Tiles{}))
	PiecesPushPackets = mlp(s.Push{Parts: 2}, s.PushShot{})
	PiecesBothShot    = mlp(s.Ring{Direction: s.Both}, s.Shot{Signals: s.MemOps})
	PiecesPushedWords = mlp(s.PushRing{Direction: s.Both}, s.PushShot{Words: true})
	PiecesNCCL        = mlp(s.NCCL{Parts: 2}, s.NCCL{})
)

// Sums that pass on, or leave by kernels, behind rows that came at once or go on.
var (
	PassedNCCL      = mlp(s.NCCL{}, s.RingSum{})
	PassedPackets   = block(s.Shot{}, s.PushGather{}, s.RingAccumulate{})
	StoredMLP       = mlp(s.Pull{}, s.Stores{})
	StoredBlock     = block(s.Stores{}, s.Pull{}, s.Stores{})
	OneKernelBlock  = block(s.Slots{By: s.OneKernel}, s.Push{By: s.OneKernel}, s.Slots{By: s.OneKernel})
	PartedBlock     = block(s.NCCL{Parts: 2}, s.Pull{}, s.Slots{})
	TilesBlock      = of16(block(s.Slots{}, s.Tiles{}, s.Slots{}))
	TilesEveryBlock = of16(block(s.Tiles{}, s.Tiles{}, s.Tiles{}))
)

// Kernels that do whole steps of chains or wait ahead of products, and stores behind meetings.
var (
	ReadOneKernel = block(s.Stores{}, s.Pull{By: s.OneKernel}, s.Slots{})
	WaitsWithStep = mlp(s.Pull{WithStep: true, By: s.Kernels}, s.Slots{By: s.Kernels})
	WaitsStored   = mlp(s.Ring{WithStep: true, By: s.Kernels}, s.Stores{})
	StoredMet     = block(s.Shot{}, s.GatherShot{}, s.Stores{})
	PartedStored  = block(s.NCCL{Parts: 2}, s.Pull{}, s.Stores{})
)

// WeightsPushed are weights that their ranks push.
var WeightsPushed = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "B2", Axes: []s.Axis{s.Dim(s.N, s.DIDx(s.D)), s.Dim(s.F)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
	},
	Ops:   []s.Op{s.Linear("H", "A", "B"), s.Linear("C", "H", "B2")},
	Moves: []s.Move{{Of: "B", Way: s.Push{}}, {Of: "B2", Way: s.Push{By: s.KernelSignals}}},
}

// Sums that lie within their operands.
var (
	WithinPackets = within(s.PushShot{})
	WithinSlots   = within(s.Slots{})
)

// block is a block behind attention, by the ways of its first sum, its gather and its last sum.
func block(sum, gather, last s.Way) s.Schedule {
	x := catalog.BlockBehindAttention
	x.Moves = []s.Move{{Of: "R", Way: sum}, {Of: "X", Way: gather}, {Of: "C", Way: last}}
	return x
}

// within is a sum for all ranks that lies within the operand on each rank.
func within(way s.Way) s.Schedule {
	x := ended(way)
	x.Ops = []s.Op{s.Sum("C", "A")}
	x.Tensors = slices.DeleteFunc(x.Tensors, func(t s.Tensor) bool { return t.Name != "A" && t.Name != "C" })
	for i := range x.Tensors {
		if x.Tensors[i].Name == "C" {
			x.Tensors[i].Within = "A"
		}
	}
	return x
}
