package forms

import (
	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Rows of batches: a round takes those of all, or each batch has rounds of its own, whose sums leave.
var (
	BatchesPush     = by(catalog.AllGatherLinearBatches, "A", s.Push{})
	BatchesRing     = by(catalog.AllGatherLinearBatches, "A", s.Ring{WithStep: true})
	BatchesPushRing = by(catalog.AllGatherLinearBatches, "A", s.PushRing{})
	BatchesRoots    = by(catalog.AllGatherLinearBatches, "A", s.Broadcast{})
	BatchesGrouped  = by(catalog.AllGatherLinearBatches, "A", s.Grouped{})
	BatchesOnce     = by(catalog.AllGatherLinearBatches, "A", s.Pull{Once: true})
	BatchesShot     = by(catalog.AllGatherLinearBatches, "A", s.GatherShot{})
	BatchesNCCL     = by(catalog.AllGatherLinearBatches, "A", s.NCCL{})
	StepsShot       = by(catalog.AllGatherLinearCollective2, "A", s.GatherShot{})

	BatchLayerPush       = batches(s.Push{}, s.Slots{})
	BatchLayerKernels    = batches(s.Push{By: s.Kernels}, s.Slots{By: s.Kernels})
	BatchLayerRing       = batches(s.Ring{}, s.Slots{})
	BatchLayerPushRing   = batches(s.PushRing{By: s.Kernels}, s.Stores{})
	BatchLayerRoots      = batches(s.Broadcast{}, s.Stores{Signals: s.MemOps})
	BatchLayerShots      = batches(s.GatherShot{}, s.Shot{})
	BatchLayerRingSum    = batches(s.GatherShot{}, s.RingSum{})
	BatchLayerAccumulate = batches(s.NCCL{}, s.RingAccumulate{})
	BatchLayerNCCL       = batches(s.NCCL{}, s.NCCL{})
)

// Sums that leave in batches.
var (
	BatchSumsStores     = by(catalog.LinearReduceScatterBatches, "C", s.Stores{Signals: s.Kernels})
	BatchSumsStaged     = by(catalog.LinearReduceScatterBatches, "C", s.Staged{})
	BatchSumsRing       = by(catalog.LinearReduceScatterBatches, "C", s.RingSum{})
	BatchSumsAccumulate = by(catalog.LinearReduceScatterBatches, "C", s.RingAccumulate{})
	BatchSumsShot       = by(catalog.LinearReduceScatterBatches, "C", s.Shot{})
	BatchSumsNCCL       = by(catalog.LinearReduceScatterBatches, "C", s.NCCL{})
)

// Columns that come by strided copies, into the caller's memory and into the plan's, and parts that are pushed.
var (
	ColumnsRing           = by(catalog.Logits, "C", s.Ring{})
	ColumnsNormedRing     = normedColumns(s.Ring{By: s.KernelSignals})
	ColumnsNormedPush     = normedColumns(s.Push{})
	ColumnsNormedPushRing = normedColumns(s.PushRing{})
	ColumnsNormedRoots    = normedColumns(s.Broadcast{})
	ExchangePush          = pushed(catalog.AllToAll)
	ExchangeCountedPush   = pushed(catalog.AllToAllV)
	ExchangeColumnsPush   = pushed(catalog.AllToAllColumns)
)

// Rows by counts, and sums of such rows.
var (
	CountedRing      = by(AllGatherVLinear, "A", s.Ring{})
	CountedPush      = by(AllGatherVLinear, "A", s.Push{})
	CountedPushRing  = by(AllGatherVLinear, "A", s.PushRing{By: s.Kernels})
	CountedRoots     = by(AllGatherVLinear, "A", s.Broadcast{})
	CountedSumsRing  = by(LinearReduceScatterV, "C", s.RingSum{})
	CountedSumsSlots = by(LinearReduceScatterV, "C", s.Slots{})
	CountedTerms     = by(catalog.ReduceScatterV, "C", s.Slots{By: s.OneKernel})
	CountedLayer     = s.Schedule{Tensors: GatedMLPV.Tensors, Ops: GatedMLPV.Ops,
		Moves: []s.Move{{Of: "A", Way: s.Push{By: s.Kernels}}, {Of: "C", Way: s.RingSum{}}}}
)

// batches is an MLP whose rows come in batches by one way, and whose sums leave by another.
func batches(gather, sum s.Way) s.Schedule {
	x := catalog.TensorParallelMLPBatches
	x.Moves = []s.Move{{Of: "A", Way: gather}, {Of: "C", Way: sum}}
	return x
}

// normedColumns gathers the columns of a product, and norms whole rows of these.
func normedColumns(way s.Way) s.Schedule {
	return s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "B", Axes: []s.Axis{s.Dim(s.N, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "Norm", Axes: []s.Axis{s.Dim(s.N)}},
			{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		},
		Ops:   []s.Op{s.Linear("H", "A", "B"), s.Copy("C", "H", s.RMSNorm("Norm"))},
		Moves: []s.Move{{Of: "H", Way: way}},
	}
}

// pushed is an exchange into memory of the plan, from which a function makes the caller's.
func pushed(x s.Schedule) s.Schedule {
	x.Ops = []s.Op{s.Copy("C", "A", s.Scale(.5))}
	x.Moves = []s.Move{{Of: "A", Way: s.Push{}}}
	return x
}
