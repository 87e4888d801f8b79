package catalog

import s "ovgen/schedule"

// AllGatherLinearFP8 is AllGatherLinear of operands of eight bits, e4m3, with a scale for each row of A and for each
// column of C. The scales of A travel with its rows. The result has 16 bits.
var AllGatherLinearFP8 = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}, Type: s.E4M3, Scale: "ScaleA"},
		{Name: "ScaleA", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D))}, Type: s.FP32},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}, Type: s.E4M3, Scale: "ScaleB"},
		{Name: "ScaleB", Axes: []s.Axis{s.Dim(s.N)}, Type: s.FP32},
		{Name: "Bias", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}},
	},
	Ops: linear,
}
