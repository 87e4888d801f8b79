package served

import s "ovgen/schedule"

// What stands behind sums and gathers here.
var residual, normed = s.Add("R"), s.RMSNorm("V")

// bare are sums and gathers of what the caller gives, with functions behind them.
var bare = []declared{
	behindSum("F01", "for all ranks", "C[M N] R[M N]", nil),
	behindSum("F02", "of own rows", "C[M/D N] R[M/D N]", nil),
	behindSum("F03", "for all ranks, in one shot", "C[M N] R[M N]", s.Shot{}),
	behindSum("F04", "of own rows, in one shot", "C[M/D N] R[M/D N]", s.Shot{}),
	behindSum("F05", "for all ranks, by packets", "C[M N] R[M N]", s.PushShot{}),
	behindSum("F06", "of own rows, by words", "C[M/D N] R[M/D N]", s.PushShot{Words: true}),
	behindSum("F07", "for all ranks, by slots in parts", "C[M N] R[M N]", s.Slots{Parts: 2}),
	behindSum("F08", "of own rows, by kernels", "C[M/D N] R[M/D N]", s.Slots{By: s.Kernels}),
	behindSum("F09", "for all ranks, by NCCL", "C[M N] R[M N]", s.NCCL{}),
	behindSum("F10", "of own rows, by NCCL", "C[M/D N] R[M/D N]", s.NCCL{}),
	{"F11", "a residual alone", of("A[D/D M N] R[M N] C[M N]", s.Sum("C", "A", residual)).by("C", s.PushShot{}),
		served},
	{"F12", "a bias alone", of("A[D/D M N] V[N] C[M/D N]", s.Sum("C", "A", s.Bias("V"))), served},
	{"F13", "the sum and its norm", of("A[D/D M N] R[M N] V[N] H[M N] C[M N]",
		s.Sum("C", "A", residual, normed).Keeping("H", 1)).by("H", s.PushShot{}), served},
	{"F14", "norms of a gather", of("A[M/D N] V[N] C[M N]", s.Copy("C", "A", normed)), served},
	{"F15", "norms of a gather by packets, and a residual", of("A[M/D N] V[N] R[M N] C[M N]",
		s.Copy("C", "A", normed, residual)).by("A", s.PushGather{}), served},
	{"F16", "norms of a gather by NCCL", of("A[M/D N] V[N] C[M N]", s.Copy("C", "A", normed)).by("A", s.NCCL{}),
		served},
	{"F17", "a gather and its norms", of("A[M/D N] V[N] H[M N] C[M N]", s.Copy("C", "A", normed).Keeping("H", 0)),
		served},
	{"F18", "own norms that are gathered", of("A[M/D N] V[N] C[M N]", s.Copy("X", "A", normed), s.Copy("C", "X")),
		served},
	{"F19", "norms of own rows", of("A[M/D N] V[N] C[M/D N]", s.Copy("C", "A", normed)), served},
	{"F20", "a sum ahead of a layer", of("A[D/D M N] V[N] B[F/D N] W[N F/D] C[M/D N]", s.Sum("H", "A"),
		s.Copy("X", "H", normed), s.Linear("U", "X", "B", s.GELU()), s.Linear("C", "U", "W", s.Add("H"))), served},
	{"F21", "two sums", of("A[D/D M N] B[D/D M N] C[M N]", s.Sum("H", "A"), s.Sum("C", "B", s.Add("H"))), served},
	{"F22", "a sum of uneven parts", of("A[D/D M N] V[N] C[M/D~ N]", s.Sum("C", "A", normed)), served},
	{"F23", "a gather of uneven parts", of("A[M/D~ N] V[N] C[M N]", s.Copy("C", "A", normed)), served},
	{"F23b", "of uneven parts", of("A[M/D~ N] V[N] R[M/D~ N] C[M/D~ N]", s.Copy("C", "A", normed, s.Add("R"))), served},
	{"F23c", "a residual of even parts", of("A[M/D~ N] R[M/D N] C[M/D~ N]", s.Copy("C", "A", s.Add("R"))),
		at("Tensors[1]", "R is [DIDx(D), M/D, N], and the operations take it otherwise: C = copy(A), add(R), beside "+
			"C = copy(A) (place it [DIDx(D, uneven), M/D, N])")},
	{"F23d", "a result of even parts", of("A[M/D~ N] V[N] C[M/D N]", s.Copy("C", "A", normed)),
		at("Tensors[2]", "C is [DIDx(D), M/D, N], and the operations leave it otherwise")},
	{"F23e", "products of a gather of uneven parts", of("A[M/D~ K] V[K] X[M K] W[N K] C[M N]",
		s.Copy("X", "A", normed), s.Linear("C", "X", "W")),
		at("Tensors[2]", "a product has as many rows as New is told, and Bind says how many a rank has of X")},
	{"F23f", "a gather of balanced parts", balanced(of("A[M/D N] V[N] C[M N]", s.Copy("C", "A", normed)), "A"), served},
	{"F23g", "uneven parts of even ones", of("A[M/D N] V[N] C[M/D~ N]", s.Copy("C", "A", normed)),
		at("Tensors[2]", "C is [DIDx(D, uneven), M/D, N], and the operations leave it otherwise")},
	{"F24", "a sum of what an operation makes", of("A[D/D M N] C[M N]", s.Copy("X", "A", s.ReLU()), s.Sum("C", "X")),
		at("Ops[1]", "no pass adds up X, which an operation makes")},
}

// behindSum is a residual and a norm behind a sum.
func behindSum(id, what, tensors string, way s.Way) declared {
	f := of("A[D/D M N] V[N] "+tensors, s.Sum("C", "A", residual, normed))
	if way != nil {
		f = f.by("C", way)
	}
	return declared{id, what, f, served}
}
