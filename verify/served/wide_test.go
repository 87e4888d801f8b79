package served

import (
	"testing"

	s "ovgen/schedule"
)

// few is the form with kernels for products of few rows.
func (f form) few() form {
	f.FewRows = 16
	return f
}

// capped30 are logits of a vocabulary.
func capped30(tensors string) form {
	return of(tensors, s.Linear("C", "A", "W", s.SoftCap(30))).in32("C")
}

// wideShown are functions of fp32 behind products that no rank's partial results end, and of fp32 to fp32. They are run
// in packages of their names by TestAcceptedAreGreen.
var wideShown = map[string]form{
	"WideLogits":   capped30("A[M/D K] W[N/D K] C[M:D N/D]"),
	"WideByShot":   capped30("A[M/D K] W[N/D K] C[M:D N/D]").by("A", s.GatherShot{}),
	"WideByTiles":  capped30("A[M/D K] W[N/D K] C[M:D N/D]").by("A", s.Tiles{}).types(s.BF16),
	"WideByNCCL":   capped30("A[M/D K] W[N/D K] C[M:D N/D]").by("A", s.NCCL{}),
	"WideByRing":   capped30("A[M/D K] W[N/D K] C[M:D N/D]").by("A", s.Ring{}),
	"WideOfEight":  capped30("A[M/D K] W[N/D K] C[M:D N/D]").eight(true, "A", "W"),
	"WideWeight":   capped30("A[M/D K] W[N/D K] C[M/D N]"),
	"WideCounted":  capped30("A[M/D~ K] W[N K] C[M N]"),
	"WideBalanced": balanced(capped30("A[M/D K] W[N K] C[M N]"), "A"),
	"WideFew":      capped30("A[M K] W[N K] C[M N]").few(),
	"WideLocal":    of("A[M K] W[K N] C[M N]", s.Matmul("C", "A", "W", s.Softmax())).in32("C"),
	"WideBatches":  of("A[4 M/D K] W[N K] C[4 M:D N]", s.BatchedLinear("C", "A", "W", s.Scale(.5))).in32("C"),
	"WideHeads": of("A[M/D K] W[N/D K] Q[W] T[M W] C[M:D N/D]",
		s.Linear("C", "A", "W", s.RMSNorm("Q").PerHead(s.W), s.Rotary("T"))).in32("C"),
	"WideRounded": of("A[M/D K] W[N/D K] B[N/D] C[M:D N/D]",
		s.Linear("C", "A", "W", s.Bias("B"), s.GELU(), s.Rounded())).in32("C"),
	"WideResidual": of("A[M/D K] W[N K] R[M/D N] C[M/D N]", s.Linear("C", "A", "W", s.Add("R"))).in32("C", "R"),
	"WideKept": of("A[M/D K] W[N/D K] H[M:D N/D] C[M:D N/D]",
		s.Linear("C", "A", "W", s.Scale(2), s.SiLU()).Keeping("H", 1)).in32("C", "H"),
	"WideStream": of("H[M/D N] R[M/D N] C[M/D N]", s.Copy("C", "H", s.SiLU(), s.Add("R"))).in32("C", "H", "R"),
	"WideBehindSum": of("A[M K/D] W[N K/D] V[N] L[F/D N] C[M:D F/D]", s.Linear("H", "A", "W", s.RMSNorm("V")),
		s.Linear("C", "H", "L", s.SoftCap(30))).in32("C"),
	"WideOperand": of("A[M/D K] W[N/D K] V[N/D K] U[M:D N/D] C[M:D N/D]", s.Linear("U", "A", "V", s.Scale(3)),
		s.Linear("C", "A", "W", s.SwiGLU("U"))).in32("U"),
	"WideGradient": of("A[M N] B[M/D K] C[N K]", s.Gradient("C", "A", "B", s.Scale(2))).in32("C"),
}

// TestWide: both checkers agree on each.
func TestWide(t *testing.T) {
	for name, f := range wideShown {
		isCrossed(t, name, f.Schedule, 1, 2, 3)
	}
}

// narrowOnly are refused, since fp32 is not made there, or travels.
var narrowOnly = []declared{
	{"a gate of the library's", "it rounds", of("A[M/D K] W[N/D K] C[M:D N/D]",
		s.Linear("C", "A", "W", s.GELU())).in32("C"), at("Tensors[2].Type", "or let linear end with schedule.Rounded")},
	{"columns that are gathered", "behind a product", capped30("A[M K] W[N/D K] C[M N]"),
		at("Tensors[2].Type", "no pass moves a tensor of fp32, such as C")},
	{"rows that are gathered", "behind a product", of("A[M/D K] W[N K] C[M/D N] E[M N]",
		s.Linear("C", "A", "W", s.SoftCap(30)), s.Copy("E", "C", s.SiLU())).in32("C"),
		at("Tensors[2].Type", "no pass moves a tensor of fp32, such as C")},
}

// TestNarrowOnly holds each against its verdict.
func TestNarrowOnly(t *testing.T) {
	for i := range narrowOnly {
		d := &narrowOnly[i]
		if _, err := d.holds(t); err != nil {
			t.Errorf("%s: %v", d.id, err)
		}
	}
}
