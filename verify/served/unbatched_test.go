package served

import s "ovgen/schedule"

// unbatched have batches in chains, or where no rows travel; as the hints place the tensors of these they are served.
var unbatched = []declared{
	{"BA1", "batches of own rows", linear("A[M*4/D K] B[F K] C[M*4/D F]"), at("Tensors[0]", "batches are of rows that "+
		"travel, and those of A do not (place A [DIDx(D), M/D, K], C [DIDx(D), M/D, F])")},
	{"BA2", "the same, by a weight that travels", linear("A[M*4/D K] B[F/D K] C[M*4/D F]"), at("Tensors[0]",
		"those of A do not (place A [DIDx(D), M/D, K], C [DIDx(D), M/D, F])")},
	{"BA3", "the same, of batches that are an axis", of("A[4 M/D K] B[F/D K] C[4 M/D F]",
		s.BatchedLinear("C", "A", "B")), at("Tensors[0]", "those of A do not (use schedule.Linear of the rows of all "+
		"batches, and let each rank have one part of them)")},
	{"BA4", "batches, ahead of a norm", of("A[M*4/D K] V[K] B[F/D K] B2[N F/D] C[M:4/D N]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2")), served},
	{"BA5", "the same, of a norm that the caller gets", of("A[M*4/D K] V[K] X[M*4/D K] B[F/D K] B2[N F/D] C[M:4/D N]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2")), served},
	{"BA6", "results in steps of batches, of a norm", of("A[M*4/D K] V[K] B[F/D K] C[M*4:D F/D]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("C", "X", "B")), served},
	{"BA7", "batches, and attention between", of("A[M*4/D K] B[F/D K] B2[N F/D] C[M:4/D N]", s.Linear("H", "A", "B"),
		s.Call("O", "Own", "mn->mn", "H"), s.Linear("C", "O", "B2")), served},
	{"BA8", "batches of two layers", of("A[M*4/D K] B[F/D K] B2[K F/D] B3[F/D K] B4[K F/D] X[M*4/D K] C[M*4/D K]",
		s.Linear("H", "A", "B"), s.Linear("X", "H", "B2"), s.Linear("H2", "X", "B3"), s.Linear("C", "H2", "B4")),
		served},
	{"BA9", "sums of batches that are gathered again", of("A[M*4/D K] B[F/D K] B2[K F/D] X[M*4/D K] C[M K]",
		s.Linear("H", "A", "B"), s.Linear("X", "H", "B2"), s.Copy("C", "X")), served},
	{"BA10", "batches behind attention", of("O[M N/D] Wo[K N/D] A[M*4/D K] B[F/D K] B2[K F/D] C[M*4/D K]",
		s.Linear("R", "O", "Wo", s.Add("A")), s.Linear("H", "R", "B"), s.Linear("C", "H", "B2")), served},
	{"BA11", "the same, with the sum between", of(
		"O[M N/D] Wo[K N/D] A[M*4/D K] R[M*4/D K] B[F/D K] B2[K F/D] C[M*4/D K]",
		s.Linear("R", "O", "Wo", s.Add("A")), s.Linear("H", "R", "B"), s.Linear("C", "H", "B2")), served},
	{"BA17", "batches of a sum that nothing declares, ahead of a norm", of(
		"A[M*4/D K] Up[F/D K] Down[K F/D] V[K] C[M*4/D K]", layerAndNorm...), served},
	{"BA18", "the same, of batches that are an axis", of("A[4 M/D K] Up[F/D K] Down[K F/D] V[K] C[4 M/D K]",
		s.BatchedLinear("H", "A", "Up"), s.BatchedLinear("X", "H", "Down"), s.Copy("C", "X", s.RMSNorm("V"))), served},
	{"BA19", "batches that are an axis, of two layers", of("A[4 M/D K] Up[F/D K] Down[K F/D] V[K] C[4 M:D F/D]",
		s.BatchedLinear("H", "A", "Up"), s.BatchedLinear("X", "H", "Down", s.RMSNorm("V")),
		s.BatchedLinear("C", "X", "Up")), served},
	{"BA20", "steps of one batch, beside other rows that come", of(
		"A[M*4/D K] B[F/D K] C[M:4*D F/D] E[P/D K] B3[F/D K] G[P:D F/D]", s.Linear("C", "A", "B"),
		s.Linear("G", "E", "B3")), at("Tensors[2]", "a step makes a batch of all ranks' rows of C, and one gather "+
		"alone brings these (place it [4, Stream(D), M/(4*D), DIDx(D), F/D])")},
	{"BA12", "batches that a call takes", of("A[M*4/D K] B[F/D K] C[M*4/D F] E[M*4/D F]", s.Linear("C", "A", "B"),
		s.CallRows("E", "Own", "mn->mn", "C")), at("Tensors[0]", "those of A do not "+
		"(place A [DIDx(D), M/D, K], C [DIDx(D), M/D, F], E [DIDx(D), M/D, F])")},
	{"BA13", "balanced rows that a call takes", balanced(balanced(of("A[M/D K] W[N K] E[M/D K] C[M N]",
		s.CallRows("E", "Own", "mn->mn", "A"), s.Linear("C", "E", "W")), "A"), "E"), served},
	{"BA15", "an operand in steps of batches", of("A[M:4/D K] B[F/D K] B2[N F/D] C[M:4/D N]", s.Linear("H", "A", "B"),
		s.Linear("C", "H", "B2")), at("Tensors[0]", "and only results are made in steps (write it [4, DIDx(D), "+
		"M/(4*D), K])")},
	{"BA16", "batches of a result alone", linear("A[M/D K] B[F K] C[M*4/D F]"), at("Tensors[2]", "C is [4, DIDx(D), "+
		"M/(4*D), F], and the operations leave it otherwise: C = linear(A, B) (place it [DIDx(D), M/D, F])")},
	{"BA14", "rows by counts beside a gradient of others", of(
		"Dy[M N/D] Wt[K N/D] X[P/D K] G[P/D N] Dw[N/D K] Dx[M/D~ K]", s.Linear("Dx", "Dy", "Wt"),
		s.Gradient("Dw", "G", "X")), served},
}
