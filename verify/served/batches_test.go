package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
)

// batchForm and batchLayer have rows in batches: a round takes those of all batches, or each batch has its own rounds,
// whose sums leave.
func batchForm(w s.Way) form { return linear("A[M*4/D K] B[N K] C[M*4:D N]").by("A", w) }
func batchLayer(w s.Way) form {
	return mlp("A[M*4/D K] B[F/D K] B2[N F/D] C[M:4/D N]").by("A", w)
}

// batchesKept also gives the caller the rows that come.
func batchesKept(w s.Way) form {
	f := of("A[M*4/D K] B[N K] C[M*4:D N] E[M K]", s.Linear("C", "A", "B"), s.Copy("E", "A"))
	if w != nil {
		f = f.by("A", w)
	}
	return f
}

// batchSums have sums that leave in batches.
func batchSums(w s.Way) form { return linear("A[M K/D] B[N K/D] C[M*4/D N]").by("C", w) }

// batchWays are ways of rows in batches.
var batchWays = map[string]form{
	"BatchesOnce":          batchForm(s.Pull{Once: true}),
	"BatchesPush":          batchForm(s.Push{}),
	"BatchesPushKernels":   batchForm(s.Push{By: s.Kernels, Streams: 2}),
	"BatchesRing":          batchForm(s.Ring{}),
	"BatchesRingWithStep":  batchForm(s.Ring{Direction: s.Backward, WithStep: true, By: s.Kernels}),
	"BatchesPushRing":      batchForm(s.PushRing{}),
	"BatchesRoots":         batchForm(s.Broadcast{}),
	"BatchesGrouped":       batchForm(s.Grouped{}),
	"BatchesNaive":         batchForm(s.Naive{Copied: true, SignalsInStep: true, HandlesInLoop: true}),
	"BatchesNaiveWithStep": batchForm(s.Naive{StartInLoop: true, WithStep: true}),
	"BatchesShot":          batchForm(s.GatherShot{}),
	"BatchesEightShot":     linear("A[M*4/D K] B[N/D K] C[M*4:D N/D]").eight(true, "A", "B").by("A", s.GatherShot{}),
	"BatchesEightPush":     linear("A[M*4/D K] B[N/D K] C[M*4:D N/D]").eight(false, "A", "B").by("A", s.Push{}),
	"StepsShot":            linear("A[M*4/D K] B[N K] C[M:4*D N]").by("A", s.GatherShot{}),
	"BatchesKept":          batchesKept(nil),
	"BatchesKeptRing":      batchesKept(s.Ring{}),
	"BatchesKeptNCCL":      batchesKept(s.NCCL{}),
	"BatchesNCCL":          batchForm(s.NCCL{}),
	"BatchSumsStaged":      batchSums(s.Staged{}),
	"BatchSumsStagedThree": batchSums(s.Staged{Buffers: 3, By: s.Kernels}),
	"BatchSumsRing":        batchSums(s.RingSum{}),
	"BatchSumsRingTwo":     batchSums(s.RingSum{Streams: 2, Signals: s.Kernels}),
	"BatchSumsRingNormed": of("A[M K/D] B[N K/D] V[N] R[M*4/D N] C[M*4/D N]", s.Linear("C", "A", "B", s.Add("R"),
		s.RMSNorm("V"))).by("C", s.RingSum{}),
	"BatchSumsAccumulate": batchSums(s.RingAccumulate{}),
	"BatchSumsAccumulateNormed": of("A[M K/D] B[N K/D] V[N] R[M*4/D N] C[M*4/D N]", s.Linear("C", "A", "B", s.Add("R"),
		s.RMSNorm("V"))).by("C", s.RingAccumulate{By: s.Kernels}),
	"BatchSumsStores": batchSums(s.Stores{Signals: s.MemOps}),
	"BatchSumsStoresNormed": of("A[M K/D] B[N K/D] V[N] R[M*4/D N] C[M*4/D N]", s.Linear("C", "A", "B", s.Add("R"),
		s.RMSNorm("V"))).by("C", s.Stores{Signals: s.Kernels}),
	"BatchSumsStores32":     of("A[M K/D] B[N K/D] C[M*4/D N]", s.Linear("C", "A", "B")).in32("C").by("C", s.Stores{}),
	"BatchLayerStores":      batchLayer(s.Push{}).by("C", s.Stores{}),
	"BatchLayerStoresThree": batchLayer(s.Pull{}).by("C", s.Stores{Streams: 3, Signals: s.MemOps}),
	"BatchLayerShotStores":  batchLayer(s.GatherShot{}).by("C", s.Stores{Signals: s.Kernels}),
	"BatchLayerShot":        batchLayer(s.GatherShot{}),
	"BatchLayerNCCL":        batchLayer(s.NCCL{}),
	"BatchLayerPush":        batchLayer(s.Push{}),
	"BatchLayerPushKernels": batchLayer(s.Push{By: s.Kernels}),
	"BatchLayerRing":        batchLayer(s.Ring{}),
	"BatchLayerRingStep":    batchLayer(s.Ring{Direction: s.Backward, WithStep: true}),
	"BatchLayerPushRing":    batchLayer(s.PushRing{By: s.Kernels}),
	"BatchLayerRoots":       batchLayer(s.Broadcast{}),
	"BatchesOverHosts":      batchForm(nil).onHosts(),
	"BatchesKeptOverHosts":  batchesKept(nil).onHosts(),
	"BatchesEightOverHosts": linear("A[M*4/D K] B[N/D K] C[M*4:D N/D]").eight(true, "A", "B").onHosts(),
	"BatchSumsOverHosts": of("A[M K/D] B[N K/D] V[N] R[M*4/D N] C[M*4/D N]", s.Linear("C", "A", "B", s.Add("R"),
		s.RMSNorm("V"))).onHosts(),
	"BatchLayerOverHosts": batchLayer(nil).onHosts(),
	"BatchLayerKeptOverHosts": of("A[M*2/D K] B[F/D K] U[F/D K] B2[N F/D] R[M*2/D N] C[M:2/D N] E[M K]",
		s.Linear("G", "A", "U"), s.Linear("H", "A", "B", s.SwiGLU("G")), s.Linear("C", "H", "B2", s.Add("R")),
		s.Copy("E", "A")).onHosts(),
}

// TestBatchWays: they are proven and explored; TestAcceptedAreGreen runs their packages.
func TestBatchWays(t *testing.T) {
	for name, x := range batchWays {
		b := lowering(lower.Lower).become(t, x.Schedule, []int{1, 2, 3, 4, 8}, true)
		if b.wrong != "" || !b.explored || !b.graph {
			t.Errorf("%s: %+v", name, b)
		}
	}
}
