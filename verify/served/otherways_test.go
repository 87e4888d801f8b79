package served

import (
	"testing"

	s "ovgen/schedule"
)

// otherWays are communications by ways that no package of the catalogue takes for them.
var otherWays = map[string]form{
	"WeightNCCL":       linear("A[M/D K] B[N/D K] C[M/D N]").by("B", s.NCCL{}),
	"WeightShot":       linear("A[M/D K] B[N/D K] C[M/D N]").by("B", s.GatherShot{}),
	"WeightPackets":    linear("A[M/D K] B[N/D K] C[M/D N]").by("B", s.PushGather{}),
	"RowsOfGradient":   gradient("A[M N] B[M/D K] C[N K]").by("B", s.NCCL{}),
	"GradientNCCL":     gradient("A[M/D N] B[M/D K] C[N/D K]").by("C", s.NCCL{}),
	"GradientAllNCCL":  gradient("A[M/D N] B[M/D K] C[N K]").by("C", s.NCCL{}),
	"GradientPackets":  gradient("A[M/D N] B[M/D K] C[N K]").by("C", s.PushShot{}),
	"ColumnsStores":    linear("A[M K/D] B[N K/D] C[M N/D]").by("C", s.Stores{}),
	"ColumnsStaged":    linear("A[M K/D] B[N K/D] C[M N/D]").by("C", s.Staged{}),
	"ColumnsRing":      linear("A[M K/D] B[N K/D] C[M N/D]").by("C", s.RingSum{}),
	"ColumnsRingAdds":  linear("A[M K/D] B[N K/D] C[M N/D]").by("C", s.RingAccumulate{}),
	"BatchesStores":    linear("A[M K/D] B[N K/D] C[M*4/D N]").by("C", s.Stores{}),
	"BalancedStores":   balanced(linear("A[M K/D] B[N K/D] C[M/D N]"), "C").by("C", s.Stores{}),
	"BalancedPush":     balanced(linear("A[M/D K] B[N K] C[M N]"), "A").by("A", s.Push{Parts: 1}),
	"BalancedRing":     balanced(linear("A[M/D K] B[N K] C[M N]"), "A").by("A", s.Ring{}),
	"BalancedPushRing": balanced(linear("A[M/D K] B[N K] C[M N]"), "A").by("A", s.PushRing{}),
	"BalancedEight":    balanced(linear("A[M/D K] B[N K] C[M N]"), "A").eight(true, "A", "B"),
	"BalancedOneScale": balanced(linear("A[M/D K] B[N K] C[M N]"), "A").eight(false, "A", "B").by("A", s.Ring{}),
	"BalancedEightSum": balanced(linear("A[M K/D] B[N K/D] C[M/D N]"), "C").eight(true, "A", "B"),
	"BalancedRoots":    balanced(linear("A[M/D K] B[N K] C[M N]"), "A").by("A", s.Broadcast{}),
	"BalancedNaive": balanced(linear("A[M/D K] B[N K] C[M N]"), "A").
		by("A", s.Naive{Copied: true, SignalsInStep: true, StartInLoop: true, HandlesInLoop: true, WithStep: true}),
	"WeightPushed":   linear("A[M/D K] B[N/D K] C[M/D N]").by("B", s.Push{}),
	"GradientPushed": gradient("A[M N] B[M/D K] C[N K]").by("B", s.Push{By: s.Kernels}),
	"ColumnsPushed":  gradient("A[M/D N] B[M K/D] C[N K/D]").by("A", s.Push{By: s.KernelCopies}),
	"WeightsPushed": of("A[M/D K] B[F/D K] B2[N/D F] C[M/D N]", s.Linear("H", "A", "B"), s.Linear("C", "H", "B2")).
		by("B", s.Push{}).by("B2", s.Push{By: s.KernelSignals}),
	"EightPushed":     linear("A[M/D K] B[N/D K] C[M/D N]").eight(true, "A", "B").by("B", s.Push{}),
	"SquaresTwoShots": linear("A[M K/D] B[N K/D] C[M N]").squared("A", "B").by("C", s.TwoShot{}),
	"OwnInputAdded": of("A[M/D K] Gate[F/D K] Up[F/D K] Down[K F/D] C[M/D K]", s.Linear("U", "A", "Up"),
		s.Linear("G", "A", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("A"))),
	"SharedWeight": of("A[M/D K] W[F/D K] Down[N F/D] C[M/D N]", s.Linear("U", "A", "W"),
		s.Linear("G", "A", "W", s.SwiGLU("U")), s.Linear("C", "G", "Down")),
	"TwoMLPs": of("A[M/D K] B[F/D K] B2[K F/D] X[M/D K] B3[F/D K] B4[K F/D] C[M/D K]",
		s.Linear("H", "A", "B", s.GELU()), s.Linear("X", "H", "B2"), s.Linear("H2", "X", "B3", s.GELU()),
		s.Linear("C", "H2", "B4")),
	"SquaredRows":   of("A[M/D K] B[N K] C[M:D N]", s.Linear("C", "A", "B", s.Func{Is: s.Times(s.X, s.X)})),
	"BatchesNormed": batchesNormed,
	"FourAxes":      fourAxes,
	"OwnProduct":    of("A[M K/D] B[N K/D] C[M/D N]", s.CallPartial("C", "MyGEMM", "mk,nk->mn", "A", "B")),
	"OwnProductAll": of("A[M K/D] B[N K/D] R[M N] Norm[N] C[M N]", summandsOf("C", s.Add("R"), s.RMSNorm("Norm"))).
		by("C", s.PushShot{}),
	"OwnRows": of("Q[M/D N] Key[M/D N] V[M/D N2] C[M/D N2]", s.Copy("AllK", "Key"), s.Copy("AllV", "V"),
		s.CallRows("C", "Attention", "mq,nq,nv->mv", "Q", "AllK", "AllV")),
	"OwnRowsBetween": of("A[M K/D] B[N K/D] T[M/D N] B2[F/D N] C[M:D F/D]", s.Linear("H", "A", "B"),
		s.CallRows("H2", "Route", "mn,mn->mn", "H", "T"), s.Linear("C", "H2", "B2")),
	"EightRing":        gatheredEight(true).by("A", s.PushRing{}),
	"EightKernels":     gatheredEight(true).by("A", s.Pull{By: s.OneKernel}),
	"EightWeight":      linear("A[M/D K] B[N/D K] C[M/D N]").eight(true, "A", "B"),
	"EightOneScale":    linear("A[M K/D] B[N K/D] C[M/D N]").eight(false, "A", "B"),
	"EightNarrow":      linear("A[M/D K] B[N/D K] Bias[N/D] C[M:D N/D]").eight(true, "B"),
	"EightNarrowMoves": linear("A[M/D K] B[N/D K] C[M/D N]").eight(true, "B"),
	"ColumnsOfProduct": of("A[M/D K] W[N/D K] R[M/D N]", s.Linear("O", "A", "W"), s.Copy("R", "O")),
	"ColumnsToProduct": of("A[M/D N] C[M N/D] W[K N/D] R[M/D K]", s.Copy("C", "A"), s.Linear("R", "C", "W")),
	"GradientAdds": of("A[M N] B[M K] C[N K] C0[N K] Z[M K/D] W[N K/D] X[M/D N]", s.Linear("X", "Z", "W"),
		s.Gradient("C", "A", "B", s.Add("C0"))).changed("C0", inC),
}

// balanced has the rows of a tensor in balanced parts.
func balanced(f form, name string) form {
	for i := range f.Tensors {
		if t := &f.Tensors[i]; t.Name == name {
			t.Axes[0].Outer = []s.Split{s.Balanced(s.D)}
		}
	}
	return f
}

// TestOtherWays: they are proven and explored; TestAcceptedAreGreen runs their packages.
func TestOtherWays(t *testing.T) {
	for name, x := range otherWays {
		isCrossed(t, name, x.Schedule, 1, 2, 3, 4, 8)
	}
}
