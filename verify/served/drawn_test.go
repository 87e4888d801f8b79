package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/scheduletest"
)

// exchangedNorm is a product whose rows an exchange brings to a norm, whose result is gathered.
func exchangedNorm(a string) form {
	return of(a+" U[N/D P] Y[M/D N] V[N] W[K/D N] C[M:D K/D]", s.Linear("H", "A", "U"),
		s.Copy("Y", "H", s.RMSNorm("V")), s.Linear("C", "Y", "W"))
}

// drawn are schedules that TestChanges has drawn, whose refusals were a checker's alone, or whose proof an exploration
// contradicted.
var drawn = []declared{
	{"sums of batches by stores", "behind rows that come batch by batch", of(
		"A[M*8/D K] B[F/D K] B2[N F/D] C[M:8/D N]", s.Linear("H", "A", "B", s.GELU()), s.Linear("C", "H", "B2")).
		by("C", s.Stores{}), served},
	{"sums of batches by stores", "in fp32", of("A[M K/D] B[N K/D] C[M*4/D N]", s.Linear("C", "A", "B")).in32("C").
		by("C", s.Stores{}), served},
	{"an exchange of rows", "that all columns of an operand make", exchangedNorm("A[M P/D]"), at("Tensors[0]",
		"H is made of all columns of A, which come, and its rows go to other ranks (place it [M, P])")},
	{"an exchange of rows", "that a way sends both ways", exchangedNorm("A[M P]").by("Y",
		s.PushRing{Direction: s.Both}), at("Moves[0].Way.Direction",
		"rows of Y are made of parts of columns that come, and travel in pieces (leave it out)")},
	{"an exchange", "of parts that are moved on to such parts", moved("A[M/D+1 N] C[M N/D+1]"), at(
		"Tensors[0].Axes[0].Outer[0].Shift", "(leave it out, and move A on by a schedule.Copy first)")},
	{"columns of sums", "beside balanced rows", of("A[M K/D] B[N K/D] C[M/D N] More[M N/D] Weight[N K/D]",
		s.Linear("C", "A", "B"), s.Linear("More", "A", "Weight")).changed("C", balancedRows), at("Tensors[3]",
		"columns of More are summed of all rows, and there are as many as of C, which need not be in equal parts")},
	{"a result of own rows", "where what it gathers lies", of("Q[M/D N] Key[M/D N] C[M/D N]", s.Copy("All", "Key"),
		s.Call("C", "Attention", "mq,pk->mq", "Q", "All")).within("C", "Key"), at("Tensors[2].Within",
		"other streams read Key, for peers or for products, while C is made there (leave it out)")},
	{"columns that are gathered", "beside sums of balanced rows", of("A[M K/D] B[N K/D] C[M/D N] E[M K]",
		s.Linear("C", "A", "B"), s.Copy("E", "A", s.GELU())).changed("C", balancedRows), at("Tensors[3]", "a copy "+
		"to columns of E takes all rows in one piece, and rows in parts as those of C are a piece for each rank (let "+
		"each rank have its columns)")},
	{"balanced rows for the caller", "that peers push", rowsForCaller().changed("A", balancedRows).by("A", s.Push{}),
		at("Tensors[3]", "Push gathers into memory of the plan only (leave it out, or use schedule.Pull, "+
			"schedule.Ring)")},
	{"rows that are moved on", "for a norm, that peers push", of("A[M/D N] W[N] C[M/D+1 N]", s.Copy("C", "A",
		s.RMSNorm("W"))).by("A", s.Push{}), at("Moves[0].Way", "by it every rank sends to each of the others, "+
		"and here one rank sends alone, or each rank to one")},
	{"rows of rank 0", "for a norm, that peers push", of("A@0[M N] W[N] C[M N]", s.Copy("C", "A", s.RMSNorm("W"))).
		by("A", s.Push{}), at("Moves[0].Way", "by it every rank sends to each of the others, and here one rank sends "+
		"alone")},
	{"rows of rank 0", "by NCCL", moved("A@0[M N] C[M N]").by("A", s.NCCL{}), at("Moves[0].Way",
		"by choice the interface to the library leaves ncclBroadcast out")},
	{"an exchange by counts", "by NCCL", moved("A[D/D~ D M] C[D D/D~ M]").by("A", s.NCCL{}), at("Moves[0].Way",
		"by choice the interface to the library has all-to-alls of parts of one size")},
	{"an exchange by counts", "padded", moved("A[D/D~ D M] C[D D/D~ M]").by("A", s.Padded{}), at("Moves[0].Way",
		"it sends each rank's part to all ranks")},
	{"columns of sums", "in one shot", linear("A[M K/D] B[N K/D] C[M N/D]").by("C", s.Shot{}), at("Moves[0].Way",
		"it adds up what one product makes, and a rank's columns lie apart there")},
	{"columns of sums", "by tiles", linear("A[M K/D] B[N K/D] C[M N/D]").by("C", s.Tiles{}), at("Moves[0].Way",
		"its kernel gives each rank the tiles of the rank's rows, with all columns")},
	{"sums by counts", "round a ring", linear("A[M K/D] B[N K/D] C[M/D~ N]").by("C", s.RingSum{}), served},
	{"a product of rows by counts", "that a copy gathers", of("A[M/D~ K] X[M K] B[N K] C[M N]", s.Copy("X", "A"),
		s.Linear("C", "X", "B")), at("Tensors[1]", "Bind says how many a rank has of X (multiply A)")},
	{"a weight", "that rank 0 has", linear("A[M/D K] B@0[N K] C[M/D N]"), at("Tensors[1]",
		"no pass multiplies by a weight [N, K] on rank 0 (let every rank have it)")},
	{"rows for a product", "that a copy leaves open", of("A[M/D K] B[N K] C[M/D+1 N]", s.Copy("X", "A"),
		s.Linear("C", "X", "B")), at("Ops[0]", "X is A as it is: nothing travels (declare X where it goes)")},
	{"rows for a product", "that a copy moves on", of("A[M/D K] X[M/D+1 K] B[N K] C[M/D+1 N]", s.Copy("X", "A"),
		s.Linear("C", "X", "B")), served},
	{"a call", "of each rank's own rows", of("A[M/D N] C[M N]", s.Call("C", "Mine", "mn->mn", "A")), at("Ops[0].In[0]",
		"or gather A by a schedule.Copy first; or do Mine before the plan")},
	{"a call", "of rows that a copy gathers", of("A[M/D N] C[M N]", s.Copy("All", "A"), s.Call("C", "Mine", "mn->mn",
		"All")), served},
	{"rows for a norm", "that peers push", rowsForNorm().by("A", s.Push{}), served},
	{"rows for a norm", "that peers push in parts", rowsForNorm().by("A", s.Push{Parts: 2}), served},
	{"rows for a norm", "that a root after another pushes", rowsForNorm().by("A", s.Broadcast{}), served},
	{"rows for a norm", "pushed by streams", rowsForNorm().by("A", s.Push{Streams: 2}), noStreams},
	{"rows for a norm", "by streams from roots", rowsForNorm().by("A", s.Broadcast{Streams: 2}), noStreams},
	{"rows for a norm", "round a ring by streams", rowsForNorm().by("A", s.Ring{Streams: 2}), noStreams},
	{"rows for a norm", "pushed round a ring by streams", rowsForNorm().by("A", s.PushRing{Streams: 2}), noStreams},
	{"a weight", "that a root after another pushes", linear("A[M/D K] B[N/D K] C[M/D N]").by("B", s.Broadcast{}),
		served},
	{"a gradient's operand", "that a root after another pushes", gradient("A[M N] B[M/D K] C[N K]").
		by("B", s.Broadcast{}), served},
	{"rows for a norm", "which a copy gathers", of("A[M/D N] W[N] C[M N]", s.Copy("H", "A"), s.Copy("C", "H",
		s.RMSNorm("W"))).by("A", s.Push{}), served},
	{"balanced rows for the caller", "by a ring", rowsForCaller().changed("A", balancedRows).by("A", s.Ring{}), served},
	{"an exchange", "of what sums take in parts of all rows", of("A[M K/D] B[N K/D] C[M N] T[M/D K]",
		s.Linear("C", "A", "B"), s.Copy("T", "A")).by("C", s.NCCL{Parts: 2}), at("Moves[0].Way.Parts",
		"parts of all rows of C meet, and A is taken by the rows of a rank")},
	{"a Naive of two mistakes", "with kernels that wait", linear("A[M/D K] B[N K] C[M:D N]").by("A", s.Naive{
		WithStep: true, SignalsInStep: true, By: s.KernelSignals}), at("Moves[0].Way.By",
		"a kernel that waits keeps the device from what peers wait for")},
	{"a gradient", "where a weight lies", of("Dy[M N/D] B[N/D K] Xs[M/D K] Dx[M/D K] Dw[N/D K]",
		s.Matmul("Dx", "Dy", "B"), s.Gradient("Dw", "Dy", "Xs")).within("Dw", "B"), at("Tensors[4].Within",
		"other streams read B, for peers or for products, while Dw is made there (leave it out)")},
	{"an operand in place", "of a sum whose columns travel", of("A[M K/D] W[N K/D] U[M/D N] C[M/D N] More[M N/D]",
		s.Linear("C", "A", "W", s.Scale(2), s.SwiGLU("U")), s.Copy("More", "C")).within("U", "C"), at(
		"Tensors[2].Within", "parts of the columns of C or of U travel, and the other lies row by row")},
	{"functions of parts by counts", "that nothing brings", of("A[D/D~ D M] C[D/D~ D M] E[D/D~ D M]",
		s.Copy("C", "A", s.GELU()), s.Copy("E", "C", s.Scale(2))), at("Ops[0]", "parts of A are by counts, and "+
		"nothing brings them (exchange A by a schedule.Copy, or make C without a plan)")},
	{"functions of parts by counts", "with a bias", of("A[D/D~ D M] C[D D/D~ M] E[D/D~ D M] V[M]",
		s.Copy("C", "A", s.GELU()), s.Copy("E", "C", s.Bias("V"))), at("Ops[1].Then[0].Is.Of[1].Tensor",
		"parts of E are by counts of elements, and have no columns for V")},
	{"a function of three axes", "that lies otherwise", of("A[D/D D M] C[D D/D M] E[D D M]", s.Copy("C", "A", s.GELU()),
		s.Copy("E", "C", s.GELU())), at("Tensors[2]", "no communication leads from C [D, DIDx(D), M] to E [D, D, M] "+
		"(place it [D, DIDx(D), M])")},
	{"a gradient", "of sums whose own rows go on in parts", of("X[M K/D] W[F K/D] B[M N/D] C[F N/D]",
		s.Linear("H", "X", "W"), s.Gradient("C", "H", "B")).by("H", s.Slots{Parts: 2}), at("Moves[0].Way.Parts",
		"a gradient takes all own rows of H at once (leave it out)")},
	{"columns of sums", "by scales of blocks", form{catalog.LinearReduceScatterBlocksFP8}.changed("C",
		func(t *s.Tensor) { t.Axes = []s.Axis{s.Dim(s.M), s.Dim(s.N, s.DIDx(s.D))} }), at("Tensors[5]",
		"scales of what is multiplied lie block by block (place it [DIDx(D), M/D, N])")},
	{"two sums", "one in parts that the other is not in", of("A[D/D M N] B[D/D M N] C[M N]", s.Sum("H", "A"),
		s.Sum("C", "B", s.Add("H"))).by("C", s.Slots{Parts: 3}), at("Moves[0].Way.Parts", "H are added in parts of "+
		"each rank's rows, and are not summed in these (leave it out, or use schedule.Shot, "+
		"schedule.PushShot, schedule.NCCL for H)")},
	{"two sums", "one in parts and one in none", of("A[D/D M N] B[D/D M N] C[M N]", s.Sum("H", "A"),
		s.Sum("C", "B", s.Add("H"))).by("C", s.Slots{Parts: 3}).by("H", s.Slots{}), at("Moves[0].Way.Parts", "H are "+
		"added in parts of each rank's rows, and are not summed in these (leave it out, or use schedule.Shot, "+
		"schedule.PushShot, schedule.NCCL for H)")},
	{"rows of a sum", "beside balanced ones", of("A[D/D M N] V[N] B[F/D N] W[N F/D] C[M/D N]", s.Sum("H", "A"),
		s.Copy("X", "H", s.RMSNorm("V")), s.Linear("U", "X", "B", s.GELU()), s.Linear("C", "U", "W", s.Add("H"))).
		changed("C", balancedRows), served},
	{"few rows", "by a weight of constants", form{s.Schedule{FewRows: 64, Tensors: linear(
		"A[M/D 8192] B[3584 8192] C[M:D 3584]").Tensors, Ops: []s.Op{s.Linear("C", "A", "B")}}}, at("FewRows",
		"no proof for all types has a weight of constants, such as B (leave it out, or write extents for its axes)")},
	{"sums for all hosts", "in fp32", form{catalog.AllReduceHosts}.in32("C"), served},
	{"sums for all", "stored at their owners", linear("A[M K/D] B[N K/D] C[M N]").by("C", s.Stores{}), served},
	{"a norm of all columns", "ahead of four bits of a sum", of("O[M K/D] Wo[N K/D] V[N] Q[M N] C[M N]",
		s.Linear("Q", "O", "Wo", s.LayerNorm("V", "V"), s.QuantiseFP4()), s.Copy("C", "Q", s.Dequantise("SQ"))).
		fp4("Q").by("Q", s.PushShot{}), at("Ops[0].Then[0]", "to the functions of Q a row is a block of 16 columns, "+
		"and layernorm takes more (let a schedule.Copy of its own do it)")},
	{"own rows in parts", "into sums whose columns travel", moreColumns("C").by("R", s.Slots{Parts: 2}), at(
		"Moves[0].Way.Parts", "parts of the columns of C travel, and rows that it is made of are in parts (leave it "+
			"out)")},
	{"parts of sums by NCCL", "whose columns travel", of("A[M K/D] B[N K/D] V[N] R[M/D N] C[M/D N] More[M N/D]",
		s.Linear("C", "A", "B", s.Bias("V"), s.Add("R")), s.Copy("More", "C")).by("C", s.NCCL{Parts: 2}), at(
		"Moves[0].Way.Parts", "parts of the columns of C travel, and rows that it is made of are in parts")},
	{"parts of sums by NCCL", "whose columns travel, and a bias alone", of(
		"A[M K/D] B[N K/D] V[N] C[M/D N] More[M N/D]", s.Linear("C", "A", "B", s.Bias("V")), s.Copy("More", "C")).
		by("C", s.NCCL{Parts: 2}), at("Moves[0].Way.Parts", "parts of the columns of C travel, and rows that it is "+
		"made of are in parts")},
	{"numbers of rows in steps", "of batches", numbered("M:D"), at("Tensors[1]", "U is [F, Stream(D), M/D], and the "+
		"operations take it otherwise: C = copy(A), (x*U[row]), beside C = copy(A) (place it [F, M])")},
	{"numbers of rows in parts", "of batches", numbered("M*D"), at("Tensors[1]", "U is [F, D, M/D], and the "+
		"operations take it otherwise: C = copy(A), (x*U[row]), beside C = copy(A) (place it [F, M])")},
	{"a weight that travels", "by scales of squares", linear("A[M/D K] B[N/D K] C[M/D N]").squared("A", "B"), at(
		"Tensors[1]", "parts of B travel, and no pass takes scales of squares along (let every rank have it, or give "+
			"each row a scale)")},
	{"sums in place", "of summands that are added up again", of("A[D/D M N] C[M/D N] More[M/D N]", s.Sum("C", "A"),
		s.Sum("More", "A")).within("C", "A"), at("Tensors[1].Within", "More is made of A too, behind C, which "+
		"replaces a part of it (leave it out)")},
	{"heads of a width", "of one column", of("A[M 1] Q[W] C[M 1]", s.Copy("C", "A", s.RMSNorm("Q").PerHead(s.W))), at(
		"Ops[0].Then[0]", "the proof has heads of 4 columns where they are W, and there are 1 (write how many columns "+
			"a head has as a constant)")},
	{"a gradient", "of what balanced rows make", of("X[M/D K] W[F/D K] A[M N] C[N F/D]", s.Linear("H", "X", "W"),
		s.Gradient("C", "A", "H")).changed("X", balancedRows), served},
	{"a gradient", "beside balanced rows", of("A[M N] B[M K] C[N K] X[M/D K] Y[M K]", s.Gradient("C", "A", "B"),
		s.Copy("Y", "X")).changed("X", balancedRows), served},
	{"a bias of a sum", "ahead of four bits of it, in one kernel", of("O[M K/D] Wo[N K/D] V[N] Q[M N] C[M N]",
		s.Linear("Q", "O", "Wo", s.Bias("V"), s.QuantiseFP4()), s.Copy("C", "Q", s.Dequantise("SQ"))).fp4("Q").
		by("Q", s.PushShot{Rows: true}), at("Moves[0].Way.Rows", "no function of whole rows of the plan's type stands "+
		"behind the sums of Q (leave it out)")},
	{"columns of a product", "of balanced rows, which are moved on", movedColumns().changed("A", balancedRows), at(
		"Tensors[2]", "a copy to columns of O takes all rows in one piece, and rows in parts")},
	{"a gradient of peers' rows", "and of gathered columns", of("X[M N/D] B[M/D K] C[N K] H[M N]",
		s.Copy("H", "X", s.GELU()), s.Gradient("C", "H", "B")), at("Ops[1].In[0]", "no pass goes on with all columns "+
		"of H (end the schedule with H, and make C behind its plan)")},
	{"own rows that travel in two parts", "of sums in three", of("O[M K/D] Wo[N K/D] Norm[N] X[M/D N] W[F/D N] "+
		"C[M:D F/D]", s.Linear("R", "O", "Wo"), s.Copy("X", "R", s.RMSNorm("Norm")), s.Linear("C", "X", "W")).
		by("X", s.Pull{Parts: 2}).by("R", s.NCCL{Parts: 3}), at("Moves[0].Way.Parts", "X is made in 2 parts, and of "+
		"rows in 3 (write the same for both, or leave it out)")},
	{"an exchange by counts", "of at most a constant number", moved("A[D/D~ D 1] C[D D/D~ 1]"), at(
		"Tensors[0].Axes[2].Extent", "New is told how long a part of A may be, and that is constant here (use "+
			"schedule.M)")},
	{"columns that a copy gathers", "of rows by counts", gatheredColumns("/D~"), at("Tensors[2]", "a copy to "+
		"columns of C takes all rows in one piece, and rows in parts as those of A are a piece for each rank (let "+
		"each rank have its columns)")},
	{"columns that a copy gathers", "of balanced rows", gatheredColumns("/D").changed("A", balancedRows), at(
		"Tensors[2]", "a copy to columns of C takes all rows in one piece, and rows in parts")},
	{"columns that a copy gathers", "of rows by counts that come first", gatheredColumns("/D~").by("A",
		s.Pull{Once: true}), at("Tensors[2]", "a copy to columns of C takes all rows in one piece, and rows in parts")},
	{"columns that a copy gathers", "of as many rows as sums by counts", of(
		"O[M N/D] B[K N/D] A[M/D~ K] C[M/D~ K] More[M N]", s.Linear("C", "O", "B", s.Add("A")), s.Copy("More", "O")),
		at("Tensors[0]", "a copy to columns of O takes all rows in one piece, and rows in parts as those of C are")},
	{"columns of an operand", "that come whole, of as many rows as others by counts", of(
		"A[M/D~ K] B[N/D K] C[M N/D] X[M P/D] W[F P] E[M F]", s.Linear("C", "A", "B"), s.Linear("E", "X", "W")), at(
		"Tensors[3]", "a copy to columns of X takes all rows in one piece, and rows in parts")},
	{"an operand of other ranks' parts", "that functions make, where nothing travels", of(
		"A[D D/D M] R[D/D D M] C[D D/D M] H[D D/D M]", s.Copy("X", "R", s.GELU()),
		s.Copy("C", "A", s.Scale(.5), s.Add("X")).Keeping("H", 1)), at("Tensors[1]",
		"R is [DIDx(D), D, M], and C of it is [D, DIDx(D), M] (place it as C)")},
	{"rows in parts", "of which each rank has one, over hosts", linear("A[D/D K] B[N/D K] C[D:D N/D]").onHosts().
		by("A", s.Rails{Parts: 2}), at("Moves[0].Way.Parts", oneRow)},
	{"sums in parts", "of one row a rank", linear("A[D K/D] B[N K/D] C[D/D N]").by("C", s.NCCL{Parts: 2}),
		at("Moves[0].Way.Parts", oneRow)},
	{"sums in parts for all", "of one row a rank", linear("A[D K/D] B[N K/D] C[D N]").by("C", s.NCCL{Parts: 2}),
		at("Moves[0].Way.Parts", oneRow)},
	{"a ring both ways", "of one row a rank", linear("A[D/D K] B[N/D K] C[D:D N/D]").by("A", s.Ring{Direction: s.Both}),
		at("Moves[0].Way.Direction", oneRow)},

	{"a gradient of own rows", "whose columns travel", of("A[M/D N] W[M/D K] C[N K] More[M N/D]",
		s.Gradient("C", "A", "W", s.Scale(.5)), s.Copy("More", "A")), served},
	{"a gradient", "of rows that a sum takes in parts", of("A[M N/D] W[M K] C[N/D K] More[M N] Weight[N N/D]",
		s.Gradient("C", "A", "W"), s.Linear("More", "A", "Weight")), served},
	{"a gradient", "of rows that come in parts", of("Dy[M/D N] B[N K] Xs[M K] Dx[M:D K] Dw[N K]",
		s.Matmul("Dx", "Dy", "B"), s.Gradient("Dw", "Dy", "Xs")).by("Dy", s.Push{Parts: 2}), served},
	{"a gradient", "whose columns are rows of a function", of("A[M N/D] W[M K] C[N/D K]", s.Gradient("Half", "A", "W"),
		s.Copy("C", "Half", s.Scale(.5))), served},
	{"a gradient in an order of its own", "and a call, beside a sum", of(
		"Dy[M N/D] B[N/D K] Xs[M/D K] Dx[M/D K] Dw[N/D K] More[N/D K]", s.Matmul("Dx", "Dy", "B"),
		s.Gradient("Dw", "Dy", "Xs"), s.Call("More", "Own", "mn->mn", "Dw")), served},
	{"a gradient", "of sums by NCCL", of("X[M K/D] W[F K/D] B[M N/D] C[F N/D]", s.Linear("H", "X", "W"),
		s.Gradient("C", "H", "B")).by("H", s.NCCL{Parts: 1}), served},
	{"a gradient", "and an operand of fp32, of an odd number of elements", of("A[M/D N] W[M/D K] C[N/D K] R[N/D K]",
		s.Gradient("C", "A", "W", s.SwiGLU("R"))).in32("R"), served},
	{"columns for a function", "of an operand whose rows travel", of("A[M N/D] C[M N] R[M N] More[M/D N]",
		s.Copy("C", "A", s.SwiGLU("R")), s.Copy("More", "A")), served},
	{"a sum", "whose rows are whole for another one's codes", of("A[D/D M N] B[D/D M N] C[M N]", s.Sum("H", "A"),
		s.Sum("C", "B", s.Add("H"))).eight(true, "A"), served},
	{"sums by blocks", "of other rows, one behind another", of("A[D/D M N] B[D/D M N] V[N] R[M N] R2[M N] C[M N]",
		s.Sum("R", "A"), s.Sum("C", "B", s.Add("R"), s.RMSNorm("V")).Keeping("R2", 1)).by("R", s.Shot{}).
		by("R2", s.PushTwoShot{Rows: true}), served},
	{"two products whose columns are summed", "round a ring", of("A[M K/D] W[N K/D] A2[M P/D] W2[N P/D] C[M N/D]",
		s.Linear("X", "A", "W"), s.Linear("C", "A2", "W2", s.Add("X"), s.Scale(2))).by("C", s.RingAccumulate{}),
		served},
	{"a ring by kernels", "behind an exchange", of("Q[M/D N] C[M N/D] All[M N] W[F N/D] H[M/D F]", s.Copy("C", "Q"),
		s.Copy("All", "Q"), s.Linear("H", "C", "W")).by("H", s.RingAccumulate{By: s.Kernels}), served},
	{"a sum by NCCL", "whose columns travel", of("A[M K/D] B[N K/D] V[N] R[M/D N] C[M/D N] More[M N/D]",
		s.Linear("C", "A", "B", s.Bias("V"), s.Add("R")), s.Copy("More", "C")).by("C", s.NCCL{}), served},
	{"an operand in place", "of sums of batches", of("A[M K/D] B[N K/D] V[N] R[M*4/D N] C[M*4/D N]",
		s.Linear("C", "A", "B", s.Bias("V"), s.Add("R"))).within("R", "C"), served},
	{"rows in parts", "beside a product of all columns that come", of(
		"A[M/D K] V[K] Q[M/D K] B[N/D K] C[M:D N/D] More[M/D N] Weight[K N/D]", s.Copy("Q", "A", s.RMSNorm("V")),
		s.Matmul("More", "A", "Weight"), s.Linear("C", "Q", "B")).by("Q", s.Pull{Parts: 2}), served},
	{"a gradient", "of rows that come in parts, beside one that a function takes so", of(
		"Dy[M/D N] B[N K] Xs[M K] Dx[M:D K] Dw[N K]", s.Matmul("Dx", "Dy", "B", s.Multiply("Xs")),
		s.Gradient("Dw", "Dy", "Xs")).by("Dy", s.Push{Parts: 2}), served},
	{"a ring by kernels", "behind an exchange, and beside a sum", of(
		"Q[M/D N] C[M N/D] All[M N] W[F N/D] H[M/D F] More[M N] Weight[N N/D]", s.Copy("C", "Q"),
		s.Linear("More", "C", "Weight"), s.Copy("All", "Q"), s.Linear("H", "C", "W")).
		by("H", s.RingAccumulate{By: s.Kernels}), served},
	{"a sum in parts", "behind one that all ranks meet for", of("A[D/D M N] B[D/D M N] C[M N]", s.Sum("H", "A"),
		s.Sum("C", "B", s.Add("H"))).by("C", s.Slots{Parts: 3}).by("H", s.Shot{}), served},
	{"a number of the shape", "behind a norm", func() form {
		f := of("A[M/D K] V[K] Q[M/D K] C[M:D K]", s.Copy("Q", "A", s.RMSNorm("V"), s.Func{Is: s.Over(s.X,
			s.Param("Alpha"))}), s.Copy("C", "Q", s.Dequantise("SQ"))).eight(true, "Q")
		return f
	}(), served},
	{"a bias of a sum", "ahead of four bits of it", of("O[M K/D] Wo[N K/D] V[N] Q[M N] C[M N]",
		s.Linear("Q", "O", "Wo", s.Bias("V"), s.QuantiseFP4()), s.Copy("C", "Q", s.Dequantise("SQ"))).fp4("Q").
		by("Q", s.PushShot{}), served},
	{"summands of eight bits", "that a call makes with scales of rows", of("A[M K/D] B[N K/D] E[D/D M N] P[M/D N]",
		s.Call("E", "MyGEMM", "mk,nk->dmn", "A", "B"), s.Sum("P", "E")).eight(true, "E"), served},
	{"sums of codes for all", "of rows that come in parts of all ranks'", quantisedMLP("C[M K]").by("A",
		s.NCCL{Parts: 2}), served},
	{"own rows in parts", "for a call, beside columns that travel", of("A[M K/D] P[N K/D] V[N] Up[F/D N] Down[N F/D] "+
		"C[M/D N] E[M/D N] Y[M/D N] More[M N/D]", s.Linear("R", "A", "P"), s.Copy("X", "R", s.RMSNorm("V")),
		s.Linear("U", "X", "Up"), s.Linear("C", "U", "Down"), s.CallRows("E", "Own", "mn->mn", "C"),
		s.CallRows("Y", "Other", "mn,mn->mn", "R", "E"), s.Copy("More", "E")).by("R", s.Slots{Parts: 2}), served},
	{"a sum in parts", "ahead of one in two shots", of("A[D/D M N] B[D/D M N] C[M N]", s.Sum("H", "A"),
		s.Sum("C", "B", s.Add("H"))).by("H", s.Slots{Parts: 2}), served},
	{"a sum of codes in parts", "ahead of one in two shots", of("A[D/D M N] B[D/D M N] C[M N]", s.Sum("H", "A"),
		s.Sum("C", "B", s.Add("H"))).eight(true, "A").by("H", s.Slots{Parts: 2}), served},
	{"a sum in parts", "ahead of one by packets in two shots", of("A[D/D M N] B[D/D M N] C[M N]", s.Sum("H", "A"),
		s.Sum("C", "B", s.Add("H"))).by("H", s.Slots{Parts: 2}).by("C", s.PushTwoShot{}), served},
	{"a norm of columns that are gathered", "and made of such columns", of(
		"A[M/D P] U[N/D P] L[M N] W[K/D N] C[M K] V[K] More[M K]", s.Linear("L", "A", "U"), s.Linear("C", "L", "W"),
		s.Copy("More", "C", s.RMSNorm("V"))), served},
	{"a ring by kernels", "ahead of rows that come from the beginning", of(
		"Dy[M N/D] B[N/D K] Xs[M/D K] Dx[M/D K] Dw[N/D K]", s.Matmul("Dx", "Dy", "B"), s.Gradient("Dw", "Dy", "Xs")).
		by("Dx", s.RingAccumulate{By: s.Kernels}).within("Dw", "B"), served},
	{"columns that a call makes", "which are moved on", form{scheduletest.Clone(P22HeadArgmax)}.changed("C",
		func(t *s.Tensor) { t.Axes[1].Outer = []s.Split{{Kind: s.DeviceX, Count: s.D, Shift: 1}} }), served},
	{"columns of a product", "which are moved on", movedColumns(), served},
	{"sums of codes for all", "of rows that come one rank's after another's", quantisedMLP("C[M K]").by("C", s.Shot{}),
		served},
	{"rows that come on the streams of products", "beside slots by kernels", mlp(
		"A[M/D K] B[F/D K] B2[N F/D] C[M/D N]").by("A", s.Ring{WithStep: true}).by("C", s.Slots{By: s.Kernels}),
		served},
	{"tiles that are summed", "whose columns travel", func() form {
		f := linear("A[M K/D] B[N K/D] C[M/D N] More[M N/D]")
		f.Ops = append(f.Ops, s.Copy("More", "C"))
		return f.byTiles("C")
	}(), served},
	{"columns of a product", "which are moved on by kernels", movedColumns().by("O", s.Pull{By: s.Kernels}), served},
	{"columns of a product", "which are moved on behind rows by kernels", movedColumns().by("A", s.Grouped{
		By: s.KernelSignals}), served},
	{"columns of a product", "which are moved on by kernels behind a ring", movedColumns().by("O", s.Pull{
		By: s.Kernels}).by("A", s.Ring{}), served},
	{"a gradient", "for all ranks, of own rows that travel in parts", of("Dy[M/D N] B[N K] Xs[M/D K] Dx[M:D K] Dw[N K]",
		s.Matmul("Dx", "Dy", "B"), s.Gradient("Dw", "Dy", "Xs")).by("Dy", s.Push{Parts: 2}), served},
	{"a gradient of peers' rows", "of what products take in parts", of(
		"Dy[M N/D] B[N/D K] Xs[M/D K] Dx[M/D K] Dw[N/D K]", s.Matmul("Dx", "Dy", "B"), s.Gradient("Dw", "Dy", "Xs")).
		by("Dx", s.NCCL{Parts: 2}), served},
	{"rows in three parts", "beside rows in two", of("A[M/D K] V[K] X[M/D K] B[N/D K] H[M:D N/D] O[M P/D] P2[N2 P/D] "+
		"R[M/D N2] Up[F/D N2] Down[N2 F/D] C[M/D N2]", s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B"),
		s.Linear("R", "O", "P2"), s.Linear("U", "R", "Up"), s.Linear("C", "U", "Down")).by("X", s.NCCL{Parts: 3}).
		by("R", s.Slots{Parts: 2}), served},
	{"columns of a weight", "that come whole, beside rows in parts", linear("A[M/D K] B[N K/D] C[M:D N]").by("A",
		s.Ring{Direction: s.Both}), served},
	{"a gradient of rows", "whose columns are gathered for a norm", gradientOf("W[N]", s.RMSNorm("W")),
		at("Ops[1].In[0]", "no pass goes on with all columns of H")},
	{"a gradient of rows", "whose columns are gathered for a gate", gradientOf("More[M N]", s.SwiGLU("More")),
		at("Ops[1].In[0]", "no pass goes on with all columns of H")},
	{"columns of other rows", "beside rows by counts", of("E[P N2/D] C2[P N2] A[M/D~ K] C[M K]", s.Copy("C2", "E"),
		s.Copy("C", "A")), served},
}

