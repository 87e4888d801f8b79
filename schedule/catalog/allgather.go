package catalog

import s "ovgen/schedule"

// AllGatherMatmul multiplies a row-sharded A with a whole B on every rank: the input
// side of a tensor-parallel layer under sequence parallelism. Each rank multiplies its
// own shard while the copy engine pulls the others, straight from their owners in the
// order r+1, r+2, ...; choose it wherever peers are joined by NVLink and a shard is a
// megabyte or more (Flux and PyTorch run this order). It is the input's gradient of a
// row-parallel layer too, with the output's gradient for A.
var AllGatherMatmul = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.K), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Matmul("C", "A", "B")},
}

// AllGatherLinear is AllGatherMatmul for a linear layer: B holds the weight as [N, K],
// and a bias is added to each row in the product's epilogue.
var AllGatherLinear = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
}

// AllGatherLinearBalanced is AllGatherLinear of any number of rows, from one on: where the ranks don't divide
// them, the first have one more than the others. Nothing is padded. A rank that has none calls New, Bind and the runs
// like the others. Choose it for a batch that changes.
var AllGatherLinearBalanced = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.Balanced(s.D)), s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
		{Name: "Bias", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops: linear,
}

// AllGatherLinearBalancedOnce pulls the shards, a kernel each, and multiplies all rows at once, so that the weights are
// read once and not for each shard. Nothing overlaps: choose it for few rows, as at decoding.
var AllGatherLinearBalancedOnce = s.Schedule{
	Tensors: AllGatherLinearBalanced.Tensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.Pull{Once: true, By: s.OneKernel}}},
}

// AllGatherLinearKernels is AllGatherLinear with its waits, posts and copies in emitted
// kernels instead of stream memory operations and the copy engine. Below about a
// megabyte a shard, a copy by kernel starts sooner; above, the copy engine leaves the
// multiprocessors to the products and is faster.
var AllGatherLinearKernels = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.Pull{By: s.Kernels}}},
}

// AllGatherLinearPut pushes instead: each rank writes its shard into every peer's gathered
// tensor, in the order r-1, r-2, ... so that all links are used at once, and a product
// waits for the word that comes after its shard. On NVLink a push of a large shard alone is
// 5 % faster than a pull and one of a megabyte a quarter; it costs a post of the owner that
// its memory may be written and a wait before each product, and with these it is level with
// AllGatherLinear from four thousand rows on and slower below. Transformer Engine and
// nvFuser can push.
var AllGatherLinearPut = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.Push{}}},
}

// AllGatherLinearParts lets each shard travel in two parts with a product each, so that
// the first product of a peer's rows starts after half a copy. It pays where shards are
// large and few, as with two ranks; smaller products fill the device less well, so it
// costs below four thousand rows. CUTLASS and PyTorch's pipelines have the same choice.
var AllGatherLinearParts = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.Pull{Parts: 2}}},
}

// AllGatherLinearCopied copies the own shard beside the others and multiplies it there,
// as nvFuser's pipelines and Flux do. The copy costs a shard's traffic in device memory
// before the first product; choose it to compare with them.
var AllGatherLinearCopied = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.Naive{Copied: true}}},
	Teaches: true,
}

// AllGatherLinearGrouped multiplies the own shard, then the shards after it as one product
// when the last of them is there, then the shards before it: three products instead of D.
// Fewer and larger products waste less of the device in their last wave; choose it where a
// shard's product fills the device badly and the copies are short beside it (four H200s,
// 4096 rows: .99 of the product alone, .98 by shards). Transformer Engine's aggregate takes
// two shards at a time.
var AllGatherLinearGrouped = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.Grouped{}}},
}

// AllGatherLinearFused is for small shards: one kernel waits for a peer's shard, copies it
// and posts that it was read, on the stream of the product that needs it, so that a step is
// two launches and no event. Pulls from all peers run at once, which is best where latency
// bounds the copy, below about a megabyte a shard.
var AllGatherLinearFused = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.Pull{By: s.OneKernel, WithStep: true}}},
}

// AllGatherLinearOneShot reads all shards by one kernel and multiplies all rows at once, so
// that the weights are read once and not for each shard. Nothing overlaps; choose it for
// few rows, where the product is bound by reading the weights: below about 512 with two ranks.
var AllGatherLinearOneShot = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.GatherShot{}}},
}

// AllGatherLinearPackets is AllGatherLinearOneShot whose ranks send their shards as packets, words that the peer polls:
// nobody asks whether the peer is ready. Choose it for shards of up to a megabyte or two.
var AllGatherLinearPackets = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.PushGather{}}},
}

// AllGatherLinearTiles is one launch: its kernel multiplies the own shard while it pulls the shards of the others, and
// multiplies each of them as soon as it is there. It runs on GPUs of compute capability 9.0 alone, and reads the
// weights once for each shard: choose it for 512 rows or more, and AllGatherLinearOneShot for fewer.
var AllGatherLinearTiles = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Types:   []s.Type{s.BF16, s.FP16},
	Moves:   []s.Move{{Of: "A", Way: s.Tiles{}}},
}

// AllGatherLinearBroadcast takes a root a step: in step i rank i pushes its shard to
// all peers, and every rank multiplies the shards in the order of ranks. It is
// nvFuser's pipeline without an index offset. All ranks multiply rows 0 first, so all
// wait for the same root, which has D-1 copies to make; choose it to compare, or where
// a broadcast is cheap.
var AllGatherLinearBroadcast = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.Broadcast{}}},
	Teaches: true,
}

// AllGatherLinearStartInLoop makes each step's streams wait for the caller's stream
// inside the loop, which has already joined the step before: nothing overlaps. Never
// choose it: it shows the mistake that nvFuser's pull request 4217 repaired.
var AllGatherLinearStartInLoop = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.Naive{StartInLoop: true}}},
	Teaches: true,
}

// AllGatherLinearHandlesInLoop exchanges IPC handles in each step, where nvFuser has it: a
// cache hit after the first run, so the results equal AllGatherLinear's, and nearly the
// times; counters show the hits.
var AllGatherLinearHandlesInLoop = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.Naive{HandlesInLoop: true}}},
	Teaches: true,
}

var linearTensors = []s.Tensor{
	{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
	{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
	{Name: "Bias", Axes: []s.Axis{s.Dim(s.N)}},
	{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}},
}

var linear = []s.Op{s.Linear("C", "A", "B", s.Bias("Bias"))}

// AllGatherLinearBatches is AllGatherLinear of several sequences side by side. Every rank has a part of each:
// [b, s, h] spread along s, as rows [b*s, h]. A step gathers a rank's rows of all sequences, and multiplies each
// sequence's where they belong, so that nothing is copied to bring them together.
var AllGatherLinearBatches = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.Split{Kind: s.Plain, Count: "4"}, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Split{Kind: s.Plain, Count: "4"}, s.Stream(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Linear("C", "A", "B")},
}
