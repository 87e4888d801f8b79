package served

import (
	"slices"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/sampling"
)

// changed are schedules that differ from others of these tables in one thing, and were programs that neither checker
// accepts, or that one of the two refused wrongly.
var changed = []declared{
	{"a function of scales", "in place", of("O[M K/D] Wo[N K/D] Q[M/D N] C[M:D N]",
		s.Linear("Q", "O", "Wo", s.QuantiseFP4()), s.Copy("C", "Q", s.Add("SQ"), s.Dequantise("SQ"))).fp4("Q"),
		at("Ops[1].Then[0].Is.Of[1].Tensor", "add reads a number for each of C, and SQ has scales of Q")},
	{"functions of codes", "without their scales", moved("A[D/D D M] R[D D/D M] C[D D/D M]").
		op(0, s.Copy("C", "A", s.SwiGLU("R"))).eight(true, "A"),
		at("Ops[0]", "C is of what A stands for, and its functions do not read SA")},
	{"sums in fp32 by stores", "a kernel of its own adds up what lands", inFP32(s.Stores{}), served},
	{"sums in fp32 round a ring", "they are rounded", inFP32(s.RingSum{}), at("Moves[0].Way", "rounds the sums of C")},
	{"sums in fp32 in products round a ring", "likewise", inFP32(s.RingAccumulate{}),
		at("Moves[0].Way", "rounds the sums of C")},
	{"sums in fp32 in parts by NCCL", "likewise", inFP32(s.NCCL{Parts: 3}), at("Moves[0].Way", "rounds the sums of C")},
	{"sums in fp32 by slots in one kernel", "likewise", inFP32(s.Slots{By: s.OneKernel}),
		at("Moves[0].Way.By", "no kernel of a whole shot keeps the sums of C in fp32")},
	{"parts across a sum, and one at once", "own rows' partial results", form{catalog.BlockBehindAttention}.
		by("R", s.Slots{Parts: 3}).by("C", s.NCCL{}),
		at("Moves[0].Way.Parts", "the partial results of C meet at once")},
	{"a gather in parts", "functions stand behind it", of("A[M/D N] V[N] C[M N]", s.Copy("C", "A", normed)).
		by("A", s.Pull{Parts: 2}), at("Moves[0].Way.Parts", "no product takes a part of A alone")},
	{"a gather on streams", "likewise", of("A[M/D N] V[N] C[M N]", s.Copy("C", "A", normed)).
		by("A", s.Pull{Streams: 3}), at("Moves[0].Way.Streams", "no product takes a part of A alone")},
	{"a product of gathered rows", "beside products of them as they come", of(
		"A[M/D K] B[N K] C[M:D N] Gathered[M:D K] W[K N/D] E[M N/D]", s.Linear("C", "A", "B"),
		s.Copy("Gathered", "A"), s.Matmul("E", "Gathered", "W")), at("Ops[2]", "products take rows of A as they come")},
	{"a shifted sum", "of a product behind columns", of("A[M/D N] C[M N/D] W[K N/D] R[M/D+1 K]", s.Copy("C", "A"),
		s.Linear("R", "C", "W")), at("Tensors[3].Axes[0].Outer[0].Shift", "partial results of R meet at the rank")},
	{"a part in steps", "of columns", of("A[M/D K] W[N K] C[M N/D:D]", s.Linear("Q", "A", "W"), s.Copy("C", "Q")),
		at("Tensors[2].Axes[1].Outer[1]", "each rank has a part of an axis of C, and it is made in steps as well")},
	{"columns by counts", "of a sum", linear("A[M K/D] B[N K/D] C[M N/D~]"),
		at("Tensors[2].Axes[1].Outer[0].Uneven", "Bind is told how many rows each rank has")},
	{"a constant number of rows", "by counts", sum("A[D/D 24 N] C[24/D~ N]"),
		at("Tensors[1].Axes[0].Outer[0].Uneven", "and their number is constant")},
	{"equal parts", "beside rows by counts", of("A[M K/D] B[N K/D] B2[N2 K/D] C[M/D~ N] C2[M/D N2]",
		s.Linear("C", "A", "B"), s.Linear("C2", "A", "B2")), at("Tensors[4]",
		"the rows of C are by counts, and those of C2 are not")},
	{"a residual of equal parts", "beside rows by counts", of("A[M/D~ N] R[M/D N] C[M/D~ N] E[M N]",
		s.Copy("C", "A", s.Add("R")), s.Copy("E", "C")), at("Tensors[1].Axes[0].Outer[0]",
		"the rows of C need not be in equal parts, and those of R are")},
	{"equal parts", "beside balanced ones", balanced(of("A[M/D N] B[M/D N2] C[M N] E[M N2]", s.Copy("C", "A"),
		s.Copy("E", "B")), "B"), at("Tensors[0].Axes[0].Outer[0]", "the rows of B need not be in equal parts")},
	{"a call", "beside rows by counts", of("A[M K/D] B[N K/D] C[M/D~ N] E[M K/D]", s.Linear("C", "A", "B"),
		s.Call("E", "Own", "mn->mn", "A")), served},
	{"a gradient", "in parts by counts", gradient("A[M/D N] B[M/D K] C[N/D~ K]"),
		at("Tensors[2].Axes[0].Outer[0].Uneven", "only rows of M are in parts that differ, and those of C are of N")},
	{"columns that are gathered", "of rows by counts", of(
		"A[M/D~ K] Q[M/D~ K] B[N K] W[N2/D N] C[M N] E[M N2]", s.Copy("Q", "A", s.Quantise()),
		s.Copy("X", "Q", s.Dequantise("SQ")), s.Linear("C", "X", "B"), s.Linear("E", "C", "W")).eight(true, "Q"),
		at("Tensors[5]", "a copy to columns of E takes all rows in one piece")},
	{"a tensor of fp32", "that is gathered", of("A[D/D M N] V[N] C[M/D N] E[M N]", s.Sum("C", "A"),
		s.Copy("E", "C", normed)).in32("C"), at("Tensors[2].Type", "no pass moves a tensor of fp32, such as C")},
	{"packets of eight bits", "with one scale", gatheredEight(false).by("A", s.PushGather{}),
		at("Moves[0].Way", "PushGather brings rows with their scales, and A has others (give each row of A a "+
			"scale, or use schedule.Pull, ")},
	{"rows of several ranks", "with scales block by block", inSquares().by("A", s.Grouped{}), apart("A")},
	{"sums of blocks of scales", "cut between elements", linear("A[M K/D] B[N K/D] C[M N]").squared("A", "B").
		by("C", s.TwoShot{}), served},
	{"columns that a product made", "by kernels", of("A[M/D K] W[N K] C[M N/D]", s.Linear("Q", "A", "W"),
		s.Copy("C", "Q")).by("Q", s.Pull{By: s.KernelCopies}),
		at("Moves[0].Way.By", "no kernel copies parts of columns")},
	{"columns that are made in parts", "by NCCL", of("A[M/D K] W[N/D K] R[M/D N]", s.Linear("O", "A", "W"),
		s.Copy("R", "O")).by("A", s.NCCL{Parts: 3}), at("Moves[0].Way.Parts", "parts of the columns of O travel")},
	{"columns that are made in halves", "round a ring", of("A[M/D K] W[N/D K] R[M/D N]", s.Linear("O", "A", "W"),
		s.Copy("R", "O")).by("A", s.Ring{Direction: s.Both}),
		at("Moves[0].Way.Direction", "parts of the columns of O")},
	{"parts across a sum, and columns", "of the norm", of("O[M K/D] Wo[N K/D] Norm[N] Wq[F/D N] Q[M:D F/D] E[M N/D]",
		s.Linear("X", "O", "Wo"), s.Copy("Y", "X", s.RMSNorm("Norm")), s.Linear("Q", "Y", "Wq"), s.Copy("E", "Y")).
		by("X", s.Slots{Parts: 2}), at("Tensors",
		"parts of the columns of Y travel, and steps take its rows in pieces")},
	{"four axes", "and parts of another one", of("A[F/D N2 M N] C[F N2/D M N]", s.Copy("C", "A", s.Softmax())),
		at("Tensors[0]", "no pass exchanges parts of A, which has 4 axes")},
	{"what a call makes", "in balanced parts", balanced(of("A[M K/D] B[N K/D] P[M/D N]", ownProduct), "P"),
		served},
	{"stores of batches", "each product waits", linear("A[M K/D] B[N K/D] C[M*4/D N]").
		by("C", s.Stores{Signals: s.MemOps}), served},
	{"kernels that wait with products", "in a chain", form{scheduletest.Clone(catalog.TensorParallelMLP)}.
		ways(s.Pull{WithStep: true, By: s.Kernels}, s.Slots{By: s.Kernels}), served},
	{"a number for each row", "behind products of parts", of(
		"A[M/D K] W[N/D K] S[M] V[N/D] C[M:D N/D]", s.Linear("C", "A", "W", s.Func{Is: s.Times(s.X, s.Column("S"),
			s.Row("V"))})).by("A", s.NCCL{Parts: 3}),
		served},
	{"rows of a gradient", "that the caller gets", of("A[M/D N] B[M K/D] C[N K/D] E[M N]", s.Gradient("C", "A", "B"),
		s.Copy("E", "A")), at("Tensors[3]", "a gradient takes parts of A as they come")},
	{"sums", "behind columns that were gathered", of("A[M P] U[N/D P] L[M N] W[K/D N] C[M K/D] W2[N K/D] E[M/D N]",
		s.Linear("L", "A", "U"), s.Linear("C", "L", "W"), s.Linear("E", "C", "W2")), at("Ops[2].In[0]",
		"no pass goes on with all columns of")},
	{"a gate", "that the caller gets whole", of("A[M/D K] Up[F/D K] Gate[F/D K] Down[N F/D] U[M F] C[M/D N]",
		s.Linear("U", "A", "Up"), s.Linear("G", "A", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down")), served},
	{"a call of three axes", "of a matrix", of("A[M/D K] Wo[N/D K] C[M:D N/D]", s.Copy("X", "A", s.GELU()),
		s.CallRows("Y", "Route", "abc->abc", "X"), s.Linear("C", "Y", "Wo")), at("Ops[1].Index",
		"X has rows and columns, and the index names others")},
	{"a call of three axes", "of a sum's norm", of("O[M K/D] Wo[N K/D] Norm[N] Wp[F/D N] C[M:D F/D]",
		s.Linear("X", "O", "Wo", s.RMSNorm("Norm")), s.CallRows("Y", "Route", "abc->abc", "X"),
		s.Linear("C", "Y", "Wp")), at("Ops[1].Index", "X has rows and columns, and the index names others")},
	{"a call of all queries", "and a rank's keys", of("A[M/D K] Wq[N K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] C[M/D K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Key", "A", "Wk"), s.Linear("V", "A", "Wv"), attention,
		s.Linear("C", "O", "Wo")), at("Ops[3].In[0]", "every rank has all columns of Q, and Attention makes some")},
	{"an operand in steps", "of columns", of("A[M:D N/D] Y[M N] V[N] W[K/D N] C[M K/D]", s.Copy("Y", "A", normed),
		s.Linear("C", "Y", "W")), at("Tensors[0]", "and only results are made in steps")},
	{"a residual in steps", "beside balanced rows", balanced(of("A[M/D K] W[N K] C[M N] R[M:D N] V[N]",
		s.Linear("C", "A", "W", s.RMSNorm("V"), s.Add("R"))), "A"), at("Tensors[3]",
		"R is [Stream(D), M/D, N], and the operations take it otherwise")},
	{"sums by counts and for all", "of one tensor", of("A[D/D M N] C[M/D~P N] E[M N]", s.Sum("C", "A"),
		s.Sum("E", "A")), at("Tensors[2]", "a sum alone for all ranks, such as E, is of equal parts")},
	{"a residual of three axes", "on other ranks", of("A[D/D D M] C[D/D D M] R[D D/D M]",
		s.Copy("C", "A", s.SwiGLU("R"))), at("Tensors[2]", "R is [D, DIDx(D), M], and C of it is [DIDx(D), D, M]")},
	{"queries that are kept", "of all columns", func() form {
		f := rotary("M", "W")
		f.Ops[0] = f.Ops[0].Keeping("More", 1)
		f.Tensors = append(f.Tensors, scheduletest.Tensors("More[M N]")...)
		return f
	}(), at("Ops[3].In[0]", "every rank has all columns of Q, and Attention makes some")},
	{"a call of own rows", "that come", of("O[M N/D] Wo[K N] C[M/D K] E[M/D N]", s.Copy("Or", "O"),
		s.Linear("C", "Or", "Wo"), s.Call("E", "Own", "mn->mn", "Or")), at("Ops[2].In[0]",
		"nothing says which rows of Or, which comes, Own takes")},
	{"balanced parts", "of another axis", of("A[M K] B[N/D K] L[4 16/D N] T[M N/D] C[M N/D]",
		s.Call("T", "Expand", "mk,srn->mn", "A", "L"), s.Linear("C", "A", "B", s.Add("T"))).changed("L",
		func(t *s.Tensor) { t.Axes[1].Outer = []s.Split{s.Balanced(s.D)} }),
		at("Tensors[2].Axes[1].Outer[0].Balanced", "only rows are in balanced parts")},
	{"a table", "of batches", of("A[M*2/D K] B[F/D K] B2[N F/D] C[M:2/D N] Table[M W]",
		s.Linear("H", "A", "B", s.Rotary("Table")), s.Linear("C", "H", "B2")), served},
	{"a residual of at most so many rows", "behind a sum by counts", of("A[D/D M N] C[M/D~ N] R[M/D~P N] V[N]",
		s.Sum("C", "A", normed, s.Add("R"))), served},
	{"functions of a gradient", "that adds to a tensor and is not declared", of("A[M N] B[M/D K] C[N K] C0[N K]",
		s.Gradient("Half", "A", "B", s.Add("C0"), s.Scale(.5)), s.Copy("C", "Half", s.GELU())), served},
	{"a function of a gradient", "that was added to", of("A[M N] B[M/D K] C[N K] C0[N K]",
		s.Gradient("Half", "A", "B", s.Add("C0")), s.Copy("C", "Half", s.GELU())), served},
	{"an operand of other ranks' rows", "that an exchange brings", of(
		"O[M N/D] R[M/D N] W[K N] C[M/D K] X[M/D N] Y[M/D-1 N]", s.Copy("R", "O"), s.Linear("C", "R", "W"),
		s.Copy("Y", "X", s.Add("R"))),
		at("Ops[2].Then[0].Is.Of[1].Tensor", "R and Y have their rows on different ranks")},
	{"a function of rows", "of an exchange by counts", of("A[D/D~ D M] C[D D/D~ M]", s.Copy("C", "A", s.Softmax())),
		at("Ops[0].Then[0]", "parts of C are by counts of elements, and softmax takes whole rows")},
	{"an exchange to parts of rows", "of tensors with three axes", of("A[D/D D M] C[D D M/D]", s.Copy("C", "A")),
		at("Tensors[0]", "no pass exchanges parts of A, which has 3 axes")},
	{"an exchange of parts of rows", "and functions", of("A[D D M/D] C[D D/D M]", s.Copy("C", "A", s.Scale(.5))),
		at("Tensors[0]", "no pass exchanges parts of A, which has 3 axes")},
	{"an exchange of parts of columns", "of tensors with four axes", of("A[D D M N/D] C[D D/D M N]",
		s.Copy("C", "A")), at("Tensors[0]", "no pass exchanges parts of A, which has 4 axes")},
	{"scales that have a scale", "and are codes", of("A[M/D N] Q[M/D N] C[M:D N]", s.Copy("Q", "A", s.QuantiseFP4()),
		s.Copy("C", "Q", s.Dequantise("SQ"))).fp4("Q").eight(true, "SQ"), at("Tensors[3].Scale",
		"SQ is the scale of Q, and has none itself")},
	{"a function of columns", "that come whole for a product", of("A[M K/D] B[N K] V[K/D] C[M N] E[M K/D]",
		s.Linear("C", "A", "B"), s.Copy("E", "A", normed)), at("Ops[1].Then[0]", "each rank has a part of each row")},
	{"a residual of one batch", "beside sums of batches", of("A[M*8/D K] B[F/D K] B2[N F/D] C[M:8/D N] R[M/D N]",
		s.Linear("H", "A", "B"), s.Linear("C", "H", "B2", s.Add("R"))), at("Tensors[4]",
		"R is [DIDx(D), M/D, N], and the operations take it otherwise")},
	{"a residual", "where the result is", func() form {
		f := of("A[M K] B[N K] B2[K N] C[M K]", s.Linear("X", "A", "B", s.SiLU()),
			s.Linear("C", "X", "B2", s.Add("A")))
		f.Tensors[0].Within = "C"
		return f
	}(), at("Tensors[0].Within", "a kernel reads A and C at once, and one memory has one of them")},
	{"balanced rows", "of another number than M", balanced(of("E[P/D N2] C2[P N2] A[M/D K] B[F/D K] C[M:D F/D]",
		s.Copy("C2", "E"), s.Linear("C", "A", "B")), "E"), served},
	{"rows by counts", "at most as many as others", of("E[P/D N2] C2[P N2] A[M/D~P K] C[M K]", s.Copy("C2", "E"),
		s.Copy("C", "A")), at("Tensors[2].Axes[0].Outer[0].Most", "and other axes have that many")},
	{"balanced rows", "that do not travel", balanced(balanced(of("A[M/D K] W[N K] C[M/D N]",
		s.Linear("C", "A", "W", s.Scale(.5))), "A"), "C"), served},
	{"a table", "for one column", of("A[D/D M 1] C[M 1] Table[M W]", s.Sum("C", "A", s.Rotary("Table"))),
		at("Ops[0].Then[0]", "rotary turns pairs of columns, and there are 1")},
	{"sums of all rows", "beside columns that come whole", of("A[M K/D] B[N K/D] A2[M F/D] B2[N F] C[M N]",
		s.Linear("P", "A", "B"), s.Linear("C", "A2", "B2", s.Add("P"))), at("Ops[1].In[0]",
		"no pass goes on with all columns of A2")},

	{"a call", "beside balanced rows", form{scheduletest.Clone(B25Table)}.changed("A", balancedRows), served},
	{"a call of some columns", "that makes all of others", form{scheduletest.Clone(B25Table)}.changed("Table",
		func(t *s.Tensor) { t.Axes[1].Outer = []s.Split{s.DIDx(s.D)} }), at("Ops[1].In[0]",
		"each rank has a part of the columns of Table, and nothing says which columns of E")},
	{"sums for all", "of balanced rows", of("X[M/D N] W1[F/D N] W2[N F/D] C[M N]", s.Linear("H", "X", "W1", s.GELU()),
		s.Linear("C", "H", "W2")).changed("X", balancedRows), served},
	{"balanced rows", "of which each rank has one", moved("A[D/D N] C[D N]").changed("A", balancedRows),
		at("Tensors[0].Axes[0].Outer[0].Uneven", "each rank has one row of A, which has D")},
	{"columns that are gathered", "of what balanced rows make", of("A[M/D K] W[N K] V[N] W2[P/D N] C[M P]",
		s.Linear("H", "A", "W", s.RMSNorm("V")), s.Linear("C", "H", "W2")).changed("A", balancedRows), at("Tensors[4]",
		"a copy to columns of C takes all rows in one piece, and rows in parts as those of A are a piece for each "+
			"rank")},
	{"columns that are summed", "of what balanced rows make", of("A[M/D K] W[F/D K] W2[N F/D] C[M N/D]",
		s.Linear("H", "A", "W", s.GELU()), s.Linear("C", "H", "W2", s.Scale(.5))).changed("A", balancedRows),
		at("Tensors[3]", "columns of C are summed of all rows, and there are as many as of A, which need not be in "+
			"equal parts")},
	{"functions of summands", "that others are sums of", of("A[D/D M N] Q[D/D M N] C[M/D~ N]",
		s.Copy("Q", "A", s.GELU()), s.Sum("C", "A")), at("Ops[0]", "no pass makes functions of summands, Q")},
	{"a gate of all columns", "each rank makes some", of("A[M K] B[N/D K] More[M N] C[M N]",
		s.Linear("C", "A", "B", s.SwiGLU("More"))), at("Tensors[2]", "(place it [M, DIDx(D), N/D])")},

	{"a norm of all columns", "that a call makes in parts of rows", withNorm(B25Table, 4), served},
	{"a norm of all columns", "behind the sum of what a call makes", withNorm(B25Table, 5), served},
	{"functions", "of a sum of codes by counts", of("A[D/D M N] Q[D/D M N] C[M/D~ N]", s.Copy("Q", "A", s.Quantise()),
		s.Sum("C", "Q", s.Softmax())).eight(true, "Q"), served},
	{"columns and rows by packets", "of one tensor", of("Q[M/D N] C[M N/D] W[F N] H[M:D F]", s.Copy("C", "Q"),
		s.Linear("H", "Q", "W")).by("Q", s.PushGather{}), served},
	{"a cache that grows in place", "beside sums in fp32", cached(by("M"), by("M", "P")).in32("C"), served},
	{"fewer rows than others", "at most so many", form{catalog.LinearReduceScatterVQuantised}.most("3"), served},
	{"a bias of all rows", "each rank has its own", of("A[M/D K] B[F/D K] B2[N F/D] C[M/D N] V[K] Gathered[M:D K]",
		s.Linear("H", "A", "B"), s.Linear("C", "H", "B2"), s.Copy("Gathered", "A", s.Bias("V"))), served},
	{"heads of a constant number of columns", "each as wide as a table", rotary("M", "W").extent("N", "48"), served},
	{"a number for each row", "of rows that come in parts", of("A[M/D K] W[N/D K] S[M] V[N/D] C[M:D N/D]",
		s.Linear("C", "A", "W", s.Func{Is: s.Times(s.X, s.Column("S"), s.Row("V"))})).by("A", s.Pull{Parts: 3}),
		served},
	{"a function of each element", "of columns that go back to rows", of(
		"A[M/D K] W[N K] C[M N/D] R[M/D N] V[N]", s.Linear("Q", "A", "W"), s.Copy("C", "Q"),
		s.Copy("G", "C", s.GELU()), s.Copy("R", "G", s.Bias("V"))), served},
	{"a product of all rows", "that an exchange brought", of("O[M N/D] W[N N/D] C[M N] Wo[K N] E[M/D K]",
		s.Copy("Or", "O"), s.Matmul("C", "Or", "W"), s.Linear("E", "Or", "Wo")), served},
	{"rows in two groups", "behind rows one rank's after another's", of(
		"A[M/D K] Wq[N/D K] E[P/D K] Wk[N2/D K] Wo[K N/D] C[M/D K]", s.Linear("Q", "A", "Wq"),
		s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"), s.Linear("C", "O", "Wo")).
		by("E", s.Grouped{}), served},
	{"a call of own rows", "of sums of codes", of("A[M K/D] B[N K/D] Q[D/D M N] C[M N] R[M/D N] E[M/D N]",
		s.LinearPartial("P", "A", "B"), s.Copy("Q", "P", s.Quantise()), s.Sum("H", "Q"),
		s.CallRows("E", "Own", "mn->mn", "H"), s.Copy("R", "H", s.Quantise()), s.Copy("C", "R", s.Dequantise("SR"))).
		eight(true, "Q", "R"), served},
	{"an exchange there and back", "of sums of codes", of("A[M K/D] B[N K/D] Q[D/D M N] C[M/D N] H2[M N/D]",
		s.LinearPartial("P", "A", "B"), s.Copy("Q", "P", s.Quantise()), s.Sum("H", "Q"), s.Copy("H2", "H"),
		s.Copy("C", "H2", s.GELU())).eight(true, "Q"), served},
	{"columns that are gathered", "and made beside sums that leave first", of(
		"A[M N/D] W[N/D K] V[64] C[M N] E[M/D K]", s.Copy("C", "A", s.RMSNorm("V").PerHead("64")),
		s.Matmul("E", "A", "W")), served},
	{"a function of a gradient", "of columns that each rank has", of("A[M N/D] B[M/D K] C[N/D K] R[N/D K]",
		s.Gradient("Half", "A", "B"), s.Copy("C", "Half", s.SwiGLU("R"))), served},
	{"a call", "of a gradient that adds to a tensor", func() form {
		f := of("A[M N] B[M K] C0[N K] C[N K] H[M K/D] W[N K/D] E[M/D N] G[N K]", s.Linear("E", "H", "W"),
			s.Gradient("C", "A", "B", s.Add("C0")), s.Call("G", "Own", "mn->mn", "C"))
		f.Tensors[2].Within = "C"
		return f
	}(), served},
	{"an odd number of rows a rank", "by tiles", func() form {
		f := linear("A[M K/D] B[N K/D] C[M/D N]").byTiles("C")
		f.Multiples = map[s.Extent]string{"M": "7"}
		return f
	}(), served},
	{"heads of a width", "that is a multiple", func() form {
		f := of("A[M N] Q[W] C[M N]", s.Copy("C", "A", s.RMSNorm("Q").PerHead(s.W)))
		f.Multiples = map[s.Extent]string{"W": "5*D"}
		return f
	}(), served},
	{"balanced rows", "of several ranks in a product", balanced(linear("A[M/D K] B[N K] C[M N]"), "A").by("A",
		s.Grouped{}), at("Moves[0].Way", "it multiplies several ranks' parts as one")},
	{"a weight of columns", "that the caller gets whole", of("A[M/D K] B[N K/D] C[M/D N] W[N K]",
		s.Linear("C", "A", "B"), s.Copy("W", "B")), at("Tensors[3]", "Pull gathers into memory of the plan only")},
	{"a weight", "that the caller gets whole", of("A[M/D K] B[N/D K] C[M/D N] W[N K]", s.Linear("C", "A", "B"),
		s.Copy("W", "B")), at("Tensors[3]", "Pull gathers into memory of the plan only")},
	{"rows by counts", "beside equal parts of others", of("E[P/D N2] C2[P N2] A[M/D~ K] C[M K]", s.Copy("C2", "E"),
		s.Copy("C", "A")), served},
}

// balancedRows has the rows of a tensor in balanced parts.
func balancedRows(t *s.Tensor) { t.Axes[0].Outer = []s.Split{s.Balanced(s.D)} }

// withNorm is a schedule with a norm of all columns of O, as operation i.
func withNorm(x s.Schedule, i int) form {
	x = scheduletest.Clone(x)
	x.Ops = slices.Insert(x.Ops, i, s.Copy("More", "O", s.RMSNorm("Weight")))
	x.Tensors = append(x.Tensors, scheduletest.Tensors("More[M N] Weight[N]")...)
	return form{x}
}

// inFP32 is a sum in fp32 by a way.
func inFP32(way s.Way) form { return linear("A[M K/D] B[N K/D] C[M/D N]").in32("C").by("C", way) }

// ways are those of the form's moves, one after the other.
func (f form) ways(list ...s.Way) form {
	f.Moves = []s.Move{{Of: "A", Way: list[0]}, {Of: "C", Way: list[1]}}
	return f
}

// most is the form with room for so many rows by counts.
func (f form) most(rows s.Extent) form {
	f.Schedule = scheduletest.Clone(f.Schedule)
	f.axes(s.M, func(a *s.Axis) {
		for i := range a.Outer {
			if a.Outer[i].Uneven {
				a.Outer[i].Most = rows
			}
		}
	})
	return f
}

// extent is the form with another extent in place of one.
func (f form) extent(from, to s.Extent) form {
	f.Schedule = scheduletest.Clone(f.Schedule)
	f.axes(from, func(a *s.Axis) { a.Extent = to })
	return f
}

// TestChanged holds each against its verdict, and has both checkers accept what is served.
func TestChanged(t *testing.T) {
	sampling.Test(t, 0, 3)
	explored(t, "Changed", changed)
}
