// Package block has the schedules that bench/block.py measures: a layer of Llama behind attention as one chain, and a
// schedule for each of its stages. It also has schedules that are not in the catalog; bench/gpu.sh compares their bits.
// Only make gpu-build generates their packages.
package block

import (
	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Chain is the whole block, also by packets, and Mixed a chain with casts.
var (
	Chain          = catalog.BlockBehindAttention
	ChainByPackets = catalog.BlockBehindAttentionPackets
	Mixed          = catalog.MixedMLP
)

// Projection is the chain's first stage: the projection, its reduce-scatter and the residual.
var Projection = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "Attention", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "Weight", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "Residual", Axes: rows(s.N)},
		{Name: "R", Axes: rows(s.N)},
	},
	Ops: []s.Op{s.Linear("R", "Attention", "Weight", s.Add("Residual"))},
}

// Gate is the chain's second stage: the norm, the gather, gate and up.
var Gate = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "R", Axes: rows(s.K)},
		{Name: "Norm", Axes: []s.Axis{s.Dim(s.K)}},
		{Name: "Gate", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Up", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "G", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.F, s.DIDx(s.D))}},
	},
	Ops: []s.Op{
		s.Copy("X", "R", s.RMSNorm("Norm")), s.Linear("U", "X", "Up"), s.Linear("G", "X", "Gate", s.SwiGLU("U")),
	},
}

// GatedByGELU is an MLP with a gate by gelu.
var GatedByGELU = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: rows(s.K)},
		{Name: "Gate", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Up", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Down", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.F, s.DIDx(s.D))}},
		{Name: "C", Axes: rows(s.N)},
	},
	Ops: []s.Op{
		s.Linear("U", "A", "Up"), s.Linear("G", "A", "Gate", s.GeGLU("U")), s.Linear("C", "G", "Down"),
	},
}

// LogitsOfRows gathers rows for the vocabulary's weight, and then the columns that each rank makes.
var LogitsOfRows = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: rows(s.K)},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Linear("C", "A", "B")},
}

// WeightAlongInputs gathers a weight that is spread along its inputs.
var WeightAlongInputs = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Linear("C", "A", "B")},
}

// Batches has an axis of four batches of rows.
var Batches = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim("4"), s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
		{Name: "C", Axes: []s.Axis{s.Dim("4"), s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.BatchedLinear("C", "A", "B")},
}

// ScatteredColumns leaves each rank its columns of the sums.
var ScatteredColumns = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N, s.DIDx(s.D))}},
	},
	Ops: []s.Op{s.Linear("C", "A", "B")},
}

// AllRows is the block where each rank has all rows: both sums go to all, as packets and as plain data.
var AllRows = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "Attention", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "Projection", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "Residual", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		{Name: "Norm", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "Gate", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "Up", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "Down", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.F, s.DIDx(s.D))}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops:   Chain.Ops,
	Moves: []s.Move{{Of: "R", Way: s.PushShot{}}, {Of: "C", Way: s.PushShot{Words: true}}},
}

// GatedByShots gathers rows by one kernel; they have another number of columns than the sums.
var GatedByShots = s.Schedule{
	Tensors: catalog.GatedMLP.Tensors,
	Ops:     catalog.GatedMLP.Ops,
	Moves:   []s.Move{{Of: "A", Way: s.GatherShot{}}, {Of: "C", Way: s.PushShot{}}},
}

// rows are the axes of a tensor with M/D rows on each rank.
func rows(columns s.Extent) []s.Axis { return []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(columns)} }
