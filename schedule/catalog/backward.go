package catalog

import s "ovgen/schedule"

// ColumnWeightGradient is the weight's gradient of a column-parallel layer, N being the
// outputs that a rank has: the layer's input B, spread by rows, is gathered again, a
// shard a step, and each step adds its rows' share to C in the product's epilogue,
// own shard first. Megatron gathers the whole input before this product; here it
// travels under it.
var ColumnWeightGradient = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
	},
	Ops: []s.Op{s.Gradient("C", "A", "B")},
}

// RowWeightGradient is the weight's gradient of a row-parallel layer, K being the
// inputs that a rank has: the output's gradient A, spread by rows, is gathered a
// shard a step, and each step adds its rows' share to C, own shard first.
var RowWeightGradient = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}},
	},
	Ops: []s.Op{s.Gradient("C", "A", "B")},
}
