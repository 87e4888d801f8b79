package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/verify/sampling"
)

// fp4 is the form with tensors of four bits, and scales of e4m3 for each 16 of their columns.
func (f form) fp4(tensors ...string) form { return f.coded(s.E2M1, s.E4M3, 16, tensors...) }

// blocked is the form with tensors of eight bits, and scales of fp32 for each 128 of their columns.
func (f form) blocked(tensors ...string) form { return f.coded(s.E4M3, s.FP32, 128, tensors...) }

// mx is the form with tensors of a type of codes, and scales of ue8m0 for each 32 of their columns.
func (f form) mx(codes s.Type, tensors ...string) form {
	return f.coded(codes, s.UE8M0, 32, tensors...)
}

// bare16 gathers rows of 16 bits as codes, which a function makes.
func bare16(tensors string, quantise s.Func) form {
	return of(tensors, s.Copy("Q", "A", quantise), s.Copy("C", "Q", s.Dequantise("SQ")))
}

// even and counted are the tensors of an all-gather.
const even, counted = "A[M/D N] Q[M/D N] C[M:D N]", "A[M/D~P N] Q[M/D~P N] C[M N]"

// allRows are the tensors of an all-gather whose rows are read together.
const allRows = "A[M/D N] Q[M/D N] C[M N]"

