package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
)

// normedColumns gathers columns into memory of the plan, and norms whole rows of these.
func normedColumns(w s.Way) form {
	return of("A[M/D K] B[N/D K] V[N] C[M N]", s.Linear("H", "A", "B"), s.Copy("C", "H", s.RMSNorm("V"))).by("H", w)
}

// countedLayer has rows by counts, of which the ranks take all.
func countedLayer(w s.Way) form {
	return of("A[M/D~ K] Gate[F/D K] Up[F/D K] Down[K F/D] C[M/D~ K]", s.Linear("U", "A", "Up"),
		s.Linear("G", "A", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("A"))).by("A", w)
}

// comeWhole are ways of columns, and of rows by counts, that come before an operation takes some, and of sums of such
// rows, which one product makes before some leave.
var comeWhole = map[string]form{
	"ColumnsComeRing":       linear("A[M K] B[N/D K] C[M N]").by("C", s.Ring{}),
	"ColumnsRingAlone":      moved("A[M N/D] C[M N]").by("A", s.Ring{Direction: s.Backward, By: s.KernelSignals}),
	"ColumnsNormedRing":     normedColumns(s.Ring{}),
	"ColumnsNormedPush":     normedColumns(s.Push{}),
	"ColumnsNormedPushRing": normedColumns(s.PushRing{By: s.KernelSignals}),
	"ColumnsNormedRoots":    normedColumns(s.Broadcast{}),
	"ExchangePush":          of("A[D/D D M] C[D D/D M]", s.Copy("C", "A", s.Scale(.5))).by("A", s.Push{}),
	"ExchangeCountedPush": of("A[D/D~ D M] C[D D/D~ M]", s.Copy("C", "A", s.Scale(.5))).
		by("A", s.Push{By: s.Kernels}),
	"ExchangeColumnsPush": of("A[M N/D] V[N] C[M/D N]", s.Copy("C", "A", s.RMSNorm("V"))).by("A", s.Push{}),
	"ExchangeRowsPush": of("A[M/D N] C[M N/D]", s.Copy("C", "A", s.Scale(.5))).by("A",
		s.Push{By: s.KernelSignals}),
	"CountedRing":     linear("A[M/D~ K] B[N K] C[M N]").by("A", s.Ring{}),
	"CountedPush":     linear("A[M/D~ K] B[N K] C[M N]").by("A", s.Push{By: s.Kernels}),
	"CountedPushRing": linear("A[M/D~P K] B[N K] C[M N]").by("A", s.PushRing{Direction: s.Backward}),
	"CountedRoots":    linear("A[M/D~P K] B[N K] C[M N]").by("A", s.Broadcast{}),
	"CountedKeptRing": of("A[M/D~P K] B[N K] C[M N] E[M K]", s.Linear("C", "A", "B"), s.Copy("E", "A")).
		by("A", s.Ring{}),
	"CountedLayerRing":      countedLayer(s.Ring{By: s.Kernels}),
	"CountedLayerPush":      countedLayer(s.Push{}),
	"CountedLayerPushRing":  countedLayer(s.PushRing{}),
	"CountedSumsRing":       linear("A[M K/D] B[N K/D] C[M/D~P N]").by("C", s.RingSum{}),
	"CountedSumsSlots":      linear("A[M K/D] B[N K/D] C[M/D~ N]").by("C", s.Slots{}),
	"CountedTermsSlots":     sum("A[D/D M N] C[M/D~P N]").by("C", s.Slots{By: s.OneKernel}),
	"CountedLayerSumsRing":  countedLayer(s.Ring{}).by("C", s.RingSum{}),
	"CountedLayerSumsSlots": countedLayer(s.Pull{}).by("C", s.Slots{By: s.Kernels}),
	"CountedLayerRoots":     countedLayer(s.Broadcast{By: s.KernelCopies}),
}

// TestComeWhole: they are proven and explored, as graphs too; TestAcceptedAreGreen runs their packages.
func TestComeWhole(t *testing.T) {
	for name, x := range comeWhole {
		b := lowering(lower.Lower).become(t, x.Schedule, []int{1, 2, 3, 4, 8}, true)
		if b.wrong != "" || !b.explored || !b.graph {
			t.Errorf("%s: %+v", name, b)
		}
	}
}
