package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
)

// quantised is a layer whose rows are made of eight bits before they travel, behind other functions.
func quantised(then ...s.Func) form {
	return of("A[M/D K] Norm[K] Q[M/D K] B[N/D K] C[M:D N/D]", s.Copy("Q", "A", append(then, s.Quantise())...),
		s.Linear("C", "Q", "B")).eight(true, "Q", "B")
}

// plainly is that layer without a norm.
func plainly() form {
	return of("A[M/D K] Q[M/D K] B[N/D K] C[M:D N/D]", s.Copy("Q", "A", s.Quantise()),
		s.Linear("C", "Q", "B")).eight(true, "Q", "B")
}

// gathered16 gathers eight bits for rows of 16.
func gathered16() form {
	return of("A[M/D N] Q[M/D N] C[M N]", s.Copy("Q", "A", s.Quantise()),
		s.Copy("C", "Q", s.Dequantise("SQ"))).eight(true, "Q")
}

// inTurn makes rows of 16 bits of each rank's when they are there.
func inTurn() form {
	return of("A[M/D N] Q[M/D N] C[M:D N]", s.Copy("Q", "A", s.Quantise()),
		s.Copy("C", "Q", s.Dequantise("SQ"))).eight(true, "Q")
}

// quants are schedules that make eight bits of 16.
var quants = []declared{
	{"Q01", "rows before they travel", plainly(), served},
	{"Q02", "behind a norm", quantised(s.RMSNorm("Norm")), served},
	{"Q03", "in parts", plainly().by("Q", s.Pull{Parts: 2}), served},
	{"Q03b", "in parts, each on its stream", plainly().by("Q", s.Pull{Parts: 3, WithStep: true}), served},
	{"Q03c", "in parts on two streams", plainly().by("Q", s.Pull{Parts: 3, Streams: 2}), served},
	{"Q03d", "in parts behind a norm", quantised(s.RMSNorm("Norm")).by("Q", s.Pull{Parts: 2}), served},
	{"Q03e", "in parts by kernels", plainly().by("Q", s.Pull{Parts: 2, By: s.Kernels}), served},
	{"Q03f", "in parts behind a sum", of("O[M K/D] Wo[N K/D] A[M/D N] Norm[N] X[M/D N] W[F/D N] C[M:D F/D]",
		s.Linear("X", "O", "Wo", s.Add("A"), s.RMSNorm("Norm"), s.Quantise()), s.Linear("C", "X", "W")).
		eight(true, "X", "W").by("X", s.Pull{Parts: 2}), served},
	{"Q03g", "in parts of a sum that goes on in parts", of(
		"O[M K/D] Wo[N K/D] A[M/D N] Norm[N] X[M/D N] W[F/D N] C[M:D F/D]", s.Linear("R", "O", "Wo", s.Add("A")),
		s.Copy("X", "R", s.RMSNorm("Norm"), s.Quantise()), s.Linear("C", "X", "W")).eight(true, "X", "W").
		by("R", s.Slots{Parts: 2}).by("X", s.Pull{Parts: 2}), served},
	{"Q04", "pushed", plainly().by("Q", s.Push{}), served},
	{"Q05", "on a ring", plainly().by("Q", s.Ring{}), served},
	{"Q06", "by one kernel", plainly().by("Q", s.GatherShot{}), served},
	{"Q07", "by NCCL", plainly().by("Q", s.NCCL{}), served},
	{"Q08", "all rows at once", plainly().by("Q", s.Pull{Once: true}), served},
	{"Q09", "own rows", of("A[M/D K] Q[M/D K] B[N K] C[M/D N]", s.Copy("Q", "A", s.Quantise()),
		s.Linear("C", "Q", "B")).eight(true, "Q", "B"), served},
	{"Q10", "behind a sum, a residual and a norm", of(
		"O[M K/D] Wo[N K/D] A[M/D N] Norm[N] X[M/D N] W[F/D N] C[M:D F/D]", s.Linear("R", "O", "Wo", s.Add("A")),
		s.Copy("X", "R", s.RMSNorm("Norm"), s.Quantise()), s.Linear("C", "X", "W")).eight(true, "X", "W"), served},
	{"Q10b", "of a sum", of("O[M K/D] Wo[N K/D] A[M/D N] Norm[N] X[M/D N] W[F/D N] C[M:D F/D]",
		s.Linear("X", "O", "Wo", s.Add("A"), s.RMSNorm("Norm"), s.Quantise()), s.Linear("C", "X", "W")).
		eight(true, "X", "W"), served},
	{"Q11", "behind a product", of("A[M/D K] W[N K] Q[M/D N] V[F/D N] C[M:D F/D]", s.Linear("P", "A", "W", s.SiLU()),
		s.Copy("Q", "P", s.Quantise()), s.Linear("C", "Q", "V")).eight(true, "Q", "V"), served},
	{"Q11b", "a product itself", of("A[M/D K] W[N K] Q[M/D N] V[F/D N] C[M:D F/D]",
		s.Linear("Q", "A", "W", s.SiLU(), s.Quantise()), s.Linear("C", "Q", "V")).eight(true, "Q", "V"),
		at("Tensors[2].Type", "only functions of a tensor, or of a sum of partial results, make eight bits, and Q "+
			"is a linear (give the linear another name, and make Q of it by a schedule.Copy)")},
	{"Q12", "queries, keys and values of one", of("A[M/D K] Q[M/D K] B[N/D K] B2[N2/D K] C[M:D N/D] C2[M:D N2/D]",
		s.Copy("Q", "A", s.Quantise()), s.Linear("C", "Q", "B"), s.Linear("C2", "Q", "B2")).
		eight(true, "Q", "B", "B2"), served},
	{"Q13", "scales that are no powers of two", of("A[M/D K] Q[M/D K] B[N/D K] C[M:D N/D]",
		s.Copy("Q", "A", s.Func{Is: s.Over(s.X, s.Greatest(s.Over(s.Most(s.Abs(s.X)), s.Num(448)), s.Num(1e-6)))}),
		s.Linear("C", "Q", "B")).eight(true, "Q", "B"), served},

	{"Q20", "for rows of 16 bits", gathered16(), served},
	{"Q20b", "each rank's rows when they are there", inTurn(), served},
	{"Q20c", "in parts", inTurn().by("Q", s.Pull{Parts: 2}), served},
	{"Q20d", "a norm of each rank's rows", of("A[M/D N] Norm[N] C[M:D N]",
		s.Copy("C", "A", s.RMSNorm("Norm"))), served},
	{"Q21", "by one kernel", gathered16().by("Q", s.GatherShot{}), served},
	{"Q23", "by NCCL", gathered16().by("Q", s.NCCL{}), served},
	{"Q24", "and a norm", of("A[M/D N] Norm[N] Q[M/D N] C[M N]", s.Copy("Q", "A", s.Quantise()),
		s.Copy("C", "Q", s.Dequantise("SQ"), s.RMSNorm("Norm"))).eight(true, "Q"), served},
	{"Q25", "and a product of 16 bits", of("A[M/D K] Q[M/D K] X[M K] B[N/D K] C[M N/D]",
		s.Copy("Q", "A", s.Quantise()), s.Copy("X", "Q", s.Dequantise("SQ")), s.Linear("C", "X", "B")).
		eight(true, "Q"), served},
	{"Q26", "own rows", of("A[M/D N] Q[M/D N] C[M/D N]", s.Copy("Q", "A", s.Quantise()),
		s.Copy("C", "Q", s.Dequantise("SQ"))).eight(true, "Q"), served},
	{"Q27", "given, for rows of 16 bits", of("Q[M/D N] C[M N]", s.Copy("C", "Q", s.Dequantise("SQ"))).eight(true, "Q"),
		served},

	{"Q30", "no scale is divided by", of("A[M/D K] Q[M/D K] B[N/D K] C[M:D N/D]", s.Copy("Q", "A", s.SiLU()),
		s.Linear("C", "Q", "B")).eight(true, "Q", "B"),
		at("Tensors[1].Type", "Q is made by an operation that divides no row by its scale (end its functions with "+
			"schedule.Quantise())")},
	{"Q31", "something behind the scale", of("A[M/D K] Q[M/D K] B[N/D K] C[M:D N/D]",
		s.Copy("Q", "A", s.Quantise(), s.ReLU()), s.Linear("C", "Q", "B")).eight(true, "Q", "B"),
		at("Tensors[1].Type", "Q is made by an operation that divides no row by its scale")},
	{"Q32", "one scale for all", of("A[M/D K] Q[M/D K] B[N/D K] C[M:D N/D]", s.Copy("Q", "A", s.Quantise()),
		s.Linear("C", "Q", "B")).eight(false, "Q", "B"),
		at("Tensors[1].Scale", "Q has one scale for all of it, and no kernel reads all of it before it makes some")},
	{"Q32b", "one scale for all, sums", of("A[M K/D] Q[M K/D] B[N K/D] C[M/D N]", s.Copy("Q", "A", s.Quantise()),
		s.Linear("C", "Q", "B")).eight(false, "Q", "B"),
		at("Tensors[1].Scale", "no kernel reads all of it before it makes some (let the axis of SQ be that of the "+
			"rows of Q)")},
	{"Q32c", "scales of the step before", of("A[M/D K] Last[M/D] Q[M/D K] B[N/D K] C[M:D N/D]", s.Copy("Q", "A",
		s.Func{Is: s.Over(s.X, s.Column("Last"))}), s.Linear("C", "Q", "B")).eight(true, "Q", "B").in32("Last"),
		at("Tensors[2].Type", "Q is divided by numbers that are given, and kernels make scales of what they read (end "+
			"its functions with schedule.Quantise(), or let a schedule.Call make codes and scales)")},
	{"Q32d", "a number of the shape", of("A[M/D K] Q[M/D K] C[M:D K]", s.Copy("Q", "A",
		s.Func{Is: s.Over(s.X, s.Param("Alpha"))}), s.Copy("C", "Q", s.Dequantise("SQ"))).eight(true, "Q"),
		at("Tensors[1].Type", "Q is divided by numbers that are given")},
	{"Q33", "columns that are spread", of("A[M/D K] Up[F/D K] H[M F/D] W[N F/D] C[M/D N]", s.Linear("G", "A", "Up"),
		s.Copy("H", "G", s.Quantise()), s.Linear("C", "H", "W")).eight(true, "H", "W"),
		at("Ops[1].Then[0]", "each rank has a part of each row of H, and quantise takes whole rows (place SH "+
			"[M, DIDx(D)]: a scale for each rank's part of a row)")},
	{"Q34", "a scale for each block", of("A[M/D K] Q[M/D K] B[N/D K] C[M:D N/D]",
		s.Copy("Q", "A", s.Quantise().PerHead("128")), s.Linear("C", "Q", "B")).eight(true, "Q", "B"),
		at("Tensors[1].Type", "Q is made by an operation that divides no row by its scale")},
	{"Q35", "eight bits as they are", of("A[M/D K] Q[M/D K] C[M K]", s.Copy("Q", "A", s.Quantise()),
		s.Copy("C", "Q")).eight(true, "Q"), at("Ops[1]", "copy takes no operand of eight bits")},
	{"Q36", "scales of another tensor", of("A[M/D K] B[M/D K] Q[M/D K] P[M/D K] C[M/D K]",
		s.Copy("Q", "A", s.Quantise()), s.Copy("P", "B", s.Quantise()), s.Copy("C", "Q", s.Dequantise("SP"))).
		eight(true, "Q", "P"), at("Tensors[3].Scale", "SP is a scale, and operations have it as well")},
	{"Q40", "rows of counted parts", counted16(), served},
	{"Q41", "padded", counted16().by("Q", s.Padded{}), served},
	{"Q42", "by NCCL", counted16().by("Q", s.NCCL{}), at("Moves[0].Way", "it moves parts of one size")},
	{"Q43", "by a kernel", counted16().by("Q", s.Pull{By: s.KernelCopies}), served},
	{"Q44", "behind a norm", of("A[M/D~P N] Norm[N] Q[M/D~P N] C[M N]",
		s.Copy("Q", "A", s.RMSNorm("Norm"), s.Quantise()), s.Copy("C", "Q", s.Dequantise("SQ"))).eight(true, "Q"),
		served},
	{"Q45", "given", of("Q[M/D~P N] C[M N]", s.Copy("C", "Q", s.Dequantise("SQ"))).eight(true, "Q"), served},
	{"Q46", "own rows of counted parts", of("A[M/D~ N] Q[M/D~ N] C[M/D~ N]", s.Copy("Q", "A", s.Quantise()),
		s.Copy("C", "Q", s.Dequantise("SQ"))).eight(true, "Q"), served},
	{"Q47", "a product of counted parts", of("A[M/D~ K] Q[M/D~ K] B[N K] C[M N]", s.Copy("Q", "A", s.Quantise()),
		s.Linear("C", "Q", "B")).eight(true, "Q", "B"), served},
	{"Q48", "scales of even parts", counted16().changed("SQ",
		func(t *s.Tensor) { t.Axes = []s.Axis{s.Dim(s.M, s.DIDx(s.D))} }),
		at("Tensors[3]", "SQ is [DIDx(D), M/D], and scales of Q are one, or lie as its rows do (place it "+
			"[DIDx(D, uneven, at most P), M/D])")},
	{"Q49", "balanced parts", balanced(balanced(balanced(gathered16(), "A"), "Q"), "SQ"), served},

	{"Q50", "codes are gathered", moved("A[M/D N] C[M N]").eight(true, "A", "C"), served},
	{"Q51", "by one kernel", moved("A[M/D N] C[M N]").eight(true, "A", "C").by("A", s.GatherShot{}), served},
	{"Q52", "with one scale", moved("A[M/D N] C[M N]").eight(false, "A", "C"),
		at("Tensors[1].Scale", "SA has no scale for each whole row, and no copy takes it along to C (give each row of "+
			"A and of C a scale)")},
	{"Q53", "by counts", moved("A[M/D~P N] C[M N]").eight(true, "A", "C"), served},
	{"Q54", "by counts, padded", moved("A[M/D~P N] C[M N]").eight(true, "A", "C").by("A", s.Padded{}), served},
	{"Q55", "quantised rows are a result of all", of("A[M/D N] Q[M/D N] C[M N]", s.Copy("Q", "A", s.Quantise()),
		s.Copy("C", "Q")).eight(true, "Q", "C"), served},
	{"Q56", "all to all", moved("A[D/D D M N] C[D D/D M N]").eight(true, "A", "C"), served},
	{"Q56b", "of one scale a rank", moved("A[D/D D M N] C[D D/D M N]").eight(true, "A", "C").
		changed("SA", func(t *s.Tensor) { t.Axes = t.Axes[:1] }),
		at("Tensors[2]", "SA is [DIDx(D)], and scales of A are one, or lie as its rows do (place it [DIDx(D), D, M])")},
	{"Q57", "all to all by counts", moved("A[D/D~ D M N] C[D D/D~ M N]").eight(true, "A", "C"), served},
	{"Q58", "for 16 bits", moved("A[D/D D M N] C[D D/D M N]").eight(true, "A"),
		at("Ops[0]", "copy takes no operand of eight bits")},
	{"Q59", "by columns", moved("A[M/D N] C[M N/D]").eight(true, "A", "C"),
		at("Tensors", "no pass cuts the scales of A as its rows are cut")},
	{"Q60", "a permutation", moved("A[M/D N] C[M/D+1 N]").eight(true, "A", "C"), served},
	{"Q61", "one scale of rows", moved("A[M/D N] C[M N]").eight(true, "A").eight(false, "C"),
		at("Tensors[1].Scale", "SC has no scale for each whole row, and no copy takes it along to C")},
	{"Q62", "made of rows for each rank", of("A[D/D D M N] Q[D/D D M N]", s.Copy("Q", "A", s.Quantise())).
		eight(true, "Q"), served},
	{"Q63", "and exchanged", of("A[D/D D M N] Q[D/D D M N] C[D D/D M N]", s.Copy("Q", "A", s.Quantise()),
		s.Copy("C", "Q", s.Dequantise("SQ"))).eight(true, "Q"), served},

	{"Q37", "by packets", plainly().by("Q", s.PushGather{}), served},
	{"Q37b", "by packets of the kernel that makes rows", plainly().by("Q", s.PushGather{Rows: true}), served},
	{"Q37c", "behind a norm", quantised(s.RMSNorm("Norm")).by("Q", s.PushGather{Rows: true}), served},
	{"Q37d", "read as 16 bits", gathered16().by("Q", s.PushGather{Rows: true}), served},
	{"Q37e", "read as 16 bits in turn", inTurn().by("Q", s.PushGather{Rows: true}), served},
	{"Q38", "tiles", plainly().by("Q", s.Tiles{}),
		at("Moves[0].Way", "no kernel of its way takes the scales of Q along")},

	{"Q70", "columns that are spread, a scale for each part", of("A[M/D K] Up[F/D K] H[M:D F/D] W[N F/D] C[M/D N]",
		s.Linear("G", "A", "Up"), s.Copy("H", "G", s.Quantise()), s.Linear("C", "H", "W")).inParts("H").
		eight(true, "W"), served},
	{"Q71", "a gate of parts", of("A[M/D K] Up[F/D K] Gate[F/D K] H[M:D F/D] W[N F/D] C[M/D N]",
		s.Linear("U", "A", "Up"), s.Linear("G", "A", "Gate"), s.Copy("H", "G", s.SwiGLU("U"), s.Quantise()),
		s.Linear("C", "H", "W")).inParts("H").eight(true, "W"), served},
	{"Q72", "an all-reduce of parts", of("A[M K/D] Bias[K/D] Q[M K/D] B[N K/D] C[M N]",
		s.Copy("Q", "A", s.Bias("Bias"), s.Quantise()), s.Linear("C", "Q", "B")).inParts("Q").eight(true, "B").
		by("C", s.PushShot{}), served},
	{"Q73", "parts that are given", linear("A[M K/D] B[N K/D] C[M/D N]").inParts("A", "B"), served},
	{"Q74", "a weight's parts alone", linear("A[M K/D] B[N K/D] C[M N]").inParts("B"), served},
	{"Q75", "a norm of parts", of("A[M K/D] Norm[K/D] Q[M K/D] B[N K/D] C[M/D N]",
		s.Copy("Q", "A", s.RMSNorm("Norm"), s.Quantise()), s.Linear("C", "Q", "B")).inParts("Q").eight(true, "B"),
		at("Tensors[2].Scale", "each rank has a part of each row of Q, and a function ahead of its scales takes whole "+
			"rows (make Q by a schedule.Copy with schedule.Quantise() alone)")},
	{"Q76", "parts for rows of 16 bits", of("A[M N/D] Q[M N/D] C[M N/D]", s.Copy("Q", "A", s.Quantise()),
		s.Copy("C", "Q", s.Dequantise("SQ"))).inParts("Q"),
		at("Tensors[1].Scale", "SQ is a scale, and operations have it as well")},
	{"Q77", "parts that travel", linear("A[M/D K] B[N K/D] C[M/D N]").eight(true, "A").inParts("B"),
		at("Moves", "no kernel of its way takes the scales of B along")},
	{"Q78", "parts of rows that are spread", plainly().changed("SQ", func(t *s.Tensor) {
		t.Axes = append(t.Axes, s.Dim(s.D, s.DIDx(s.D)))
	}), at("Tensors[4]", "SQ is [DIDx(D), M/D, DIDx(D)], and scales of Q are one, or lie as its rows do")},

	{"Q80", "a call makes rows", calledEight("A[M K] Q[M K] B[N/D K] C[M N/D]", s.Call), served},
	{"Q81", "of a rank's own, which travel", calledEight("A[M/D K] Q[M/D K] B[N/D K] C[M:D N/D]", s.CallRows), served},
	{"Q82", "parts of rows", partsCalled().inParts("Q"), served},
	{"Q83", "parts of rows of one scale", partsCalled().eight(true, "Q"),
		at("Tensors[2].Scale", "each rank's call makes a part of each row of Q, and knows the scale of that part "+
			"alone (place SQ [M, DIDx(D)])")},
	{"Q84", "one scale for all", of("A[M K] Q[M K] B[N/D K] C[M N/D]", s.Call("Q", "Own", "mk->mk", "A"),
		s.Linear("C", "Q", "B")).eight(false, "Q", "B"),
		at("Tensors[1].Scale", "a call makes a scale for each row, and SQ is one for all of Q (let the axis of SQ be "+
			"that of the rows of Q)")},
	{"Q85", "by a kernel of the caller's", of("A[M K] Q[M K] B[N/D K] C[M N/D]", s.CallKernel("Q", "Own", "mk->mk",
		s.Kernel{File: "own.cu", Name: "own", Blocks: "M"}, "A"), s.Linear("C", "Q", "B")).eight(true, "Q", "B"),
		at("Tensors[1].Type", "no kernel of a .cu is handed the scales of Q (let a function make it: schedule.Call)")},
	{"Q86", "summands", of("A[M K/D] Q[M N] B[F/D N] C[M F/D]", s.CallPartial("Q", "Own", "mk->mn", "A"),
		s.Linear("C", "Q", "B")).eight(true, "Q", "B"),
		at("Tensors[1].Type", "Q is made by an operation that divides no row by its scale")},
}

