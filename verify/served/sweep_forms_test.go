package served

import s "ovgen/schedule"

// swept is a schedule of which the ways of some tensors are drawn.
type swept struct {
	name string
	form
	travelling
}

// travelling are tensors whose ways are drawn: rows that come, operands and copies that come whole, sums of a part for
// each rank, and sums for all.
type travelling struct{ rows, operands, sums, toAll []string }

// evenForms are layers and pairs of products, as people write them.
var evenForms = []swept{
	{"block", of("O[M N/D] A[M/D K] Wo[K N/D] V[K] Gate[F/D K] Up[F/D K] Down[K F/D] C[M/D K]",
		s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("X", "R", s.RMSNorm("V")), s.Linear("U", "X", "Up"),
		s.Linear("G", "X", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("R"))),
		travelling{rows: []string{"X"}, sums: []string{"R", "C"}}},
	{"gated MLP", of("A[M/D K] Gate[F/D K] Up[F/D K] Down[K F/D] C[M/D K]", s.Linear("U", "A", "Up"),
		s.Linear("G", "A", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("A"))),
		travelling{rows: []string{"A"}, sums: []string{"C"}}},
	{"block by all-reduces", of("O[M N/D] Wo[K N/D] A[M K] R[M K] V[K] Gate[F/D K] Up[F/D K] Down[K F/D] C[M K]",
		s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("X", "R", s.RMSNorm("V")), s.Linear("U", "X", "Up"),
		s.Linear("G", "X", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("R"))),
		travelling{toAll: []string{"R", "C"}}},
	{"cross attention", of("A[M/D K] E[P/D K] Wq[N/D K] Wk[N/D K] Wv[N/D K] Wo[K N/D] C[M/D K]",
		s.Linear("Query", "A", "Wq"), s.Linear("Key", "E", "Wk"), s.Linear("Value", "E", "Wv"),
		s.Call("O", "Attention", "mq,pq,pq->mq", "Query", "Key", "Value"), s.Linear("C", "O", "Wo", s.Add("A"))),
		travelling{rows: []string{"A", "E"}, sums: []string{"C"}}},
	{"parallel block", of("A[M/D K] V[K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] Gate[F/D K] Up[F/D K] Down[K F/D] "+
		"C[M/D K]", s.Copy("X", "A", s.RMSNorm("V")), s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"),
		s.Linear("Value", "X", "Wv"), s.Call("O", "Attention", "mq,mk,mk->mq", "Query", "Key", "Value"),
		s.Linear("Pa", "O", "Wo"), s.Linear("U", "X", "Up"), s.Linear("G", "X", "Gate", s.SwiGLU("U")),
		s.Linear("C", "G", "Down", s.Add("Pa"), s.Add("A"))),
		travelling{rows: []string{"X"}, sums: []string{"C"}}},
	{"two linears", of("A[M/D K] E[P/D K] B[N/D K] C[M:D N/D] C2[P:D N/D]", s.Linear("C", "A", "B"),
		s.Linear("C2", "E", "B")), travelling{rows: []string{"A", "E"}}},
	{"two sums", of("A[M K/D] E[P K/D] B[N K/D] C[M/D N] C2[P/D N]", s.Linear("C", "A", "B"),
		s.Linear("C2", "E", "B")), travelling{sums: []string{"C", "C2"}}},
	{"a sum beside a gather", of("A[M K/D] B[N K/D] C[M/D N] E[P/D K] B2[N/D K] C2[P:D N/D]",
		s.Linear("C", "A", "B"), s.Linear("C2", "E", "B2")), travelling{rows: []string{"E"}, sums: []string{"C"}}},
	{"gradients", of("Dy[M N/D] X[M/D K] Wt[K N/D] Dx[M/D K] Dw[N/D K]", s.Linear("Dx", "Dy", "Wt"),
		s.Gradient("Dw", "Dy", "X")), travelling{operands: []string{"X"}, sums: []string{"Dx"}}},
	{"gradients beside an all-reduce", of("Dy[M N/D] X[M/D K] Wt[K N/D] Dx[M K] Dw[N/D K]",
		s.Linear("Dx", "Dy", "Wt"), s.Gradient("Dw", "Dy", "X")),
		travelling{operands: []string{"X"}, toAll: []string{"Dx"}}},
	{"two all-reduces", of("A[M K/D] E[P K/D] B[N K/D] C[M N] C2[P N]", s.Linear("C", "A", "B"),
		s.Linear("C2", "E", "B")), travelling{toAll: []string{"C", "C2"}}},
	{"an all-reduce that another one adds", of("A[M K/D] E[M K/D] B[N K/D] C[M N] C2[M N]", s.Linear("C", "A", "B"),
		s.Linear("C2", "E", "B", s.Add("C"))), travelling{toAll: []string{"C", "C2"}}},
	{"a sum that another one adds", of("A[M K/D] E[M K/D] B[N K/D] C[M/D N] C2[M/D N]", s.Linear("C", "A", "B"),
		s.Linear("C2", "E", "B", s.Add("C"))), travelling{sums: []string{"C", "C2"}}},
	{"two sums, one of which is gathered", of("O[M K/D] Wo[N K/D] R[M/D N] X[M/D N] Wq[F/D N] Q[M:D F/D] More[M N] "+
		"Weight[N K/D]", s.Linear("X", "O", "Wo", s.Add("R")), s.Linear("More", "O", "Weight"),
		s.Linear("Q", "X", "Wq")), travelling{sums: []string{"X"}, toAll: []string{"More"}}},
	{"gathers around a layer", of("A[M/D K] E[P/D K] Wq[N/D K] Wk[N/D K] Wo[K N/D] C[M K]",
		s.Linear("Query", "A", "Wq"), s.Linear("Key", "E", "Wk"),
		s.Call("O", "Attention", "mq,pq->mq", "Query", "Key"), s.Linear("C", "O", "Wo")),
		travelling{rows: []string{"A", "E"}, toAll: []string{"C"}}},
	{"weights that come", of("A[M/D K] Gate[F/D K] Up[F/D K] Down[K/D F] C[M/D K]", s.Linear("U", "A", "Up"),
		s.Linear("G", "A", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("A"))),
		travelling{operands: []string{"Up", "Gate", "Down"}}},
	{"weights and gradients that travel", shardedBackward,
		travelling{operands: []string{"Wt"}, sums: []string{"Dw"}}},
	{"gradients for all", of("Dy[M/D N] X[M/D K] Y[M/D F] V[K] Dw[N K] Dw2[F K]", s.Copy("H", "X", s.RMSNorm("V")),
		s.Gradient("Dw", "Dy", "H"), s.Gradient("Dw2", "Y", "X")), travelling{toAll: []string{"Dw", "Dw2"}}},
	{"Llama layer", of("A[M/D K] V[K] V2[K] Wq[N/D K] Wk[N2/D K] Wv[N2/D K] Wo[K N/D] Gate[F/D K] Up[F/D K] "+
		"Down[K F/D] C[M/D K]", s.Copy("X", "A", s.RMSNorm("V")), s.Linear("Query", "X", "Wq"),
		s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"),
		s.Call("O", "Attention", "mq,mk,mk->mq", "Query", "Key", "Value"), s.Linear("R", "O", "Wo", s.Add("A")),
		s.Copy("Y", "R", s.RMSNorm("V2")), s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate", s.SwiGLU("U")),
		s.Linear("C", "G", "Down", s.Add("R"))),
		travelling{rows: []string{"X", "Y"}, sums: []string{"R", "C"}}},
	{"attention of some heads", of("A[M/D K] Wq[N K] Q[M N/D] O[M/D N] Wo[K N] C[M/D K]", s.Linear("H", "A", "Wq"),
		s.Copy("Q", "H"), s.Call("P", "Attention", "mn->mn", "Q"), s.Copy("O", "P"), s.Linear("C", "O", "Wo")),
		travelling{operands: []string{"H", "P"}}},
	{"columns that are gathered", of("A[M/D K] B[N/D K] V[K] C[M N] E[M/D K]", s.Linear("H", "A", "B"),
		s.Copy("C", "H", s.SiLU()), s.Copy("E", "A", s.RMSNorm("V"))),
		travelling{rows: []string{"A"}, operands: []string{"C"}}},
	{"columns that are gathered and normed", of("A[M/D K] B[N/D K] V[N] C[M N] B2[F/D N] E[M F/D]",
		s.Linear("H", "A", "B"), s.Copy("C", "H", s.RMSNorm("V")), s.Linear("E", "C", "B2")),
		travelling{rows: []string{"A"}, operands: []string{"H"}}},
	{"columns of sums", of("A[M K/D] B[N K/D] C[M N/D] Wo[F N/D] E[M/D F]", s.Linear("C", "A", "B"),
		s.Linear("E", "C", "Wo")), travelling{sums: []string{"C", "E"}}},
	{"copies", of("A[M/D K] C[M K] E[P/D K] V[K] C2[P K] R[D/D M N] G[M/D N]", s.Copy("C", "A"),
		s.Copy("C2", "E", s.RMSNorm("V")), s.Sum("G", "R")),
		travelling{operands: []string{"A", "E"}, sums: []string{"G"}}},
}

