package served

import (
	"testing"

	s "ovgen/schedule"
)

// gradients go on from earlier ones, as a step of several batches adds them up.
var gradients = []declared{
	{"G11", "added to an earlier one", of("A[M N] B[M/D K] C[N K] C0[N K]", s.Gradient("C", "A", "B", s.Add("C0"))),
		served},
	{"G12", "the same, of columns", of("A[M N/D] B[M/D K] C[N/D K] C0[N/D K]",
		s.Gradient("C", "A", "B", s.Add("C0"))), served},
	{"G13", "ZeRO, in place", of("A[M/D N] B[M/D K] C[N/D K] C0[N/D K]",
		s.Gradient("C", "A", "B", s.Add("C0"))).changed("C0", inC), served},
	{"G14", "data-parallel, in place", of("A[M/D N] B[M/D K] C[N K] C0[N K]",
		s.Gradient("C", "A", "B", s.Add("C0"))).changed("C0", inC), served},
	{"G15", "of whole operands, beside a sum", of("A[M N] B[M K] C[N K] C0[N K] Z[M K/D] W[N K/D] X[M/D N]",
		s.Linear("X", "Z", "W"), s.Gradient("C", "A", "B", s.Add("C0"))).changed("C0", inC), served},
	{"G16", "added to one that is made", of("A[M N] B[M/D K] A2[M N] B2[M/D K] C[N K]", s.Gradient("C0", "A2", "B2"),
		s.Gradient("C", "A", "B", s.Add("C0"))), at("Ops[1].Then[0].Is.Of[1].Tensor", "which an operation makes")},
	{"G17", "and a function of it", of("A[M N] B[M/D K] C[N K] C0[N K]",
		s.Gradient("C", "A", "B", s.Add("C0"), s.GELU())), served},
	{"G17b", "sums through slots", of("A[M/D N] B[M/D K] C[N/D K] C0[N/D K]",
		s.Gradient("C", "A", "B", s.Add("C0"))).by("C", s.Slots{By: s.OneKernel}), served},
	{"G17c", "sums for all in parts, of what is made before", of("X[M/D K] V[K] A[M/D N] C[N K]",
		s.Copy("B", "X", s.RMSNorm("V")), s.Gradient("C", "A", "B")).by("C", s.Slots{Parts: 2}), served},
	{"G17d", "sums of two, in turn", of("A[M/D N] B[M/D K] A2[M/D F] C[N/D K] C2[F/D K]", s.Gradient("C", "A", "B"),
		s.Gradient("C2", "A2", "B")).by("C", s.Slots{}).by("C2", s.Slots{By: s.Kernels}), served},
	{"G17f", "sums round a ring", of("A[M/D N] B[M/D K] A2[M/D F] C[N/D K] C2[F K]", s.Gradient("C", "A", "B"),
		s.Gradient("C2", "A2", "B")).by("C", s.RingSum{}).by("C2", s.RingSum{Signals: s.Kernels}), served},
	{"G17g", "sums by products round a ring", gradient("A[M/D N] B[M/D K] C[N/D K]").by("C", s.RingAccumulate{}),
		at("Moves[0].Way", "a gradient is made at once, and no rank's rows of it before others")},
	{"G17e", "streams of their products", gradient("A[M/D N] B[M/D K] C[N/D K]").by("C", s.Slots{Streams: 2}),
		at("Moves[0].Way.Streams", "a product makes all rows of the gradient C at once")},
	{"G18", "beside a product of the rows that come", of("A[M/D N] B[M K] C[N K] W[N2/D N] X[M:D N2/D]",
		s.Gradient("C", "A", "B"), s.Linear("X", "A", "W")), served},
	{"G19", "the same, behind it", of("A[M/D N] B[M K/D] C[N K/D] W[N2/D N] X[M:D N2/D]", s.Linear("X", "A", "W"),
		s.Gradient("C", "A", "B")), served},
	{"G20", "of columns that rows of others make", of("X[M/D K] W[F/D K] B[M N] C[F/D N]", s.Linear("H", "X", "W"),
		s.Gradient("C", "H", "B")), served},
	{"G20b", "the same, of the second operand", of("X[M/D K] W[F/D K] A[M N] C[N F/D]", s.Linear("H", "X", "W"),
		s.Gradient("C", "A", "H")), served},
	{"G20c", "the same, of rows that come at once", of("X[M/D K] W[F/D K] B[M N] C[F/D N]", s.Linear("H", "X", "W"),
		s.Gradient("C", "H", "B")).by("X", s.GatherShot{}), served},
	{"G21", "of own rows of a product, beside own rows", of("X[M/D K] W[F K] B[M/D N] C[F N]", s.Linear("H", "X", "W"),
		s.Gradient("C", "H", "B")), served},
	{"G22", "of own rows of a function, beside columns", of("X[M/D N] B[M K/D] C[N K/D]", s.Copy("H", "X", s.GELU()),
		s.Gradient("C", "H", "B")), served},
	{"G23", "of sums for all ranks", of("X[M K/D] W[F K/D] B[M N] C[F N]", s.Linear("H", "X", "W"),
		s.Gradient("C", "H", "B")), served},
	{"G23b", "of sums that are gathered", of("X[M K/D] W[F K/D] B[M N/D] C[F N/D]", s.Linear("H", "X", "W"),
		s.Gradient("C", "H", "B")), served},
	{"G24", "of all rows of a function, beside own rows", of("X[M N] B[M/D K] C[N K]", s.Copy("H", "X", s.GELU()),
		s.Gradient("C", "H", "B")), at("Ops[1].In[0]", "nothing says whether ranks add up products of their rows of B "+
		"or gather these: each rank has all rows of H (declare H [M, N])")},
	{"G24b", "the same, declared", of("X[M N] B[M/D K] C[N K] H[M N]", s.Copy("H", "X", s.GELU()),
		s.Gradient("C", "H", "B")), served},
	{"G24c", "of columns of a call", of("X[M K] W[F/D K] C[F/D N] B[M/D N]", s.Linear("G", "X", "W"),
		s.Call("H", "Own", "mn->mn", "G"), s.Gradient("C", "H", "B")), at("Ops[2].In[0]",
		"(declare H [M, DIDx(D), F/D])")},
	{"G25", "of an MLP, backward", backwardMLP(""), at("Ops[2].In[0]", "each rank has all rows of Dh "+
		"(declare Dh [Stream(D), M/D, DIDx(D), F/D])")},
	{"G25b", "the same, declared", backwardMLP("Dh[M:D F/D]"), served},
	{"G25c", "the same, declared without its steps", backwardMLP("Dh[M F/D]"), at("Tensors[6]",
		"(place it [Stream(D), M/D, DIDx(D), F/D])")},
	{"G25d", "the same, over hosts", backwardMLP("Dh[M:D F/D]").onHosts(), served},
	{"G26", "of an MLP, backward, with the activation's", of("Dy[M/D N] X[M/D K] H[M F/D] Up[K F/D] Down[F/D N] "+
		"Dh[M:D F/D] Dx[M/D K] Dwu[F/D K] Dwd[F/D N]", s.Linear("Da", "Dy", "Down"),
		s.Copy("Dh", "Da", s.Multiply("H")), s.Gradient("Dwd", "H", "Dy"), s.Gradient("Dwu", "Dh", "X"),
		s.Linear("Dx", "Dh", "Up")), served},
}

// backwardMLP is the way back through the second product of an MLP, and the gradient of the first one's weight.
func backwardMLP(more string) form {
	return of("Dy[M/D N] X[M/D K] Up[K F/D] Down[F/D N] Dx[M/D K] Dwu[F/D K] "+more, s.Linear("Dh", "Dy", "Down"),
		s.Linear("Dx", "Dh", "Up"), s.Gradient("Dwu", "Dh", "X"))
}

// inC lets a tensor lie within C.
func inC(t *s.Tensor) { t.Within = "C" }

// TestGradients holds each against its verdict, and the explorer agrees on those that are served.
func TestGradients(t *testing.T) { explored(t, "Gradients", gradients) }
