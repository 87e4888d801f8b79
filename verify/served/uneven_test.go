package served

import (
	"testing"

	s "ovgen/schedule"
)

// crossed is attention of rows of A to those of E, which have keys of their own.
func crossAttention(tensors string) form {
	return of(tensors+" Wq[N/D K] Wk[N2/D K] Wo[K N/D]", s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"),
		s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"), s.Linear("C", "O", "Wo", s.Add("A")))
}

// gatedOf are a gated MLP's products of X.
func gatedOf(last s.Op) []s.Op {
	return []s.Op{s.Linear("G", "X", "U"), s.Linear("H", "X", "B", s.SwiGLU("G")), last}
}

// block is a norm, attention, a norm and a gated MLP, with residuals.
var unevenBlock = of("A[M/D~ K] V[K] Wq[N/D K] Wo[K N/D] V2[K] R[M/D~ K] B[F/D K] U[F/D K] B2[K F/D] C[M/D~ K]",
	append([]s.Op{s.Copy("Y", "A", s.RMSNorm("V")), s.Linear("Q", "Y", "Wq"),
		s.Call("O", "Attention", "mn->mn", "Q"), s.Linear("R", "O", "Wo", s.Add("A")),
		s.Copy("X", "R", s.RMSNorm("V2"))}, gatedOf(s.Linear("C", "H", "B2", s.Add("R")))...)...)

// parallelBlock has attention and an MLP of the same rows, whose partial results meet in one sum.
var parallelBlock = of("A[M/D~ K] V[K] Wq[N/D K] Wo[K N/D] B[F/D K] B2[K F/D] C[M/D~ K]",
	s.Copy("X", "A", s.RMSNorm("V")), s.Linear("Q", "X", "Wq"), s.Linear("H", "X", "B", s.GELU()),
	s.Call("O", "Attention", "mq->mq", "Q"), s.Linear("T", "O", "Wo"),
	s.Linear("C", "H", "B2", s.Add("T"), s.Add("A")))

// unevenLayers are layers whose rows are in parts of different sizes: by counts as they stand, and in balanced parts.
var unevenLayers = map[string]form{
	"sums for all": of("A[M/D~ K] V[K] B[F/D K] B2[K F/D] R[M K] C[M K]", s.Copy("X", "A", s.RMSNorm("V")),
		s.Linear("H", "X", "B"), s.Linear("C", "H", "B2", s.Add("R"))),
	"sums for all, and others": of("O[M F/D] B2[N F/D] C[M N] A[M/D~ K] B[F/D K] E[M F/D]",
		s.Linear("C", "O", "B2"), s.Linear("E", "A", "B")),
	"a norm and products": of("A[M/D~ K] V[K] B[F/D K] B2[N F/D] C[M/D~ N]", s.Copy("X", "A", s.RMSNorm("V")),
		s.Linear("H", "X", "B", s.SiLU()), s.Linear("C", "H", "B2")),
	"products and a residual": mlpByCounts("", "C[M/D~ K]", twice[0], s.Linear("C", "H", "B2", s.Add("A"))),
	"a norm, a gate and a residual": of("A[M/D~ K] V[K] B[F/D K] U[F/D K] B2[K F/D] C[M/D~ K]",
		append([]s.Op{s.Copy("X", "A", s.RMSNorm("V"))}, gatedOf(s.Linear("C", "H", "B2", s.Add("A")))...)...),
	"two layers": of("A[M/D~ K] B[F/D K] B2[K F/D] B3[F/D K] B4[K F/D] X[M/D~ K] C[M/D~ K]",
		s.Linear("H", "A", "B"), s.Linear("X", "H", "B2"), s.Linear("H2", "X", "B3"), s.Linear("C", "H2", "B4")),
	"a sum that is gathered": mlpByCounts(" E[M K]", "C[M/D~ K]", append(twice, s.Copy("E", "C"))...),
	"a block behind attention": of("O[M N/D] Wo[K N/D] A[M/D~ K] R[M/D~ K] B[F/D K] B2[K F/D] C[M/D~ K]",
		s.Linear("R", "O", "Wo", s.Add("A")), s.Linear("H", "R", "B"), s.Linear("C", "H", "B2", s.Add("R"))),
	"a norm behind, which goes on": of("A[M/D~ K] B[F/D K] B2[K F/D] V[K] Wq[N/D K] X[M/D~ K] C[M N/D]",
		twice[0], s.Linear("X", "H", "B2", s.Add("A")), s.Copy("Y", "X", s.RMSNorm("V")), s.Linear("C", "Y", "Wq")),
	"numbers of rows": of("A[M/D~ K] S[M/D~] B[F/D K] B2[K F/D] C[M/D~ K]",
		s.Copy("X", "A", s.Func{Is: s.Times(s.X, s.Column("S"))}), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2")),
	"attention": of("A[M/D~ K] B[F/D K] B2[N F/D] C[M/D~ N]", s.Linear("H", "A", "B"),
		s.Call("O", "Own", "mn->mn", "H"), s.Linear("C", "O", "B2")),
	"queries, keys and values": of("A[M/D~ K] V[K] Wq[N/D K] Wk[P/D K] Wv[P/D K] Wo[K N/D] T[M W] C[M/D~ K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("Q", "X", "Wq", s.Rotary("T")), s.Linear("Keys", "X", "Wk"),
		s.Linear("Values", "X", "Wv"), s.Call("O", "Attention", "mq,nk,nv->mq", "Q", "Keys", "Values"),
		s.Linear("C", "O", "Wo", s.Add("A"))),
	"a block":          unevenBlock,
	"a parallel block": parallelBlock,
	"two branches in one sum": of("A[M/D~ K] V[K] Wq[N/D K] Wo[K N/D] B[F/D K] B2[K F/D] C[M/D~ K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("Q", "X", "Wq"), s.Linear("H", "X", "B", s.GELU()),
		s.Linear("T", "Q", "Wo"), s.Linear("C", "H", "B2", s.Add("T"), s.Add("A"))),
	"calls of own rows": dataParallel,
	"a call of own rows behind a sum": of("A[M K/D] B[K K/D] T[M/D~ N] X[M/D~ K] C[M/D~ K]",
		s.Linear("X", "A", "B"), s.CallRows("C", "Own", "mk,mn->mk", "X", "T")),
	"a call of own rows, and a layer": of("A[M/D~ K] B[F/D K] B2[K F/D] C[M/D~ K] Q[M/D~ K]",
		s.CallRows("Q", "Own", "mk->mk", "A"), s.Linear("H", "Q", "B"), s.Linear("C", "H", "B2")),
	"a call for summands": of("A[M K/D] B[N K/D] P[M/D~ N]", ownProduct),
	"a call for summands behind rows": of("A[M/D~ K] B[F/D K] B2[N F/D] C[M/D~ N]",
		s.Linear("H", "A", "B", s.SiLU()), s.CallPartial("C", "Down", "mf,nf->mn", "H", "B2")),
	"all rows, for a call": of("A[M/D~ K] X[M K] O[M K]", s.Copy("X", "A"), s.Call("O", "All", "mk->mk", "X")),
	"a kernel of all rows": of("A[M/D~ K] B[F/D K] B2[N F/D] C[M/D~ N]", s.Linear("H", "A", "B"),
		s.Call("O", "Own", "mn->mn", "H").By(s.Kernel{File: "own.cu", Name: "own", Blocks: "M"}),
		s.Linear("C", "O", "B2")),
	"a gradient beside": mlpByCounts(" Dy[P N] X[P W] Dw[N W]", "C[M/D~ K]", append(twice,
		s.Gradient("Dw", "Dy", "X"))...),
	"a gradient of all rows": of("A[M/D~ K] B[F/D K] H[M F/D] T[M N] Dw[N F/D]", s.Linear("H", "A", "B"),
		s.Gradient("Dw", "T", "H")),
	"attention to even rows":   crossAttention("A[M/D~ K] E[P/D K] C[M/D~ K]"),
	"attention to uneven rows": crossAttention("A[P/D K] E[M/D~ K] C[P/D K]"),
	"attention to other rows":  crossAttention("A[M/D~ K] E[M/D~ K] C[M/D~ K]"),
	"sums of codes":            quantisedProduct("C[M/D~ N]"),
	"codes of a layer": of("A[M/D~ K] Q[M/D~ K] B[F/D K] B2[K F/D] C[M/D~ K]", s.Copy("Q", "A", s.Quantise()),
		s.Linear("H", "Q", "B", s.SiLU()), s.Linear("C", "H", "B2")).eight(true, "Q", "B"),
	"a residual's memory": mlpByCounts("", "C[M/D~ K]", twice[0], s.Linear("C", "H", "B2", s.Add("A"))).
		within("C", "A"),
}

// balancedLayers have balanced rows of another number than M.
var balancedLayers = map[string]form{
	"attention to rows of their own number": balanced(crossAttention("A[M/D K] E[P/D K] C[M/D K]"), "E"),
	"a constant number of rows": balanced(balanced(of("A[13/D K] V[K] B[F/D K] B2[K F/D] C[13/D K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B", s.SiLU()), s.Linear("C", "H", "B2", s.Add("A"))),
		"A"), "C"),
}

// unevenShown are run in packages of their names by TestAcceptedAreGreen.
var unevenShown = map[string]form{
	"CountedBlock":         unevenBlock,
	"BalancedBlock":        unevenBlock.inBalance(),
	"CountedParallel":      parallelBlock,
	"BalancedParallel":     parallelBlock.inBalance(),
	"CountedCross":         unevenLayers["attention to even rows"],
	"BalancedCross":        balancedLayers["attention to rows of their own number"],
	"BalancedConstant":     balancedLayers["a constant number of rows"],
	"BalancedOwnCalls":     dataParallel.inBalance(),
	"CountedSummandsCall":  unevenLayers["a call for summands behind rows"],
	"BalancedSummandsCall": unevenLayers["a call for summands behind rows"].inBalance(),
	"BalancedCodeSums":     unevenLayers["sums of codes"].inBalance(),
	"CountedGradient":      unevenLayers["a gradient of all rows"],
	"BalancedGradient":     unevenLayers["a gradient of all rows"].inBalance(),
	"CountedInPlace":       unevenLayers["a residual's memory"],
	"BalancedInPlace":      unevenLayers["a residual's memory"].inBalance(),
	"BalancedTwoLayers":    unevenLayers["two layers"].inBalance(),
}

// TestUnevenLayers: both checkers agree on each.
func TestUnevenLayers(t *testing.T) {
	for name, x := range unevenLayers {
		isCrossed(t, name+", counted", x.Schedule, 1, 2, 3, 4, 8)
		isCrossed(t, name+", balanced", x.inBalance().Schedule, 1, 2, 3, 4, 8)
	}
	for name, x := range balancedLayers {
		isCrossed(t, name, x.Schedule, 1, 2, 3, 4, 8)
	}
}

// notUneven are refused, with the field and what to do.
var notUneven = []declared{
	{"two lists of counts", "Bind takes one", crossAttention("A[M/D~ K] E[P/D~ K] C[M/D~ K]"),
		at("Tensors[1].Axes[0].Outer[0]", "a plan has one list of the numbers of rows that ranks have, those of A, "+
			"and E has others (let all ranks have equal parts of one)")},
	{"counts", "beside balanced rows", balanced(crossAttention("A[M/D~ K] E[P/D K] C[M/D~ K]"), "E"),
		at("Tensors[1].Axes[0].Outer[0]", "a plan has one list")},
	{"two balanced numbers", "New cuts one",
		balanced(balanced(balanced(crossAttention("A[M/D K] E[P/D K] C[M/D K]"), "A"), "E"), "C"),
		at("Tensors[1].Axes[0].Outer[0]", "a plan has one list")},
	{"a kernel", "of own rows", of("A[M/D~ K] O[M/D~ K] C[M K]", s.CallRows("O", "Own", "mk->mk", "A").By(s.Kernel{
		File: "own.cu", Name: "own", Blocks: "M"}), s.Copy("C", "O")).inBalance(), at("Ops[0].Kernel",
		"a kernel takes the numbers that New is told, and the ranks have different numbers of rows of O")},
	{"own rows", "that nothing declares", of("A[M/D~ K] V[K] B[N/D K] C[M N/D]", s.Copy("X", "A", s.RMSNorm("V")),
		s.CallRows("Q", "Own", "mk->mk", "X"), s.Linear("C", "Q", "B")).inBalance(), at("Ops[1].Out",
		"nothing says how many rows a rank has of Q, which Own makes (declare it with its placement)")},
	{"slots", "in parts", unevenLayers["two layers"].inBalance().by("X", s.Slots{Parts: 2}), at("Moves[0].Way.Parts",
		"parts of X differ by rows, and parts of these would again")},
	{"padding", "and a call", padded(of("A[M/D~P K] B[F/D K] O[M F/D]", s.Linear("H", "A", "B"),
		s.Call("O", "Own", "mn->mn", "H")), "A"), at("Moves[0].Way", "O is made of all rows of H, without padding")},
	{"padding", "and a gradient", padded(of("A[M/D~P K] B[F/D K] H[M F/D] T[M N] Dw[N F/D]", s.Linear("H", "A", "B"),
		s.Gradient("Dw", "T", "H")), "A"), at("Moves[0].Way", "Dw is made of all rows of T, without padding")},
	{"a gradient", "of own rows", gradient("A[M/D~ N] B[M/D~ K] C[N K]").inBalance(), at("Tensors[0]",
		"no pass makes a gradient of rows of A in other than equal parts")},
}

// TestNotUneven holds each against its verdict.
func TestNotUneven(t *testing.T) {
	for i := range notUneven {
		if _, err := notUneven[i].holds(t); err != nil {
			t.Errorf("%s: %v", notUneven[i].id, err)
		}
	}
}