// unevenForms have rows by counts. Forms of them have room for a number of rows of each rank, or balanced rows.
var unevenForms = []swept{
	{"gated MLP", of("A[M/D~ K] Gate[F/D K] Up[F/D K] Down[K F/D] C[M/D~ K]", s.Linear("U", "A", "Up"),
		s.Linear("G", "A", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("A"))),
		travelling{rows: []string{"A"}, sums: []string{"C"}}},
	{"normed rows", of("A[M/D~ K] V[K] B[N/D K] B2[N2/D K] C[M N/D] C2[M N2/D]", s.Copy("X", "A", s.RMSNorm("V")),
		s.Linear("C", "X", "B"), s.Linear("C2", "X", "B2", s.SiLU())), travelling{rows: []string{"X"}}},
	{"two layers", of("A[M K/D] B[K K/D] W[F/D K] W2[K F/D] X[M/D~ K] R[M/D~ K] C[M/D~ K]",
		s.Linear("X", "A", "B", s.Add("R")), s.Linear("H", "X", "W"), s.Linear("C", "H", "W2", s.Add("X"))),
		travelling{rows: []string{"X"}, sums: []string{"C"}}},
	{"a sum and a norm", of("A[M K/D] B[N K/D] R[M/D~ N] V[N] C[M/D~ N]", s.Linear("C", "A", "B", s.Add("R"),
		s.RMSNorm("V"))), travelling{sums: []string{"C"}}},
	{"two sums", of("A[M K/D] E[M K/D] B[N K/D] C[M/D~ N] C2[M/D~ N]", s.Linear("C", "A", "B"),
		s.Linear("C2", "E", "B", s.Add("C"))), travelling{sums: []string{"C", "C2"}}},
	{"a call of own rows", of("A[M/D~ K] O[M/D~ K] V[K] B[F/D K] B2[K F/D] C[M/D~ K]",
		s.CallRows("O", "Attention", "mk->mk", "A"), s.Copy("X", "O", s.RMSNorm("V")),
		s.Linear("H", "X", "B", s.SiLU()), s.Linear("C", "H", "B2", s.Add("O"))),
		travelling{rows: []string{"X"}, sums: []string{"C"}}},
	{"copies", of("A[M/D~ K] V[K] C[M K] R[D/D M N] G[M/D~ N]", s.Copy("C", "A", s.RMSNorm("V")), s.Sum("G", "R")),
		travelling{operands: []string{"A"}, sums: []string{"G"}}},
	{"a block", unevenBlock, travelling{rows: []string{"Y", "X"}, sums: []string{"R", "C"}}},
	{"a parallel block", parallelBlock, travelling{rows: []string{"X"}, sums: []string{"C"}}},
	{"layers", unevenLayers["two layers"], travelling{rows: []string{"A", "X"}, sums: []string{"X", "C"}}},
	{"attention to even rows", unevenLayers["attention to even rows"],
		travelling{rows: []string{"A", "E"}, sums: []string{"C"}}},
	{"a call for summands", unevenLayers["a call for summands behind rows"],
		travelling{rows: []string{"A"}, sums: []string{"C"}}},
	{"a gradient of all rows", unevenLayers["a gradient of all rows"], travelling{rows: []string{"A"}}},
	{"sums of codes", unevenLayers["sums of codes"], travelling{sums: []string{"C"}}},
}

