package served

import (
	"slices"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
)

// middles are chains in which functions stand behind what comes otherwise than by rows, or behind a gradient, and
// operations go on from them.
var middles = map[string]form{
	"an exchange for rows, a norm and a product": of("A[M N/D] Y[M/D N] V[N] W[K N] C[M/D K]",
		s.Copy("Y", "A", s.RMSNorm("V")), s.Linear("C", "Y", "W")),
	"the same in two operations": of("A[M N/D] X[M/D N] V[N] W[K N] C[M/D K]",
		s.Copy("X", "A"), s.Copy("Y", "X", s.RMSNorm("V")), s.Linear("C", "Y", "W")),
	"a product, an exchange, a norm, and a product that gathers": of(
		"A[M P] U[N/D P] Y[M/D N] V[N] W[K/D N] C[M:D K/D]", s.Linear("H", "A", "U"),
		s.Copy("Y", "H", s.RMSNorm("V")), s.Linear("C", "Y", "W")),
	"an exchange for columns, a residual and partial results": of("A[M/D N] R[M N/D] Y[M N/D] W[K N/D] C[M/D K]",
		s.Copy("Y", "A", s.Add("R")), s.Linear("C", "Y", "W")),
	"an exchange that ends in heads, and attention": of("A[M/D N] Q[64] Y[M N/D] W[K N/D] C[M/D K]",
		s.Copy("Y", "A", s.RMSNorm("Q").PerHead("64")), s.Call("O", "Attention", "mk->mk", "Y"),
		s.Linear("C", "O", "W")),
	"rows of a product, for columns with a residual, and a product": of(
		"A[M/D K] W[N K] R[M N/D] Y[M N/D] W2[P N/D] C[M/D P]", s.Linear("H", "A", "W"), s.Copy("Y", "H", s.Add("R")),
		s.Linear("C", "Y", "W2")),
	"rows of a product, for columns with a gelu, and a product": of("A[M/D K] W[N K] Y[M N/D] W2[P N/D] C[M/D P]",
		s.Linear("H", "A", "W"), s.Copy("Y", "H", s.GELU()), s.Linear("C", "Y", "W2")),
	"rows of a product, for columns with a norm of heads, and a product": of(
		"A[M/D K] W[N K] Q[64] Y[M N/D] W2[P N/D] C[M/D P]", s.Linear("H", "A", "W"),
		s.Copy("Y", "H", s.RMSNorm("Q").PerHead("64")), s.Linear("C", "Y", "W2")),
	"a broadcast, a scale and a product": of("A@0[M N] Y[M N] W[K/D N] C[M K/D]",
		s.Copy("Y", "A", s.Scale(.5)), s.Linear("C", "Y", "W")),
	"a broadcast as it is, and a product": of("A@0[M N] Y[M N] W[K/D N] C[M K/D]", s.Copy("Y", "A"),
		s.Linear("C", "Y", "W")),
	"a permutation, a gate and a gather": of("A[M/D N] U[M/D+1 N] Y[M/D+1 N] C[M N]",
		s.Copy("Y", "A", s.SwiGLU("U")), s.Copy("C", "Y")),
	"a permutation, a gather with a scale, and a product": of("A[M/D N] Y[M/D+1 N] Z[M N] W[K/D N] C[M K/D]",
		s.Copy("Y", "A", s.SoftCap(30)), s.Copy("Z", "Y", s.Scale(3)), s.Linear("C", "Z", "W")),
	"a permutation back, a gate, and a product that gathers": of("A[M/D+1 N] U[M/D N] Y[M/D N] W[K/D N] C[M:D K/D]",
		s.Copy("Y", "A", s.SwiGLU("U")), s.Linear("C", "Y", "W")),
	"a permutation on and back, each with a scale": of("A[M/D N] Y[M/D+1 N] W[K N] H[M/D+1 K] C[M/D K]",
		s.Copy("Y", "A", s.Scale(2)), s.Linear("H", "Y", "W"), s.Copy("C", "H", s.Scale(.5))),
	"columns that are gathered, a norm and a product": of("A[M N/D] Y[M N] V[N] W[K/D N] C[M K/D]",
		s.Copy("Y", "A", s.RMSNorm("V")), s.Linear("C", "Y", "W")),
	"columns that a product makes, a norm and a product": of("A[M P] U[N/D P] Y[M N] V[N] W[K/D N] C[M K/D]",
		s.Linear("H", "A", "U"), s.Copy("Y", "H", s.RMSNorm("V")), s.Linear("C", "Y", "W")),
	"a gradient of own rows, a scale and a norm": of("A[M N/D] W[M K] G[N/D K] V[K] C[N/D K]",
		s.Gradient("G", "A", "W", s.Scale(.5)), s.Copy("C", "G", s.RMSNorm("V"))),
	"logits, their norm and a product": of("A[M P] U[N/D P] L[M N] V[N] W[K/D N] C[M K/D]", s.Linear("L", "A", "U"),
		s.Copy("Y", "L", s.RMSNorm("V")), s.Linear("C", "Y", "W")),
	"logits of rows that come, and a product of all": of("A[M/D P] U[N/D P] L[M N] W[K/D N] C[M K]",
		s.Linear("L", "A", "U"), s.Linear("C", "L", "W")),
}