// blocks are schedules of codes with scales of blocks.
var blocks = []declared{
	{"B01", "four bits, rows when they are there", bare16(even, s.QuantiseFP4()).fp4("Q"), served},
	{"B02", "by counts", bare16(counted, s.QuantiseFP4()).fp4("Q"), served},
	{"B02b", "four bits by powers", bare16(even, s.QuantiseMXFP4()).mx(s.E2M1, "Q"), served},
	{"B02c", "eight bits by powers", bare16(even, s.Quantise()).mx(s.E4M3, "Q"), served},
	{"B02d", "five digits of exponent by powers, by counts", bare16(counted, s.QuantiseE5M2()).mx(s.E5M2, "Q"), served},
	{"B02e", "powers by packets", bare16(allRows, s.QuantiseMXFP4()).mx(s.E2M1, "Q").by("Q", s.PushGather{}), served},
	{"B02g", "powers by packets of the kernel that makes them", bare16(allRows, s.QuantiseMXFP4()).mx(s.E2M1, "Q").
		by("Q", s.PushGather{Rows: true}), served},
	{"B02f", "powers by NCCL", bare16(allRows, s.Quantise()).mx(s.E4M3, "Q").by("Q", s.NCCL{}), served},
	{"B02g", "powers all to all", moved("A[D/D D M N] C[D D/D M N]").mx(s.E4M3, "A", "C"), served},
	{"B03", "blocks of 128", bare16(even, s.Quantise()).blocked("Q"), served},
	{"B04", "blocks of 128 by counts", bare16(counted, s.Quantise()).blocked("Q"), served},
	{"B05", "in parts", bare16(even, s.QuantiseFP4()).fp4("Q").by("Q", s.Pull{Parts: 2}), served},
	{"B05b", "blocks of 128 in parts, each on its stream", bare16(even, s.Quantise()).blocked("Q").
		by("Q", s.Pull{Parts: 3, WithStep: true}), served},
	{"B06", "all rows together", bare16(allRows, s.QuantiseFP4()).fp4("Q"), served},
	{"B07", "by one kernel", bare16(allRows, s.QuantiseFP4()).fp4("Q").by("Q", s.GatherShot{}), served},
	{"B08", "by NCCL", bare16(allRows, s.QuantiseFP4()).fp4("Q").by("Q", s.NCCL{}), served},
	{"B09", "pushed", bare16(even, s.QuantiseFP4()).fp4("Q").by("Q", s.Push{}), served},
	{"B10", "on a ring", bare16(even, s.QuantiseFP4()).fp4("Q").by("Q", s.Ring{}), served},
	{"B11", "padded", bare16(counted, s.QuantiseFP4()).fp4("Q").by("Q", s.Padded{}), served},
	{"B12", "by a kernel", bare16(counted, s.QuantiseFP4()).fp4("Q").by("Q", s.Pull{By: s.KernelCopies}), served},
	{"B13", "given", of("Q[M/D N] C[M:D N]", s.Copy("C", "Q", s.Dequantise("SQ"))).fp4("Q"), served},
	{"B14", "own rows", bare16("A[M/D N] Q[M/D N] C[M/D N]", s.QuantiseFP4()).fp4("Q"), served},
	{"B15", "codes alone", moved("A[M/D N] C[M N]").fp4("A", "C"), served},
	{"B16", "all to all", moved("A[D/D D M N] C[D D/D M N]").fp4("A", "C"), served},
	{"B17", "all to all by counts", moved("A[D/D~ D M N] C[D D/D~ M N]").fp4("A", "C"), served},
	{"B18", "behind a residual and a function", of("A[M/D N] R[M/D N] Q[M/D N] C[M:D N]",
		s.Copy("Q", "A", s.Add("R"), s.SiLU(), s.QuantiseFP4()), s.Copy("C", "Q", s.Dequantise("SQ"))).fp4("Q"),
		served},
	{"B19", "behind a norm of its own", of("A[M/D N] Norm[N] X[M/D N] Q[M/D N] C[M:D N]",
		s.Copy("X", "A", s.RMSNorm("Norm")), s.Copy("Q", "X", s.QuantiseFP4()),
		s.Copy("C", "Q", s.Dequantise("SQ"))).fp4("Q"), served},
	{"B20", "and a product of 16 bits", of("A[M/D K] Q[M/D K] X[M K] B[N/D K] C[M N/D]",
		s.Copy("Q", "A", s.QuantiseFP4()), s.Copy("X", "Q", s.Dequantise("SQ")), s.Linear("C", "X", "B")).fp4("Q"),
		served},
	{"B21", "a function and blocks of 32", bare16(even, s.QuantiseFP4()).coded(s.E2M1, s.E4M3, 32, "Q"), served},
	{"B22", "of a sum", of("O[M K/D] Wo[N K/D] Q[M/D N] C[M:D N]", s.Linear("Q", "O", "Wo", s.QuantiseFP4()),
		s.Copy("C", "Q", s.Dequantise("SQ"))).fp4("Q"), served},
	{"B22b", "of a sum by packets", of("O[M K/D] Wo[N K/D] Q[M N] C[M N]", s.Linear("Q", "O", "Wo", s.QuantiseFP4()),
		s.Copy("C", "Q", s.Dequantise("SQ"))).fp4("Q").by("Q", s.PushShot{}), served},
	{"B22c", "of a sum by packets, in their kernel", of("O[M K/D] Wo[N K/D] Q[M N] C[M N]",
		s.Linear("Q", "O", "Wo", s.QuantiseFP4()), s.Copy("C", "Q", s.Dequantise("SQ"))).fp4("Q").
		by("Q", s.PushShot{Rows: true}), served},
	{"B23", "five bits of exponent", bare16(even, s.QuantiseE5M2()).coded(s.E5M2, s.FP32, 128, "Q"), served},
	{"B24", "five bits of exponent, scales of rows", bare16(even, s.QuantiseE5M2()).eight(true, "Q").changed("Q",
		func(t *s.Tensor) { t.Type = s.E5M2 }), served},
	{"B26", "a constant number of columns", bare16("A[M/D 64] Q[M/D 64] C[M:D 64]", s.QuantiseFP4()).fp4("Q"), served},

	{"B30", "scales of rows", bare16(even, s.QuantiseFP4()).fp4("Q").changed("SQ",
		func(t *s.Tensor) { t.Axes = t.Axes[:1] }), at("Tensors[3]",
		"SQ is [DIDx(D), M/D], and scales of Q are of blocks of whole rows, of a multiple of 16 columns (place it "+
			"[DIDx(D), M/D, N/16])")},
	{"B31", "blocks of 8", bare16(even, s.QuantiseFP4()).coded(s.E2M1, s.E4M3, 8, "Q"), at("Tensors[3]",
		"place it [DIDx(D), M/D, N/16]")},
	{"B32", "scales of fp32", bare16(even, s.QuantiseFP4()).coded(s.E2M1, s.FP32, 16, "Q"), at("Tensors[1].Scale",
		"scales are numbers of e4m3, in memory of their own (declare SQ with Type: schedule.E4M3 and with axes "+
			"alone)")},
	{"B33", "no scales", bare16(even, s.QuantiseFP4()).fp4("Q").changed("Q", func(t *s.Tensor) { t.Scale = "" }),
		at("Tensors[1].Scale", "Q has four bits, and no scale (declare a tensor of e4m3 with the axes of Q, the last "+
			"one in schedule.Blocks of 16, and name it)")},
	{"B34", "scales that are no numbers of e4m3", bare16(even, s.Quantise()).fp4("Q"), at("Tensors[1].Type",
		"Q divides by numbers that are none of e4m3, and its scales are (end its functions with "+
			"schedule.QuantiseFP4(), or divide by what schedule.Up makes)")},
	{"B35", "a norm of blocks", of("A[M/D N] Norm[N] Q[M/D N] C[M:D N]",
		s.Copy("Q", "A", s.RMSNorm("Norm"), s.QuantiseFP4()), s.Copy("C", "Q", s.Dequantise("SQ"))).fp4("Q"),
		at("Ops[0].Then[0]", "to the functions of Q a row is a block of 16 columns, and rmsnorm takes more (let a "+
			"schedule.Copy of its own do it)")},
	{"B36", "a norm behind blocks", of("A[M/D N] Norm[N] Q[M/D N] C[M:D N]", s.Copy("Q", "A", s.QuantiseFP4()),
		s.Copy("C", "Q", s.Dequantise("SQ"), s.RMSNorm("Norm"))).fp4("Q"),
		at("Ops[1].Then[1]", "to the functions of C a row is a block of 16 columns, and rmsnorm takes more")},
	{"B37", "a bias of columns", of("A[M/D N] Bias[N] Q[M/D N] C[M:D N]",
		s.Copy("Q", "A", s.Bias("Bias"), s.QuantiseFP4()), s.Copy("C", "Q", s.Dequantise("SQ"))).fp4("Q"),
		at("Ops[0].Then[0]", "bias takes more")},
	{"B38", "a product of four bits", linear("A[M/D K] B[N/D K] C[M:D N/D]").fp4("A", "B"),
		at("Ops[0].In[0]", "SA of e2m1 [DIDx(D), M/D, K] times SA is [DIDx(D), M/D, K/16] (make 16 "+
			"bits of it by a schedule.Copy with schedule.Dequantise)")},
	{"B39", "a product of blocks", linear("A[M/D K] B[N/D K] C[M:D N/D]").blocked("A", "B"),
		at("Ops[0].In[0]", "one block behind another, or one, and SA of e4m3 [DIDx(D), M/D, K] times SA is "+
			"[DIDx(D), M/D, K/128] (place SA [K/128, DIDx(D), M/D])")},
	{"B40", "columns that are spread", bare16("A[M N/D] Q[M N/D] C[M N/D]", s.QuantiseFP4()).fp4("Q"),
		at("Tensors[3]", "scales of Q are of blocks of whole rows, of a multiple of 16 columns")},
	{"B41", "copies into other blocks", moved("A[M/D N] C[M N]").fp4("A").coded(s.E2M1, s.E4M3, 32, "C"),
		at("Tensors[1].Scale", "a copy changes no bit (give both scales of the same blocks)")},
	{"B42", "eight bits of four", moved("A[M/D N] C[M N]").fp4("A").eight(true, "C"), at("Tensors[1].Type",
		"C is made by an operation that divides no row by its scale")},
	{"B43", "by packets", bare16(allRows, s.QuantiseFP4()).fp4("Q").by("Q", s.PushGather{}), served},
	{"B43b", "by packets of the kernel that makes them", bare16(allRows, s.QuantiseFP4()).fp4("Q").
		by("Q", s.PushGather{Rows: true}), served},
	{"B47", "powers of blocks of 16", bare16(even, s.QuantiseMXFP4()).coded(s.E2M1, s.UE8M0, 16, "Q"), at("Tensors[3]",
		"scales of Q are of blocks of whole rows, of 32 columns where they are ue8m0 (place it "+
			"[DIDx(D), M/D, N/32])")},
	{"B48", "powers of rows", bare16(even, s.Quantise()).mx(s.E4M3, "Q").changed("SQ",
		func(t *s.Tensor) { t.Axes = t.Axes[:1] }), at("Tensors[3]", "of 32 columns where they are ue8m0")},
	{"B49", "scales that are no powers", bare16(even, s.QuantiseFP4()).mx(s.E2M1, "Q"), at("Tensors[1].Type",
		"Q divides by numbers that are none of ue8m0, and its scales are (end its functions with "+
			"schedule.QuantiseMXFP4(), or divide by what schedule.LoudPower makes)")},
	{"B50", "four bits whose NaN would be lost", bare16(even, s.Quantise()).mx(s.E2M1, "Q"), at("Tensors[1].Type",
		"schedule.QuantiseMXFP4()")},
	{"B51", "eight bits by other numbers", bare16(even, s.Func{Is: s.Over(s.X, s.Most(s.X))}).mx(s.E4M3, "Q"),
		at("Tensors[1].Type", "schedule.Quantise(), or divide by what schedule.Power makes")},
	{"B52", "a product by powers", linear("A[M/D K] B[N/D K] C[M:D N/D]").mx(s.E4M3, "A", "B"), at("Ops[0].In[0]",
		"SA of A are ue8m0, and products by such scales begin with Blackwell, compute capability 10.0: on Hopper no "+
			"library has them (make 16 bits of it by a schedule.Copy with schedule.Dequantise)")},
	{"B53", "copies into scales of another type", moved("A[M/D N] C[M N]").mx(s.E4M3, "A").
		coded(s.E4M3, s.FP32, 32, "C"), at("Tensors[1].Scale", "a copy changes no bit (give both scales of the same "+
		"type)")},
	{"B54", "powers that are no scales", of("A[M/D N] C[M N]", s.Copy("C", "A")).changed("A",
		func(t *s.Tensor) { t.Type = s.UE8M0 }), at("Tensors[0].Type", "only scales are powers of two (name it as "+
		"the Scale of a tensor of codes)")},
	{"B44", "blocks of no scales", of("A[M/D N] C[M N]", s.Copy("C", "A")).changed("A",
		func(t *s.Tensor) { t.Axes[1].Extent = s.Blocks(s.N, 16) }), at("Tensors[0].Axes[1].Extent",
		`"N/16" is no extent`)},
	{"B45", "made by a call", of("A[M/D N] Q[M/D N] C[M:D N]", s.CallRows("Q", "Route", "mn->mn", "A"),
		s.Copy("C", "Q", s.Dequantise("SQ"))).fp4("Q"), at("Tensors[1].Type",
		"calls make e4m3 with a scale for each row, and Q is e2m1 [DIDx(D), M/D, N] times SQ")},
	{"B46", "read by a call", of("Q[M/D N] C[M/D N]", s.CallRows("C", "Route", "mn->mn", "Q")).fp4("Q"),
		at("Ops[0]", "call takes no operand of eight bits")},
}

// TestBlocks holds each against its verdict, and the explorer agrees on those that are served.
func TestBlocks(t *testing.T) {
	sampling.Test(t, 2, 3)
	explored(t, "Blocks", blocks)
}
