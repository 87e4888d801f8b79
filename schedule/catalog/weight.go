package catalog

import s "ovgen/schedule"

// AllGatherWeightLinear is a layer under fully sharded data parallelism (FSDP, ZeRO 3): each rank has its own rows and
// a part of the weight, which it gathers before the product. The product begins when all of the weight is there: no
// part of its result that lies together needs only some. PyTorch's FSDP gathers so, a layer ahead. The gradient of the
// weight is a Gradient whose result is spread again.
var AllGatherWeightLinear = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Linear("C", "A", "B")},
}
