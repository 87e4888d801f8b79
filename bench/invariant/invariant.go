// Package invariant has one operation by several ways, all of which must give a row the same bits; `bench/gpu.sh same`
// compares them on GPUs. Those named Free lack the promise, for its cost.
package invariant

import (
	"slices"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// by is an operation with equal bits and its communication by a way.
func by(of s.Schedule, moves ...s.Move) s.Schedule {
	return s.Schedule{Tensors: of.Tensors, Ops: of.Ops, Moves: moves, Invariant: true}
}

// out moves the results, in the rows of A.
func out(w s.Way) s.Move { return s.Move{Of: "C", Way: w} }

func in(w s.Way) s.Move { return s.Move{Of: "A", Way: w} }

// tiles is by, in the two types that kernels of tiles take.
func tiles(of s.Schedule, moves ...s.Move) s.Schedule {
	x := by(of, moves...)
	x.Types = []s.Type{s.BF16, s.FP16}
	return x
}

// free is a schedule without the promise, for its cost.
func free(x s.Schedule) s.Schedule {
	x.Invariant = false
	return x
}

// A product and its reduce-scatter.
var (
	ScatterSlots   = by(catalog.LinearReduceScatter)
	ScatterShot    = by(catalog.LinearReduceScatter, out(s.Shot{}))
	ScatterStores  = by(catalog.LinearReduceScatter, out(s.Stores{}))
	ScatterPackets = by(catalog.LinearReduceScatter, out(s.PushShot{}))
	ScatterWords   = by(catalog.LinearReduceScatter, out(s.PushShot{Words: true}))
	ScatterStaged  = by(catalog.LinearReduceScatter, out(s.Staged{}))
	ScatterParts   = by(catalog.LinearReduceScatter, out(s.Slots{By: s.Kernels}))
	ScatterKernels = by(catalog.LinearReduceScatter, out(s.Stores{Signals: s.MemOps}))
	ScatterTiles   = tiles(catalog.LinearReduceScatter, out(s.Tiles{}))
)

// A product and its all-reduce.
var (
	ReduceSlots      = by(catalog.LinearAllReduce)
	ReduceShot       = by(catalog.LinearAllReduce, out(s.Shot{}))
	ReduceTwoShot    = by(catalog.LinearAllReduce, out(s.TwoShot{}))
	ReducePackets    = by(catalog.LinearAllReduce, out(s.PushShot{}))
	ReduceWords      = by(catalog.LinearAllReduce, out(s.PushShot{Words: true}))
	ReduceTwoPackets = by(catalog.LinearAllReduce, out(s.PushTwoShot{}))
	ReduceTiles      = tiles(catalog.LinearAllReduce, out(s.Tiles{}))
)

// An all-gather and its product.
var (
	GatherPull      = by(catalog.AllGatherLinear)
	GatherKernels   = by(catalog.AllGatherLinear, in(s.Pull{By: s.Kernels}))
	GatherPush      = by(catalog.AllGatherLinear, in(s.Push{}))
	GatherPushRing  = by(catalog.AllGatherLinear, in(s.PushRing{}))
	GatherOnce      = by(catalog.AllGatherLinear, in(s.Pull{Once: true}))
	GatherParts     = by(catalog.AllGatherLinear, in(s.Pull{Parts: 2}))
	GatherGrouped   = by(catalog.AllGatherLinear, in(s.Grouped{}))
	GatherRing      = by(catalog.AllGatherLinear, in(s.Ring{}))
	GatherBroadcast = by(catalog.AllGatherLinear, in(s.Broadcast{}))
	GatherShot      = by(catalog.AllGatherLinear, in(s.GatherShot{}))
	GatherPackets   = by(catalog.AllGatherLinear, in(s.PushGather{}))
	GatherNCCL      = by(catalog.AllGatherLinear, in(s.NCCL{}))
	GatherTiles     = tiles(catalog.AllGatherLinear, in(s.Tiles{}))
)

// An all-reduce, the residual and the norm behind a product: by every rank or by owners of rows.
var (
	NormSlots  = by(normed)
	NormShot   = by(normed, s.Move{Of: "R", Way: s.Shot{}})
	NormRows   = by(normed, s.Move{Of: "R", Way: s.PushShot{Rows: true}})
	NormOwners = by(normed, s.Move{Of: "R", Way: s.PushTwoShot{Rows: true}})
)

var normed = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "Residual", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		{Name: "Norm", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "R", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Linear("C", "A", "B", s.Add("Residual"), s.RMSNorm("Norm")).Keeping("R", 1)},
}

// Llama's MLP.
var (
	MLP         = by(catalog.GatedMLP)
	MLPShot     = by(catalog.GatedMLP, out(s.Shot{}))
	MLPPackets  = by(catalog.GatedMLP, in(s.PushGather{}), out(s.PushShot{}))
	MLPTiles    = tiles(catalog.GatedMLP, in(s.Tiles{}), out(s.Tiles{}))
	Free        = free(MLP)
	FreePackets = free(MLPPackets)
	FreeTiles   = free(MLPTiles)
)

// The same by the kernels of few rows, for any number of rows: they have an order of their own. Early is by weights
// that the kernels read ahead. FreeFew and FreeFewEarly lack the promise, for its cost: from 9 rows on
// FreeFewEarly has kernels by boxes, and above 64 rows the library multiplies in both.
var (
	FewMLP        = few(MLP, false)
	FewMLPPackets = few(MLPPackets, false)
	FewMLPEarly   = few(MLPPackets, true)
	FreeFew       = few(FreePackets, false)
	FreeFewEarly  = few(FreePackets, true)
)

// few is a schedule whose products are made by kernels of few rows, of weights that may be constant.
func few(x s.Schedule, early bool) s.Schedule {
	x.FewRows, x.Types = 64, []s.Type{s.BF16, s.FP16}
	x.Tensors = slices.Clone(x.Tensors)
	for i, t := range x.Tensors {
		x.Tensors[i].Constant = early && slices.Contains([]string{"Gate", "Up", "Down"}, t.Name)
	}
	return x
}

// Products of eight bits and scales of rows: with the reduce-scatter, with the all-gather, quantised ahead of it, and
// with the all-reduce. For that, each rank quantises its part of A first.
var (
	EightScatterSlots   = by(catalog.LinearReduceScatterFP8)
	EightScatterShot    = by(catalog.LinearReduceScatterFP8, out(s.Shot{}))
	EightScatterPackets = by(catalog.LinearReduceScatterFP8, out(s.PushShot{}))
	EightGatherPull     = by(catalog.AllGatherLinearFP8)
	EightGatherRing     = by(catalog.AllGatherLinearFP8, in(s.Ring{}))
	EightGatherShot     = by(catalog.AllGatherLinearFP8, in(s.GatherShot{}))
	EightQuantisedPull  = by(catalog.AllGatherLinearQuantised)
	EightQuantisedRing  = by(catalog.AllGatherLinearQuantised, s.Move{Of: "Codes", Way: s.Ring{}})
	EightReduceSlots    = by(catalog.LinearAllReduceQuantised)
	EightReduceTwoShot  = by(catalog.LinearAllReduceQuantised, out(s.TwoShot{}))
	EightReducePackets  = by(catalog.LinearAllReduceQuantised, out(s.PushShot{}))
)
