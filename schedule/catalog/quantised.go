package catalog

import s "ovgen/schedule"

// AllGatherLinearQuantised is AllGatherLinearFP8 of an A of 16 bits: each rank makes eight bits of its rows, e4m3 with
// a scale for each row, before they travel. Codes and Scales are results too. Choose it where A is made in 16 bits;
// where a norm makes it, put schedule.Quantise() behind the norm, and both are one kernel.
var AllGatherLinearQuantised = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Codes", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}, Type: s.E4M3, Scale: "Scales"},
		{Name: "Scales", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D))}, Type: s.FP32},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}, Type: s.E4M3, Scale: "ScaleB"},
		{Name: "ScaleB", Axes: []s.Axis{s.Dim(s.N)}, Type: s.FP32},
		{Name: "Bias", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Copy("Codes", "A", s.Quantise()), s.Linear("C", "Codes", "B", s.Bias("Bias"))},
}

// AllGatherLinearQuantisedPackets is AllGatherLinearQuantised whose codes and scales go as packets of a kernel each, as
// in AllGatherLinearPacketsFP8, and one product takes all rows. Choose it for few rows.
var AllGatherLinearQuantisedPackets = s.Schedule{
	Tensors: AllGatherLinearQuantised.Tensors,
	Ops:     AllGatherLinearQuantised.Ops,
	Moves:   []s.Move{{Of: "Codes", Way: s.PushGather{}}},
}

// AllGatherQuantised is AllGather of which eight bits travel, e4m3 with a scale for each row, half the bytes: C has the
// numbers that they stand for. Choose it where 16 bits are wanted and these do: a code is 1/16 off, at most, of all but
// the smallest numbers of a row.
var AllGatherQuantised = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "Codes", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}, Type: s.E4M3, Scale: "Scales"},
		{Name: "Scales", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D))}, Type: s.FP32},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}},
	},
	Ops:   []s.Op{s.Copy("Codes", "A", s.Quantise()), s.Copy("C", "Codes", s.Dequantise("Scales"))},
	Moves: codesRead,
}

// codesRead has the kernel that widens read a peer's codes where they lie, so that they cross the link once and no
// memory holds them here.
var codesRead = []s.Move{{Of: "Codes", Way: s.Pull{WithStep: true, By: s.KernelCopies}}}

// AllGatherQuantisedPackets is AllGatherQuantised whose ranks send scales and codes as packets, by a kernel each, and
// read all rows together. Choose it where AllGatherPackets is chosen, up to a megabyte or two a rank.
var AllGatherQuantisedPackets = s.Schedule{
	Tensors: append(AllGatherQuantised.Tensors[:3:3], s.Tensor{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}}),
	Ops:     AllGatherQuantised.Ops,
	Moves:   []s.Move{{Of: "Codes", Way: s.PushGather{}}},
}

// AllGatherQuantisedRows is AllGatherQuantisedPackets in which one kernel makes scales and codes, sends both, and
// widens the codes of all ranks. Choose it in its place where a launch takes as long as the rows take to travel.
var AllGatherQuantisedRows = s.Schedule{
	Tensors: AllGatherQuantisedPackets.Tensors,
	Ops:     AllGatherQuantised.Ops,
	Moves:   []s.Move{{Of: "Codes", Way: s.PushGather{Rows: true}}},
}

// LinearAllReduceQuantised is LinearAllReducePackets of an A of 16 bits whose columns are spread over the ranks: each
// rank makes eight bits of its part, with a scale for each of its part's rows, and multiplies them by its part of the
// weight. So no rank asks another one for the greatest of a row. Partial results travel in 16 bits. Choose it for a
// weight of eight bits from some ten rows on; below, LinearAllReduceWeightsFP8.
var LinearAllReduceQuantised = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "Codes", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}, Type: s.E4M3, Scale: "Scales"},
		{Name: "Scales", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.D, s.DIDx(s.D))}, Type: s.FP32},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}, Type: s.E4M3, Scale: "ScaleB"},
		{Name: "ScaleB", Axes: []s.Axis{s.Dim(s.N)}, Type: s.FP32},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops:   []s.Op{s.Copy("Codes", "A", s.Quantise()), s.Linear("C", "Codes", "B")},
	Moves: []s.Move{{Of: "C", Way: s.PushShot{}}},
}

// AllReduceNormQuantised is AllReduceNorm with eight bits of the norm, for a product that reads such. One kernel sends,
// adds up, norms and quantises, each block of it whole rows; without Rows two do, with the same bits.
var AllReduceNormQuantised = s.Schedule{
	Tensors: append([]s.Tensor{
		{Name: "Codes", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}, Type: s.E4M3, Scale: "Scales"},
		{Name: "Scales", Axes: []s.Axis{s.Dim(s.M)}, Type: s.FP32},
	}, AllReduceNorm.Tensors...),
	Ops: []s.Op{
		s.Sum("Codes", "A", s.Add("Residual"), s.RMSNorm("Norm"), s.Quantise()).Keeping("R", 1).Keeping("C", 2),
	},
	Moves: AllReduceNorm.Moves,
}

// AllGatherVQuantised is AllGatherV in eight bits: each rank quantises its rows before they travel. Choose it for the
// input of experts, which ranks with tokens of their own gather.
var AllGatherVQuantised = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.N)}},
		{Name: "Codes", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.N)}, Type: s.E4M3, Scale: "Scales"},
		{Name: "Scales", Axes: []s.Axis{s.Dim(s.M, bounded)}, Type: s.FP32},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops:   []s.Op{s.Copy("Codes", "A", s.Quantise()), s.Copy("C", "Codes", s.Dequantise("Scales"))},
	Moves: codesRead,
}

// AllToAllFP8 is AllToAll of rows of eight bits, e4m3 with a scale for each row: rank p gets part p of every rank's
// rows, and the scales of these. Choose it where the rows are made in eight bits, and read so.
var AllToAllFP8 = s.Schedule{Tensors: exchanged(s.DIDx(s.D)), Ops: []s.Op{s.Copy("C", "A")}}

// AllToAllVFP8 is AllToAllFP8 of parts that differ in rows: count [p, q] is the number of rows that rank p has for
// rank q.
var AllToAllVFP8 = s.Schedule{Tensors: exchanged(uneven), Ops: []s.Op{s.Copy("C", "A")}}

// exchanged are rows of eight bits for each rank, with their scales, and those from each.
func exchanged(spread s.Split) []s.Tensor {
	from := []s.Axis{s.Dim(s.D, spread), s.Dim(s.D), s.Dim(s.M), s.Dim(s.N)}
	to := []s.Axis{s.Dim(s.D), s.Dim(s.D, spread), s.Dim(s.M), s.Dim(s.N)}
	return []s.Tensor{
		{Name: "A", Axes: from, Type: s.E4M3, Scale: "ScaleA"},
		{Name: "ScaleA", Axes: from[:3], Type: s.FP32},
		{Name: "C", Axes: to, Type: s.E4M3, Scale: "ScaleC"},
		{Name: "ScaleC", Axes: to[:3], Type: s.FP32},
	}
}
