package catalog

import s "ovgen/schedule"

// TensorParallelMLP is a transformer's feed-forward block under tensor and sequence
// parallelism, in one host program and one graph: the all-gather of A with the first
// linear layer and GELU, and the second layer with its reduce-scatter. A shard's rows
// go through both layers as soon as they have come, so the gather also runs under the
// second layer and the first partial results leave while shards still arrive: what two
// programs one after the other lose between them, a tail and a first shard's latency,
// is gone. Choose it over two wherever both layers would overlap; Megatron and
// Transformer Engine run the two apart.
var TensorParallelMLP = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Bias", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D))}},
		{Name: "B2", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.F, s.DIDx(s.D))}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
	},
	Ops: twoLayers,
}

// TensorParallelMLPBatches is TensorParallelMLP with the stream axis on the batch: the
// rows are two batches of sequences, and the reduce-scatter of one runs under the
// gather and the products of the next. Choose it where a batch alone fills the device:
// smaller products cost more than the tail that is hidden. It is the batch-split
// overlap of DeepSpeed's Domino.
var TensorParallelMLPBatches = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.Split{Kind: s.Plain, Count: "2"}, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Bias", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D))}},
		{Name: "B2", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.F, s.DIDx(s.D))}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream("2"), s.DIDx(s.D)), s.Dim(s.N)}},
	},
	Ops: twoLayers,
}

// twoLayers leave what lies between them in memory of the plan.
var twoLayers = []s.Op{s.Linear("H", "A", "B", s.Bias("Bias"), s.GELU()), s.Linear("C", "H", "B2")}
