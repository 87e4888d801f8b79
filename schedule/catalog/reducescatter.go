package catalog

import s "ovgen/schedule"

// LinearReduceScatter multiplies A and a weight [N, K] that are both cut along K, and
// leaves each rank its rows of the sum: the output side of a tensor-parallel layer
// under sequence parallelism. Each rank multiplies the others' rows first, in the order
// r+1, r+2, ..., the copy engine puts every partial result into a slot at its owner
// after its product, and the owner sums its slots once, in fp32 and in the order of
// ranks, so runs give equal bits. The products have a stream each, of falling priority: a
// part that leaves must be done first, and the next fills the rest of the device;
// the first begins before the post, so that no other takes its place. The copies have a
// stream each as well, so that one starts under another. Each stream of products takes
// its 32 MiB of workspace. Choose it from about two thousand rows on (four H200s: .56 of
// the product alone at 2048, .73 at 4096, .81 at 8192, .97 at 32768); PyTorch and Flux
// reduce at the end as well.
var LinearReduceScatter = s.Schedule{
	Tensors: linearScattered,
	Ops:     product,
}

// LinearReduceScatterBalanced is LinearReduceScatter to any number of rows, from one on: where the ranks don't divide
// them, the first have one more than the others. Nothing is padded. Choose it behind AllGatherLinearBalanced.
var LinearReduceScatterBalanced = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Balanced(s.D)), s.Dim(s.N)}},
	},
	Ops: product,
}

// LinearReduceScatterBalancedOneShot is LinearReduceScatterOneShot to any number of rows: one product of them all, and
// one kernel that sums the own ones. Choose it at decoding.
var LinearReduceScatterBalancedOneShot = s.Schedule{
	Tensors: LinearReduceScatterBalanced.Tensors,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.Shot{}}},
}

// RowParallelLinear is LinearReduceScatter with the functions that follow it in a transformer: the bias of a
// row-parallel layer, added once, and the residual, whose rows are spread as the result's. The
// kernel that sums adds both before it rounds, so neither costs a launch nor a pass over memory
// of its own. Choose it for the projection after attention and for the second layer of an MLP
// that is not one program with the first.
var RowParallelLinear = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "Bias", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "Residual", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Linear("C", "A", "B", s.Bias("Bias"), s.Add("Residual"))},
}

// MatmulReduceScatter is LinearReduceScatter for a weight that is stored [K, N]. It is the
// input's gradient of a column-parallel layer too, with the output's gradient for A, as in
// Transformer Engine's backward pass.
var MatmulReduceScatter = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.K, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Matmul("C", "A", "B")},
}

// LinearReduceScatterGet is LinearReduceScatter with the owner copying: products alternate
// between two staging buffers, and one is used again when its reader has posted that it is
// done. It takes two chunks of memory beside the slots where the put form takes one a rank,
// and waits for readers; PyTorch's fused matmul-reduce-scatter runs this order.
var LinearReduceScatterGet = s.Schedule{
	Tensors: linearScattered,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.Staged{}}},
}

// LinearReduceScatterInSlot is LinearReduceScatter without a copy: each product writes
// its result over the link into the owner's slot, steps on streams of their own. A copy
// costs more to start than to run where parts are small; where they are large, the
// stores hold the multiprocessors up. On four H200s another was always faster (.36 of
// the product alone at 1024 rows, .73 at 8192): choose it to save the memory of parts
// that are about to leave.
var LinearReduceScatterInSlot = s.Schedule{
	Tensors: linearScattered,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.Stores{Signals: s.MemOps}}},
	Teaches: true,
}

// LinearReduceScatterKernels is LinearReduceScatterInSlot with its waits and posts in
// emitted kernels: the ranks meet once before the products that write to peers, and
// once in the kernel that sums, so that a replay is a chain of few short launches.
// Choose it from about a thousand to two thousand rows (four H200s, replayed: .38 at
// 512, .46 at 1024, .55 at 2048).
var LinearReduceScatterKernels = s.Schedule{
	Tensors: linearScattered,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.Stores{}}},
}

