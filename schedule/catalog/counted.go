package catalog

import s "ovgen/schedule"

// Layers of rows that ranks have by counts, which Bind takes: those of data-parallel attention, or of a prompt in
// chunks. M is all rows. New is told how many these are, so one product takes them all, and nothing is padded, but
// where a schedule says so.

// AllGatherVLinearQuantised is a column-parallel layer of such rows in eight bits: each rank quantises its rows, codes
// and scales are gathered by counts, and the product reads them as they are.
var AllGatherVLinearQuantised = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.K)}},
		{Name: "Codes", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.K)}, Type: s.E4M3, Scale: "Scales"},
		{Name: "Scales", Axes: []s.Axis{s.Dim(s.M, bounded)}, Type: s.FP32},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K)}, Type: s.E4M3, Scale: "ScaleB"},
		{Name: "ScaleB", Axes: []s.Axis{s.Dim(s.N)}, Type: s.FP32},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Copy("Codes", "A", s.Quantise()), s.Linear("C", "Codes", "B")},
}

// LinearReduceScatterVQuantised is a row-parallel layer to such rows: each rank makes codes of its partial results, and
// the owner of a row reads all ranks' codes of it.
var LinearReduceScatterVQuantised = s.Schedule{
	Tensors: append(codedSummands[1:3:3],
		s.Tensor{Name: "A", Axes: linearScattered[0].Axes}, s.Tensor{Name: "B", Axes: linearScattered[1].Axes},
		s.Tensor{Name: "C", Axes: []s.Axis{s.Dim(s.M, uneven), s.Dim(s.N)}}),
	Ops: []s.Op{s.LinearPartial("P", "A", "B"), quantisePartials, s.Sum("C", "Codes")},
}

// GatedMLPVQuantised is an MLP of such rows of which nothing but eight bits travels: its rows are quantised and
// gathered by counts, and its partial results are quantised and added up by counts. The gate and the product behind it
// have 16 bits.
var GatedMLPVQuantised = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, uneven), s.Dim(s.K)}},
		{Name: "Rows", Axes: []s.Axis{s.Dim(s.M, uneven), s.Dim(s.K)}, Type: s.E4M3, Scale: "RowScales"},
		{Name: "RowScales", Axes: []s.Axis{s.Dim(s.M, uneven)}, Type: s.FP32},
		{Name: "Gate", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}, Type: s.E4M3, Scale: "ScaleGate"},
		{Name: "ScaleGate", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D))}, Type: s.FP32},
		{Name: "Up", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}, Type: s.E4M3, Scale: "ScaleUp"},
		{Name: "ScaleUp", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D))}, Type: s.FP32},
		{Name: "Down", Axes: []s.Axis{s.Dim(s.K), s.Dim(s.F, s.DIDx(s.D))}},
		{Name: "Codes", Axes: []s.Axis{s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.M), s.Dim(s.K)}, Type: s.E4M3,
			Scale: "Scales"},
		{Name: "Scales", Axes: []s.Axis{s.Dim(s.D, s.DIDx(s.D)), s.Dim(s.M)}, Type: s.FP32},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, uneven), s.Dim(s.K)}},
	},
	Ops: []s.Op{s.Copy("Rows", "A", s.Quantise()), s.Linear("U", "Rows", "Up"),
		s.Linear("H", "Rows", "Gate", s.SwiGLU("U")), s.LinearPartial("P", "H", "Down"), quantisePartials,
		s.Sum("C", "Codes")},
}

// DataParallelLayer is a layer whose attention each rank does for the tokens it has, and whose MLP all ranks share.
// Rows travel in eight bits and with padding, P for each rank: so every Bind may have other counts, and New need not
// know how many rows there are in all. Attention is the caller's, a function that is told how many rows the rank has.
// Choose it where the number of all rows differs from step to step.
var DataParallelLayer = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.K)}},
		{Name: "O", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.K)}},
		{Name: "Norm", Axes: []s.Axis{s.Dim(s.K)}},
		{Name: "Rows", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.K)}, Type: s.E4M3, Scale: "RowScales"},
		{Name: "RowScales", Axes: []s.Axis{s.Dim(s.M, bounded)}, Type: s.FP32},
		{Name: "Gate", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}, Type: s.E4M3, Scale: "ScaleGate"},
		{Name: "ScaleGate", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D))}, Type: s.FP32},
		{Name: "Up", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}, Type: s.E4M3, Scale: "ScaleUp"},
		{Name: "ScaleUp", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D))}, Type: s.FP32},
		{Name: "Down", Axes: []s.Axis{s.Dim(s.K), s.Dim(s.F, s.DIDx(s.D))}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, bounded), s.Dim(s.K)}},
	},
	Ops: []s.Op{s.CallRows("O", "Attention", "mk->mk", "A"), s.Copy("Rows", "O", s.RMSNorm("Norm"), s.Quantise()),
		s.Linear("U", "Rows", "Up"), s.Linear("H", "Rows", "Gate", s.SwiGLU("U")),
		s.Linear("C", "H", "Down", s.Add("O"))},
	Moves: []s.Move{{Of: "Rows", Way: s.Padded{}}},
}
