package catalog

import s "ovgen/schedule"

// AllGatherQKV gathers A once for three products: query, key and value of an attention
// layer under tensor and sequence parallelism, where key and value have fewer columns
// than query when heads are grouped. Choose it over one product of three weights laid
// side by side where the three are wanted apart.
var AllGatherQKV = s.Schedule{
	Tensors: []s.Tensor{
		sharded, weight("B", s.N), weight("B2", s.N2), weight("B3", s.N3),
		result("C", s.N), result("C2", s.N2), result("C3", s.N3),
	},
	Ops: threeProducts,
}

// AllGatherQKVPackets is AllGatherQKV for few rows, as AllGatherLinearPackets is AllGatherLinear: the shards come as
// packets, and then each product is of all rows, so that its weights are read once. Choose it up to 512 rows.
var AllGatherQKVPackets = s.Schedule{
	Tensors: AllGatherQKV.Tensors,
	Ops:     threeProducts,
	Moves:   []s.Move{{Of: "A", Way: s.PushGather{}}},
}

// ColumnParallelQKV is AllGatherQKV with the extents of the whole model, as Megatron writes
// column-parallel layers: the weights are cut over the ranks by heads, and each rank makes the
// columns of its heads. The same operations run. Choose it where a shape is to serve groups of
// all sizes.
var ColumnParallelQKV = s.Schedule{
	Tensors: []s.Tensor{
		sharded, byColumns(weight("B", s.N), 0), byColumns(weight("B2", s.N2), 0), byColumns(weight("B3", s.N3), 0),
		byColumns(result("C", s.N), 1), byColumns(result("C2", s.N2), 1), byColumns(result("C3", s.N3), 1),
	},
	Ops: threeProducts,
}

var threeProducts = []s.Op{s.Linear("C", "A", "B"), s.Linear("C2", "A", "B2"), s.Linear("C3", "A", "B3")}

// byColumns is a tensor with one axis spread over the ranks.
func byColumns(t s.Tensor, axis int) s.Tensor {
	t.Axes[axis].Outer = append(t.Axes[axis].Outer, s.DIDx(s.D))
	return t
}

// AllGatherGateUp gathers A once for the two products of a gated layer, gate and up,
// and leaves the gathered A in the caller's memory, where the backward pass wants it.
var AllGatherGateUp = s.Schedule{
	Tensors: []s.Tensor{
		sharded, weight("B", s.N), weight("B2", s.N2),
		result("C", s.N), result("C2", s.N2), result("Gathered", s.K),
	},
	Ops: []s.Op{s.Linear("C", "A", "B"), s.Linear("C2", "A", "B2"), s.Copy("Gathered", "A")},
}

// AllGatherGateUpPackets is AllGatherGateUp for few rows, as AllGatherQKVPackets is AllGatherQKV.
var AllGatherGateUpPackets = s.Schedule{
	Tensors: AllGatherGateUp.Tensors,
	Ops:     AllGatherGateUp.Ops,
	Moves:   []s.Move{{Of: "A", Way: s.PushGather{}}},
}

var sharded = s.Tensor{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}}

func weight(name string, columns s.Extent) s.Tensor {
	return s.Tensor{Name: name, Axes: []s.Axis{s.Dim(columns), s.Dim(s.K)}}
}

func result(name string, columns s.Extent) s.Tensor {
	return s.Tensor{Name: name, Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(columns)}}
}
