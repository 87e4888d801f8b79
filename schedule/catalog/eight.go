package catalog

import (
	"slices"

	s "ovgen/schedule"
)

// AllGatherLinearFP8 is AllGatherLinear of operands of eight bits, e4m3, with a scale for each row of A and of the
// weight. The scales of A travel with its rows, half the bytes that AllGatherLinear sends. The result has 16 bits.
// Choose it from some hundred rows on: below, cuBLASLt applies scales of rows slowly.
var AllGatherLinearFP8 = s.Schedule{
	Tensors: scaled(true, linearTensors, "A", "B"),
	Ops:     linear,
}

// AllGatherLinearPacketsFP8 is AllGatherLinearPackets of operands of eight bits with a scale for each row: codes and
// scales are packets of a kernel each. Choose it where AllGatherLinearPackets is chosen.
var AllGatherLinearPacketsFP8 = s.Schedule{
	Tensors: AllGatherLinearFP8.Tensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.PushGather{}}},
}

// AllGatherQKVFP8 is AllGatherQKV of operands of eight bits, as AllGatherLinearFP8 is AllGatherLinear.
var AllGatherQKVFP8 = s.Schedule{
	Tensors: scaled(true, AllGatherQKV.Tensors, "A", "B", "B2", "B3"),
	Ops:     threeProducts,
}

// LinearReduceScatterFP8 is LinearReduceScatter of operands of eight bits with a scale for each row. Partial results
// travel in 16 bits. A row of A has one scale on all ranks, whichever columns they have of it.
var LinearReduceScatterFP8 = s.Schedule{
	Tensors: scaled(true, linearScattered, "A", "B"),
	Ops:     product,
}

// LinearReduceScatterPacketsFP8 is LinearReduceScatterPackets of operands of eight bits with a scale for each row.
// Choose it where LinearReduceScatterPackets is chosen.
var LinearReduceScatterPacketsFP8 = s.Schedule{
	Tensors: LinearReduceScatterFP8.Tensors,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.PushShot{}}},
}

// LinearReduceScatterE5M2 is LinearReduceScatterFP8 of an A of 16 bits of which each rank makes e5m2, with a scale for
// each row of its part, beside a weight of e4m3. It is an input's gradient: A is the gradient of a layer's columns, and
// the weight lies the other way round. Gradients need more exponent than e4m3 has.
var LinearReduceScatterE5M2 = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "Codes", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}, Type: s.E5M2, Scale: "Scales"},
		{Name: "Scales", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.D, s.DIDx(s.D))}, Type: s.FP32},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}, Type: s.E4M3, Scale: "ScaleB"},
		{Name: "ScaleB", Axes: []s.Axis{s.Dim(s.N)}, Type: s.FP32},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Copy("Codes", "A", s.QuantiseE5M2()), s.Linear("C", "Codes", "B")},
}

// LinearAllReduceFP8 is LinearAllReducePackets of operands of eight bits with one scale each, which are known before
// the run. Choose it at decoding: with one scale cuBLASLt takes little longer for few rows than it takes to read the
// weight.
var LinearAllReduceFP8 = s.Schedule{
	Tensors: scaled(false, linearReduced, "A", "B"),
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.PushShot{}}},
}

// LinearAllReduceWeightsFP8 is LinearAllReducePackets by a weight of eight bits with a scale for each of its rows; A
// has 16 bits. Choose it at decoding: the product of few rows takes as long as its weight takes to be read. A kernel of
// the package widens the weight as it reads it, which takes longer than the library from some hundred rows on.
var LinearAllReduceWeightsFP8 = s.Schedule{
	Tensors: scaled(true, linearReduced, "B"),
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.PushShot{}}},
	Teaches: true,
}

// LinearAllReduceSquaresFP8 is LinearAllReduceWeightsFP8 by a weight that has a scale for each square of 128 x 128, as
// DeepSeek's checkpoints have. The kernel multiplies the sum of each 128 of the depth by their scale.
var LinearAllReduceSquaresFP8 = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}, Type: s.E4M3, Scale: "ScaleB"},
		{Name: "ScaleB", Axes: []s.Axis{s.Dim(s.Blocks(s.N, 128)), s.Dim(s.Blocks(s.K, 128), s.DIDx(s.D))},
			Type: s.FP32},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.PushShot{}}},
	Teaches: true,
}

// GatedMLPFP8 is GatedMLP whose first layer has operands of eight bits with a scale for each row. The rows between the
// layers have 16 bits, and so has the second layer's weight.
var GatedMLPFP8 = s.Schedule{
	Tensors: scaled(true, GatedMLP.Tensors, "A", "Gate", "Up"),
	Ops:     GatedMLP.Ops,
}

// scaled gives tensors eight bits, and a scale each: one for each of its rows, or one.
func scaled(rows bool, tensors []s.Tensor, names ...string) (list []s.Tensor) {
	for _, t := range tensors {
		if !slices.Contains(names, t.Name) {
			list = append(list, t)
			continue
		}
		scale := s.Tensor{Name: "Scale" + t.Name, Axes: []s.Axis{s.Dim(s.OneScale)}, Type: s.FP32}
		if rows {
			scale.Axes = t.Axes[:1:1]
		}
		t.Type, t.Scale = s.E4M3, scale.Name
		list = append(list, t, scale)
	}
	return list
}
