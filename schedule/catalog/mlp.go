package catalog

import s "ovgen/schedule"

// TensorParallelMLP is a transformer's feed-forward block under tensor and sequence
// parallelism, in one host program and one graph: the all-gather of A with the first linear
// layer and GELU, and the second layer with its reduce-scatter. A shard's rows go through both
// layers as soon as they have come, so the gather also runs under the second layer and the
// first partial results leave while shards still arrive. This saves the first program's tail
// and the second one's wait for its first shard. Choose it over two wherever both layers would
// overlap; Megatron and Transformer Engine run the two apart.
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

// GatedMLP is TensorParallelMLP as Llama has it: gate and up, two products of the gathered rows, are
// joined by SwiGLU, and the residual is added by the kernel that sums. The schedule has the math and the
// placements alone: ovgen infers that A is gathered once for both products, and that the partial results
// of the second layer leave a shard at a time. SwiGLU has a kernel of its own for each shard, between the
// products that it depends on.
var GatedMLP = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Gate", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Up", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Down", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.F, s.DIDx(s.D))}},
		{Name: "Residual", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{
		s.Linear("U", "A", "Up"), s.Linear("G", "A", "Gate", s.SwiGLU("U")),
		s.Linear("C", "G", "Down", s.Add("Residual")),
	},
}

// InvariantMLP is GatedMLP with equal bits: a row's result does not depend on the number of rows in the batch, and
// InvariantMLPPackets and InvariantMLPTiles make the same. Choose them where an answer must not change with the load of
// a server, or where training has to meet the bits of serving.
var InvariantMLP = s.Schedule{Tensors: GatedMLP.Tensors, Ops: GatedMLP.Ops, Invariant: true}

// InvariantMLPPackets is InvariantMLP for few rows, by packets.
var InvariantMLPPackets = s.Schedule{
	Tensors: GatedMLP.Tensors, Ops: GatedMLP.Ops, Invariant: true,
	Moves: []s.Move{{Of: "A", Way: s.PushGather{}}, {Of: "C", Way: s.PushShot{}}},
}

// InvariantMLPTiles is InvariantMLP for many rows, by tiles: one kernel gathers A and makes the first product, another
// makes the last and sums. New compares their bits with the library's.
var InvariantMLPTiles = s.Schedule{
	Tensors: GatedMLP.Tensors, Ops: GatedMLP.Ops, Invariant: true,
	Moves: []s.Move{{Of: "A", Way: s.Tiles{}}, {Of: "C", Way: s.Tiles{}}},
	Types: []s.Type{s.BF16, s.FP16},
}

// GatedMLPFewRows is GatedMLP for decoding, by packets: up to 64 rows are multiplied by kernels of the package, one of
// which makes SwiGLU of its products, so no kernel stands between them. Alone on an H200 it
// is level with GatedMLP for one row, and slower for 8 to 32 (docs/performance.md).
var GatedMLPFewRows = s.Schedule{
	Tensors: GatedMLP.Tensors, Ops: GatedMLP.Ops, FewRows: 64,
	Moves: []s.Move{{Of: "A", Way: s.PushGather{}}, {Of: "C", Way: s.PushShot{}}},
}

// MixedMLP is TensorParallelMLP between tensors of fp32, in plans of 16 bits: each rank rounds its rows before they are
// gathered, so half of the bytes travel, and the sums of the second layer stay in fp32 as they are added up. Choose it
// where a residual or a gradient is kept in fp32.
var MixedMLP = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}, Type: s.FP32},
		{Name: "B", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "B2", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.F, s.DIDx(s.D))}},
		{Name: "Bias2", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}, Type: s.FP32},
	},
	Ops: []s.Op{
		s.Copy("X", "A", s.Rounded()), s.Linear("H", "X", "B", s.GELU()),
		s.Linear("C", "H", "B2", s.Bias("Bias2")),
	},
}

// BlockBehindAttention is a layer of Llama from the attention's output to the next residual, in one host
// program and one graph: the row-parallel projection and its reduce-scatter with the residual, the norm
// of each rank's own rows, the gather of the normed rows, and the gated MLP with the second residual.
// The norm comes before the gather, so each rank norms its share of the rows once. Between the two sums
// no rank waits for anything but rows: it multiplies a peer's rows as soon as that peer has summed and
// normed them.
var BlockBehindAttention = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "Attention", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "Projection", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "Residual", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "Norm", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "Gate", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "Up", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "Down", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.F, s.DIDx(s.D))}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{
		s.Linear("R", "Attention", "Projection", s.Add("Residual")),
		s.Copy("X", "R", s.RMSNorm("Norm")),
		s.Linear("U", "X", "Up"), s.Linear("G", "X", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("R")),
	},
}

// BlockBehindAttentionPackets is BlockBehindAttention for few rows: partial results and normed rows go to their ranks
// as packets, and each weight is multiplied with all rows at once, so it is read once. One kernel sums, and adds the
// residual. Choose it up to a thousand rows, as in decoding and for chunks of a prompt.
var BlockBehindAttentionPackets = s.Schedule{
	Tensors: BlockBehindAttention.Tensors,
	Ops:     BlockBehindAttention.Ops,
	Moves: []s.Move{{Of: "R", Way: s.PushShot{}}, {Of: "X", Way: s.PushGather{}},
		{Of: "C", Way: s.PushShot{}}},
}

// BlockBehindAttentionTiles is BlockBehindAttention for many rows: a kernel of tiles gathers the normed rows and makes
// the first product of them, and kernels of tiles make the products before both sums, add up, and add the residual.
// Choose it from 512 rows on, on devices of compute capability 9.0.
var BlockBehindAttentionTiles = s.Schedule{
	Tensors: BlockBehindAttention.Tensors,
	Ops:     BlockBehindAttention.Ops,
	Moves:   []s.Move{{Of: "R", Way: s.Tiles{}}, {Of: "X", Way: s.Tiles{}}, {Of: "C", Way: s.Tiles{}}},
	Types:   []s.Type{s.BF16, s.FP16},
}

// BlockBehindAttentionGatherTiles is BlockBehindAttention whose normed rows alone come by a kernel of tiles, which
// makes the first product of them. Both sums go by copies beside their products. Choose it from 4096 rows of 8B's sizes
// on, on devices of compute capability 9.0.
var BlockBehindAttentionGatherTiles = s.Schedule{
	Tensors: BlockBehindAttention.Tensors,
	Ops:     BlockBehindAttention.Ops,
	Moves:   []s.Move{{Of: "X", Way: s.Tiles{}}},
	Types:   []s.Type{s.BF16, s.FP16},
}

// twoLayers leave the tensor between them in memory of the plan.
var twoLayers = []s.Op{s.Linear("H", "A", "B", s.Bias("Bias"), s.GELU()), s.Linear("C", "H", "B2")}