// keeping have two results, behind what comes so and of gradients.
var keeping = map[string]form{
	"a gradient of own rows, a scale, and another": of("A[M N/D] W[M K] G[N/D K] B[M P/D] H[P/D K]",
		s.Gradient("G", "A", "W", s.Scale(.5)), s.Gradient("H", "B", "W")),
	"a gradient of rows that come, a scale, and the rows' own": of(
		"A[M N/D] X[M/D K] G[N/D K] W[N K/D] S[M/D N] D1[M:D K/D]", s.Gradient("G", "A", "X", s.Scale(.5)),
		s.Matmul("D1", "S", "W")),
	"an exchange, a residual and a norm": of("A[M N/D] R[M/D N] H[M/D N] V[N] Y[M/D N]",
		s.Copy("Y", "A", s.Add("R"), s.RMSNorm("V")).Keeping("H", 1)),
	"an exchange as it is, and its norm": of("A[M N/D] H[M/D N] V[N] Y[M/D N]",
		s.Copy("Y", "A", s.RMSNorm("V")).Keeping("H", 0)),
	"an exchange, a residual and a norm, and a product": of("A[M N/D] R[M/D N] H[M/D N] V[N] W[K N] C[M/D K]",
		s.Copy("Y", "A", s.Add("R"), s.RMSNorm("V")).Keeping("H", 1), s.Linear("C", "Y", "W")),
	"a broadcast, a residual and a norm": of("A@0[M N] R[M N] H[M N] V[N] Y[M N]",
		s.Copy("Y", "A", s.Add("R"), s.RMSNorm("V")).Keeping("H", 1)),
	"a permutation, a residual and a norm": of("A[M/D N] R[M/D+1 N] H[M/D+1 N] V[N] Y[M/D+1 N]",
		s.Copy("Y", "A", s.Add("R"), s.RMSNorm("V")).Keeping("H", 1)),
	"a gradient, a scale and its norm": of("A[M N/D] W[M K] H[N/D K] V[K] C[N/D K]",
		s.Gradient("C", "A", "W", s.Scale(.5), s.RMSNorm("V")).Keeping("H", 1)),
	"logits and their norm": of("A[M P] U[N/D P] H[M N] V[N] Y[M N]",
		s.Linear("Y", "A", "U", s.RMSNorm("V")).Keeping("H", 0)),
}

// middlesShown are run in packages of their names by TestAcceptedAreGreen.
var middlesShown = map[string]form{
	"ExchangedNormed": middles["a product, an exchange, a norm, and a product that gathers"],
	"RootScaled":      middles["a broadcast, a scale and a product"],
	"MovedGated":      middles["a permutation, a gather with a scale, and a product"],
	"MovedBack":       middles["a permutation on and back, each with a scale"],
	"LogitsNormed":    middles["logits, their norm and a product"],
	"ExchangedKept":   keeping["an exchange, a residual and a norm, and a product"],
}

// TestMiddle: both checkers agree on each.
func TestMiddle(t *testing.T) {
	for _, list := range []map[string]form{middles, keeping} {
		for name, f := range list {
			isCrossed(t, name, f.Schedule, 1, 2, 3, 4, 8)
		}
	}
}