// batchForms have rows in batches, which come or leave one batch after another.
var batchForms = []swept{
	{"an MLP", of("A[M*8/D K] B[F/D K] B2[N F/D] C[M:8/D N]", s.Linear("H", "A", "B", s.GELU()),
		s.Linear("C", "H", "B2")), travelling{rows: []string{"A"}, sums: []string{"C"}}},
	{"a gated MLP", of("A[M*4/D K] Gate[F/D K] Up[F/D K] Down[K F/D] C[M*4/D K]", s.Linear("U", "A", "Up"),
		s.Linear("G", "A", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("A"))),
		travelling{rows: []string{"A"}, sums: []string{"C"}}},
	{"two weights", of("A[M*4/D K] B[N/D K] B2[N2/D K] C[M*4:D N/D] C2[M*4:D N2/D]", s.Linear("C", "A", "B"),
		s.Linear("C2", "A", "B2")), travelling{rows: []string{"A"}}},
	{"batches in steps", of("A[M*4/D K] B[N K] C[M:4*D N]", s.Linear("C", "A", "B", s.SiLU())),
		travelling{operands: []string{"A"}}},
	{"a sum and a residual", of("A[M K/D] B[N K/D] V[N] R[M*4/D N] C[M*4/D N]", s.Linear("C", "A", "B", s.Bias("V"),
		s.Add("R"))), travelling{sums: []string{"C"}}},
	{"a sum and a norm", of("A[M K/D] B[N K/D] V[N] X[M*4/D N] C[M*4/D N]", s.Linear("X", "A", "B"),
		s.Copy("C", "X", s.RMSNorm("V"))), travelling{sums: []string{"X"}}},
	{"a norm and a gated MLP", batchNormed(), travelling{rows: []string{"X"}, sums: []string{"C"}}},
	{"a decoder's layer", batchDecoder(), travelling{rows: []string{"Y", "X"}, sums: []string{"R", "C"}}},
	{"a block behind attention", batchBehind(), travelling{rows: []string{"X"}, sums: []string{"R", "C"}}},
	{"sums for all", batchForAll(nil), travelling{rows: []string{"X"}, toAll: []string{"C"}}},
	{"weights that travel", batchWeights(nil),
		travelling{rows: []string{"X"}, operands: []string{"W0"}, sums: []string{"C"}}},
	{"a second input", batchesCross("P/D"), travelling{rows: []string{"A"}, sums: []string{"C"}}},
	{"columns of a norm's product", of("A[M*4/D K] V[K] B[F/D K] C[M F]", s.Copy("X", "A", s.RMSNorm("V")),
		s.Linear("C", "X", "B")), travelling{rows: []string{"X"}}},
}
