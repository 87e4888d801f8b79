package catalog

import s "ovgen/schedule"

// AllGatherMatmul multiplies a row-sharded A with a whole B on every rank: the
// input side of a tensor-parallel layer under sequence parallelism. Each rank
// multiplies its own shard while the copy engine pulls the others, straight from
// their owners in the order r+1, r+2, ...; choose it wherever peers are joined by
// NVLink and a shard is a megabyte or more (Flux and PyTorch run this order).
var AllGatherMatmul = s.Schedule{
	Op: s.Matmul,
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.K), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}},
	},
}

// AllGatherLinear is AllGatherMatmul for a linear layer: B holds the weight as
// [N, K], and a bias is added to each row in the product's epilogue.
var AllGatherLinear = s.Schedule{
	Op:      s.Linear,
	Tensors: linearTensors,
}

// AllGatherLinearKernels is AllGatherLinear with its waits, posts and copies in
// emitted kernels instead of stream memory operations and the copy engine. Below
// about a megabyte a shard, a copy by kernel starts sooner; above, the copy engine
// leaves the multiprocessors to the products and is faster.
var AllGatherLinearKernels = s.Schedule{
	Op:        s.Linear,
	Tensors:   linearTensors,
	Transport: s.Transport{Copy: s.CopyKernel, Signal: s.SignalKernel},
}

var linearTensors = []s.Tensor{
	{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
	{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
	{Name: "Bias", Axes: []s.Axis{s.Dim(s.N)}},
	{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}},
}