// TestMiddleInOrder: functions that are made ahead of what comes, or behind all that reads them, are refused by both.
func TestMiddleInOrder(t *testing.T) {
	tried := 0
	for name, f := range middles {
		for _, first := range []bool{true, false} {
			x, err := lower.Lower("Early", f.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(x.Body, applies)
			if i < 0 {
				continue // as it is
			}
			tried++
			made, rest := x.Body[i], slices.Delete(slices.Clone(x.Body), i, i+1)
			if x.Body = append(rest, made); first {
				x.Body = append([]hostir.Node{made}, rest...)
			}
			if _, err := prove.Schedule(t.Context(), x, prove.Options{Ranks: []int{2}}); err == nil {
				t.Errorf("%s, %t: proven", name, first)
			}
			if _, err := explore.Small(x, []int{2}, true); err == nil {
				t.Errorf("%s, %t: explored without a mistake", name, first)
			}
		}
	}
	if tried < len(middles) {
		t.Errorf("%d programs were tried of %d chains", tried, len(middles))
	}
}

// applies says that a node makes functions.
func applies(n hostir.Node) bool {
	step, is := n.(hostir.Step)
	_, made := step.Do.(hostir.Apply)
	return is && made
}

// notMiddle are refused, with the field and what to do.
var notMiddle = []declared{
	{"a product of rows that are on other ranks", "they come in turn", of("A[M/D N] Y[M/D+1 N] W[K/D N] C[M:D K/D]",
		s.Copy("Y", "A", s.Scale(.5)), s.Linear("C", "Y", "W")), at("Tensors[1]", "no pass multiplies rows as they "+
		"come that are on other ranks: Y is [DIDx(D, shift 1), M/D, N] (gather it by a schedule.Copy")},
	{"a result that is not moved on", "its operand is", of("A[M/D N] Y[M/D+1 N] W[K N] C[M/D K]",
		s.Copy("Y", "A", s.Scale(.5)), s.Linear("C", "Y", "W")), at("Tensors[3]", "C is [DIDx(D), M/D, K], and the "+
		"operations leave it otherwise: C = linear(Y, W) (place it [DIDx(D, shift 1), M/D, K])")},
	{"a permutation by two", "words go to a neighbour", of("A[M/D N] Y[M/D+2 N] W[K N] C[M/D+2 K]",
		s.Copy("Y", "A", s.Scale(.5)), s.Linear("C", "Y", "W")), at("Tensors[1].Axes[0].Outer[0].Shift",
		"a shift by 2 of Y: the one that is lowered moves parts on by one rank, or back "+
			"(let the shifts of both differ by 1)")},
	{"a norm of columns", "each rank has a part of each row", of("A[M/D N] V[N/D] Y[M N/D] W[K N/D] C[M/D K]",
		s.Copy("Y", "A", s.RMSNorm("V")), s.Linear("C", "Y", "W")), at("Ops[0].Then[0]",
		"each rank has a part of each row of Y, and rmsnorm takes whole rows")},
	{"columns that come and are gathered", "nobody makes them side by side", of("A[M/D N] R[M N/D] V[N] C[M N]",
		s.Copy("C", "A", s.RMSNorm("V")).Keeping("R", 0)), at("Ops[0]",
		"R comes, and is gathered in parts of its columns")},
	{"rows that were moved on, by packets", "each rank's go to the place of its number", of(
		"A[M/D N] Y[M/D+1 N] C[M N]", s.Copy("Y", "A", s.Scale(.5)), s.Copy("C", "Y")).by("Y", s.PushGather{}),
		at("Moves[0].Way", "PushGather puts the rows of each rank at the place of its number, and those of Y were")},
	{"a residual of other rows", "behind an exchange", of("A[M N/D] R[M N/D] Y[M/D N] W[K N] C[M/D K]",
		s.Copy("Y", "A", s.Add("R")), s.Linear("C", "Y", "W")), at("Tensors[1]",
		"R is [M, DIDx(D), N/D], and the operations take it otherwise")},
}

// TestNotMiddle holds each against its verdict.
func TestNotMiddle(t *testing.T) {
	for i := range notMiddle {
		if _, err := notMiddle[i].holds(t); err != nil {
			t.Errorf("%s: %v", notMiddle[i].id, err)
		}
	}
}