// calledEight is a product of what a call makes in eight bits.
func calledEight(tensors string, call func(out, name, index string, in ...string) s.Op) form {
	return of(tensors, call("Q", "Own", "mk->mk", "A"), s.Linear("C", "Q", "B")).eight(true, "Q", "B")
}

// partsCalled is such a product whose call makes each rank's part of rows.
func partsCalled() form {
	return of("X[M K] Up[F/D K] Q[M F/D] B[N F/D] C[M N]", s.Linear("U", "X", "Up"),
		s.Call("Q", "Gate", "mf->mf", "U"), s.Linear("C", "Q", "B")).eight(true, "B")
}

// counted16 is gathered16 of as many rows as Bind is told.
func counted16() form {
	return of("A[M/D~P N] Q[M/D~P N] C[M N]", s.Copy("Q", "A", s.Quantise()), s.Copy("C", "Q", s.Dequantise("SQ"))).
		eight(true, "Q")
}

// TestQuantised holds each against its verdict, and the explorer agrees on those that are served.
func TestQuantised(t *testing.T) { explored(t, "Quantised", quants) }

// explored holds each of a list against its verdict, and has the explorer agree on those that are served.
func explored(t *testing.T, name string, list []declared) {
	t.Helper()
	for i := range list {
		d := &list[i]
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s %s: %v", d.id, d.what, err)
		}
		if d.outcome != isServed {
			continue
		}
		p, err := lower.Lower(name, d.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		if explored, err := explore.Small(p, []int{1, 2}, false); err != nil || len(explored) == 0 {
			t.Errorf("%s %s: explored on %v ranks: %v", d.id, d.what, explored, err)
		}
	}
}