const oneRow = "there are D rows, one for each rank (leave it out)"

// movedColumns is a product whose columns go to the next ranks.
func movedColumns() form {
	return of("A[M/D K] W[N/D K] R[M N/D+1]", s.Linear("O", "A", "W"), s.Copy("R", "O"))
}

// gradientOf is a gradient of peers' rows and of a function of gathered columns.
func gradientOf(operand string, f s.Func) form {
	return of("X[M N/D] B[M/D K] C[N K] H[M N] "+operand, s.Copy("H", "X", f), s.Gradient("C", "H", "B"))
}

// numbered is batches of rows that are multiplied by numbers of each row.
func numbered(rows string) form {
	return of("A[F M N] U[F "+rows+"] C[F M N]", s.Copy("C", "A", s.Func{Is: s.Times(s.X, s.Column("U"))}))
}

// gatheredColumns is a product of rows that are spread so, whose columns a copy gathers.
func gatheredColumns(rows string) form {
	return of("A[M"+rows+" K] B[N/D K] C[M N/D] More[M N]", s.Linear("C", "A", "B"), s.Copy("More", "C"))
}

// moreColumns is a block through a norm whose result is exchanged for columns of all rows.
func moreColumns(of string) form {
	f := form{scheduletest.Clone(catalog.BlockBehindAttention)}
	f.Ops = append(f.Ops, s.Copy("More", of))
	f.Tensors = append(f.Tensors, scheduletest.Tensors("More[M N/D]")...)
	return f
}

// rowsForCaller is a product whose gathered rows the caller gets.
func rowsForCaller() form {
	return of("A[M/D K] B[N/D K] C[M N/D] All[M K]", s.Linear("C", "A", "B"), s.Copy("All", "A"))
}

// noStreams refuses streams of products that take rows as they come, where none does.
var noStreams = at("Moves[0].Way.Streams", "no product takes a part of A alone")

// rowsForNorm is a norm of gathered rows.
func rowsForNorm() form { return of("A[M/D N] W[N] C[M N]", s.Copy("C", "A", s.RMSNorm("W"))) }

// TestDrawn holds each against its verdict, and has both checkers accept what is served.
func TestDrawn(t *testing.T) { explored(t, "Drawn", drawn) }
