package catalog

import s "ovgen/schedule"

// AllGatherFP4 is AllGather of which four bits travel, e2m1 with a scale of e4m3 for each 16 columns, .28 of the bytes:
// C has the numbers that they stand for. Choose it where the eight bits of AllGatherQuantised take too long, and errors
// of up to 3/16 of the greatest of 16 numbers will do.
var AllGatherFP4 = inBlocks(s.DIDx(s.D), s.E2M1, s.E4M3, 16, s.QuantiseFP4())

// AllGatherVFP4 is AllGatherV in four bits, as AllGatherFP4 is AllGather: SGLang's gather of the input of experts.
var AllGatherVFP4 = inBlocks(bounded, s.E2M1, s.E4M3, 16, s.QuantiseFP4())

// AllGatherMXFP4 and AllGatherMXFP8 are AllGather in OCP's formats: e2m1, or e4m3, with a scale of ue8m0 for each 32
// columns, .27 and .52 of the bytes. Choose one where what reads the codes wants such scales, as products on Blackwell
// do; by the four bits of AllGatherFP4 errors are less, since a scale of theirs need not be a power of two.
var (
	AllGatherMXFP4 = inBlocks(s.DIDx(s.D), s.E2M1, s.UE8M0, 32, s.QuantiseMXFP4())
	AllGatherMXFP8 = inBlocks(s.DIDx(s.D), s.E4M3, s.UE8M0, 32, s.Quantise())
)

// AllGatherBlocksFP8 is AllGatherQuantised with a scale for each 128 columns of a row, which a product by such blocks
// of the caller's own reads.
var AllGatherBlocksFP8 = inBlocks(s.DIDx(s.D), s.E4M3, s.FP32, 128, s.Quantise())

// inBlocks gathers rows that travel as codes of a type, with a scale for each block of so many columns.
func inBlocks(spread s.Split, codes, scales s.Type, columns int64, quantise s.Func) s.Schedule {
	rows := s.Dim(s.M, spread)
	made := s.Dim(s.M, s.Stream(s.D))
	if spread.Uneven {
		made = s.Dim(s.M)
	}
	return s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{rows, s.Dim(s.N)}},
			{Name: "Codes", Axes: []s.Axis{rows, s.Dim(s.N)}, Type: codes, Scale: "Scales"},
			{Name: "Scales", Axes: []s.Axis{rows, s.Dim(s.Blocks(s.N, columns))}, Type: scales},
			{Name: "C", Axes: []s.Axis{made, s.Dim(s.N)}},
		},
		Ops:   []s.Op{s.Copy("Codes", "A", quantise), s.Copy("C", "Codes", s.Dequantise("Scales"))},
		Moves: codesRead,
	}
}

// AllGatherLinearBlocksFP8 is AllGatherLinearQuantised with a scale for each 128 columns of a row, and one for each
// square of 128 x 128 of the weight, as DeepSeek's checkpoints have them. Choose it for such weights: by scales of rows
// a product is faster.
var AllGatherLinearBlocksFP8 = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Codes", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}, Type: s.E4M3, Scale: "Scales"},
		{Name: "Scales", Axes: []s.Axis{s.Dim(s.Blocks(s.K, 128)), s.Dim(s.M, s.DIDx(s.D))}, Type: s.FP32},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}, Type: s.E4M3, Scale: "ScaleB"},
		{Name: "ScaleB", Axes: []s.Axis{s.Dim(s.Blocks(s.N, 128)), s.Dim(s.Blocks(s.K, 128))}, Type: s.FP32},
		{Name: "Bias", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Copy("Codes", "A", s.Quantise().PerHead("128")), s.Linear("C", "Codes", "B", s.Bias("Bias"))},
}

// LinearReduceScatterBlocksFP8 is LinearReduceScatter with such scales: each rank quantises its columns of A, and one
// product takes all rows, since the scales of some of them do not lie together. Choose it for such weights.
var LinearReduceScatterBlocksFP8 = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "Codes", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}, Type: s.E4M3, Scale: "Scales"},
		{Name: "Scales", Axes: []s.Axis{s.Dim(s.Blocks(s.K, 128), s.DIDx(s.D)), s.Dim(s.M)}, Type: s.FP32},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}, Type: s.E4M3, Scale: "ScaleB"},
		{Name: "ScaleB", Axes: []s.Axis{s.Dim(s.Blocks(s.N, 128)), s.Dim(s.Blocks(s.K, 128), s.DIDx(s.D))},
			Type: s.FP32},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Copy("Codes", "A", s.Quantise().PerHead("128")), s.Linear("C", "Codes", "B")},
}
