package catalog

import s "ovgen/schedule"

// ReduceScatterQuantised is ReduceScatter of which eight bits travel: each rank makes codes of its part of the sum, own
// rows too, and the owner adds up, in fp32, the numbers that the codes stand for. A row is quantised while the one
// before it travels. Choose it where an error of 1/16 of each part will do, and half the bytes are worth the kernel.
var ReduceScatterQuantised = s.Schedule{
	Tensors: append(codedSummands[:3:3], s.Tensor{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}}),
	Ops:     []s.Op{quantiseSummands, s.Sum("C", "Codes")},
}

// ReduceScatterVQuantised is ReduceScatterV in eight bits: SGLang's reduce-scatter of the results of experts, to ranks
// with tokens of their own. One kernel makes the codes of all rows, and another one reads the codes of own rows over
// the link.
var ReduceScatterVQuantised = s.Schedule{
	Tensors: append(codedSummands[:3:3], s.Tensor{Name: "C", Axes: []s.Axis{s.Dim(s.M, uneven), s.Dim(s.N)}}),
	Ops:     []s.Op{quantiseSummands, s.Sum("C", "Codes")},
}

// AllReduceQuantised is an all-reduce of which eight bits travel, twice: ReduceScatterQuantised, whose sums are
// quantised as they leave for all ranks. So a sum is off by the errors of its parts, and by 1/16 of itself.
var AllReduceQuantised = s.Schedule{
	Tensors: append(append(codedSummands[:3:3], codedSums...),
		s.Tensor{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}}),
	Ops: []s.Op{quantiseSummands, s.Sum("R", "Codes"), s.Copy("Sums", "R", s.Quantise()),
		s.Copy("C", "Sums", s.Dequantise("SumScales"))},
}

// LinearReduceScatterQuantised is LinearReduceScatter whose partial results travel in eight bits: behind each piece of
// the product a kernel makes codes of it. Choose it where ReduceScatterQuantised is chosen.
var LinearReduceScatterQuantised = s.Schedule{
	Tensors: append(codedSummands[1:3:3], linearScattered...),
	Ops:     []s.Op{s.LinearPartial("P", "A", "B"), quantisePartials, s.Sum("C", "Codes")},
}

// LinearAllReduceQuantisedSums is a row-parallel layer of eight bits of which nothing but eight bits travels: operands
// with scales of rows, partial results that are quantised, and their sums likewise, as AllReduceQuantised has them.
var LinearAllReduceQuantisedSums = s.Schedule{
	Tensors: append(scaled(true, linearReduced, "A", "B"), append(codedSummands[1:3:3], codedSums...)...),
	Ops: []s.Op{s.LinearPartial("P", "A", "B"), quantisePartials, s.Sum("R", "Codes"),
		s.Copy("Sums", "R", s.Quantise()), s.Copy("C", "Sums", s.Dequantise("SumScales"))},
}

// summands are the axes of each rank's summand of a matrix.
var summands = []s.Axis{s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.M), s.Dim(s.N)}

// codedSummands are such summands and their codes.
var codedSummands = []s.Tensor{
	{Name: "A", Axes: summands},
	{Name: "Codes", Axes: summands, Type: s.E4M3, Scale: "Scales"},
	{Name: "Scales", Axes: summands[:2], Type: s.FP32},
}

// codedSums are codes of each rank's rows of a sum.
var codedSums = []s.Tensor{
	{Name: "Sums", Axes: spread[0].Axes, Type: s.E4M3, Scale: "SumScales"},
	{Name: "SumScales", Axes: spread[0].Axes[:1], Type: s.FP32},
}

var (
	quantiseSummands = s.Copy("Codes", "A", s.Quantise())
	quantisePartials = s.Copy("Codes", "P", s.Quantise())
)