// LinearReduceScatterPutKernels is LinearReduceScatter with each put and its signals in
// one kernel, and the last wait in the kernel that sums. A copy by kernel starts sooner
// than one by the copy engine but takes multiprocessors from the products: choose it
// where the parts are small, below a thousand rows (four H200s: .42 at 512), and up to
// two thousand where K is long beside N (.96 of torch's product for 70B's second layer).
var LinearReduceScatterPutKernels = s.Schedule{
	Tensors: linearScattered,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.Slots{By: s.OneKernel}}},
}

// LinearReduceScatterInOrder is LinearReduceScatter with all products on one stream:
// each begins when the one before has ended, so the last multiprocessors of each are
// idle for a while, but nothing depends on how the device picks among kernels. The two
// differ by a few percent either way: tune, or choose this one on a device that others
// use at the same time.
var LinearReduceScatterInOrder = s.Schedule{
	Tensors: linearScattered,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.Slots{Streams: 1}}},
}

// LinearReduceScatterOneShot multiplies all rows in one product, which then wastes
// nothing of the device, and one kernel sums the own rows as it reads the peers' over
// the link. Nothing overlaps: choose it where the whole is a few tens of microseconds
// and cutting the product would cost more than the link, as at decoding, and up to about
// a thousand rows where runs are enqueued one by one (four H200s, not replayed: .34 of
// the product alone at 512 rows, .39 at 1024, the fastest). It is the first half of
// LinearAllReduceTwoShot.
var LinearReduceScatterOneShot = s.Schedule{
	Tensors: linearScattered,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.Shot{}}},
}

// LinearReduceScatterPackets is LinearReduceScatterOneShot whose ranks send each other the rows as packets, as soon as
// the product has made them: nobody asks whether the peer is ready. Choose it for up to 512 rows.
var LinearReduceScatterPackets = s.Schedule{
	Tensors: linearScattered,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.PushShot{}}},
}

// LinearReduceScatterTiles is one launch: its kernel multiplies the peers' rows by tiles, which leave for their owner
// as they are made, then its own rows, and adds the peers' tiles to each of its own, as soon as its group of tiles
// has come from all of them. It runs on GPUs of compute capability 9.0 alone, and its blocks must all run at the same
// time: nothing else may hold multiprocessors for long. Choose it from 1024 rows on (two H200s, 8B's second layer: 82.0
// us where LinearReduceScatterOneShot takes 88.8).
var LinearReduceScatterTiles = s.Schedule{
	Tensors: linearScattered,
	Ops:     product,
	Types:   []s.Type{s.BF16, s.FP16},
	Moves:   []s.Move{{Of: "C", Way: s.Tiles{}}},
}

var linearScattered = []s.Tensor{
	{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
	{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
	{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
}

// LinearReduceScatterRing sends the sum of each rank's rows once round the ring: a rank
// copies the sum so far from the rank before it and its product adds to that in its
// epilogue (beta = 1). It needs no reduction and one sum in flight, but every product
// waits for its neighbour's: it never won on four H200s (.15 of the product alone at
// 512 rows, .48 at 8192, .71 at 32768). CUTLASS's distributed GEMM runs it.
var LinearReduceScatterRing = s.Schedule{
	Tensors: linearScattered,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.RingAccumulate{}}},
}

// LinearReduceScatterRingKernel is LinearReduceScatterRing with the additions in a
// kernel that reads the neighbour's sum over the link, so that the products run ahead
// and only the sums wait for each other. Choose it over the other ring; a link that
// joins neighbours only, which NVLink with a switch is not, is where rings pay.
var LinearReduceScatterRingKernel = s.Schedule{
	Tensors: linearScattered,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.RingSum{}}},
}

// LinearReduceScatterBatches is LinearReduceScatter of several sequences side by side. Every rank gets a part of each:
// [b, s, h] spread along s, as rows [b*s, h]. A step multiplies one rank's rows of all sequences, one sequence
// after the other, and puts them at once.
var LinearReduceScatterBatches = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Split{Kind: s.Plain, Count: "4"}, s.DIDx(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Linear("C", "A", "B")},
}
