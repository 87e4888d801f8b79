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

// batchNormed has a norm ahead of what comes in batches, and one that adds own rows behind the sum.
func batchNormed() form {
	return of("A[M*4/D K] V[K] B[F/D K] U[F/D K] B2[K F/D] C[M*4/D K]", s.Copy("X", "A", s.RMSNorm("V")),
		s.Linear("G", "X", "U"), s.Linear("H", "X", "B", s.SwiGLU("G")), s.Linear("C", "H", "B2", s.Add("A")))
}

// batchDecoder is a decoder's layer of rows in batches, whose attention takes all of them.
func batchDecoder() form {
	return of("A[M*2/D K] V[K] Wq[N/D K] Wk[N2/D K] Wo[K N/D] V2[K] R[M*2/D K] B[F/D K] U[F/D K] B2[K F/D] C[M*2/D K]",
		s.Copy("Y", "A", s.RMSNorm("V")), s.Linear("Q", "Y", "Wq"), s.Linear("Keys", "Y", "Wk"),
		s.Call("O", "Attention", "mn,mk->mn", "Q", "Keys"), s.Linear("R", "O", "Wo", s.Add("A")),
		s.Copy("X", "R", s.RMSNorm("V2")), s.Linear("G", "X", "U"), s.Linear("H", "X", "B", s.SwiGLU("G")),
		s.Linear("C", "H", "B2", s.Add("R")))
}

// batchBehind begins with the sum behind attention.
func batchBehind() form {
	return of("O[M N/D] Wo[K N/D] A[M*4/D K] V[K] B[F/D K] B2[K F/D] C[M*4/D K]", s.Linear("R", "O", "Wo", s.Add("A")),
		s.Copy("X", "R", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2", s.Add("R")))
}

// batchForAll has sums that all ranks get, of rows in batches.
func batchForAll(w s.Way) form {
	return of("A[M*4/D K] V[K] B[F/D K] B2[N F/D] R[M N] C[M N]", s.Copy("X", "A", s.RMSNorm("V")),
		s.Linear("H", "X", "B"), s.Linear("C", "H", "B2", s.Add("R"))).by("C", w)
}

// batchWeights has weights that travel beside rows in batches.
func batchWeights(w s.Way) form {
	return of("A[M*4/D K] W0[F/D K] H[M*4/D F] V[F] B[N/D F] B2[K N/D] C[M*4/D K]", s.Linear("H", "A", "W0"),
		s.Copy("X", "H", s.RMSNorm("V")), s.Linear("Y", "X", "B"), s.Linear("C", "Y", "B2")).by("W0", w)
}

// batchesCross has a second input, whose rows are in batches or not.
func batchesCross(rows string) form {
	return of("A[M*4/D K] Wq[N/D K] E["+rows+" K] Wk[N2/D K] Wo[K N/D] C[M*4/D K]", s.Linear("Q", "A", "Wq"),
		s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A")))
}

// batchRotary has a table with a row for each of all batches' rows, ahead of attention.
func batchRotary() form {
	return of("A[M*4/D K] V[K] T[M W] Wq[N/D K] Wk[N2/D K] Wo[K N/D] C[M*4/D K]", s.Copy("X", "A", s.RMSNorm("V")),
		s.Linear("Q", "X", "Wq", s.Rotary("T")), s.Linear("Keys", "X", "Wk", s.Rotary("T")),
		s.Call("O", "Attention", "mn,mk->mn", "Q", "Keys"), s.Linear("C", "O", "Wo", s.Add("A")))
}

// batchesApart are a layer of rows in batches and one of others.
func batchesApart(sums string) form {
	return of("A[M*4/D K] B[F/D K] B2[N F/D] C[M*4/D N] E[P/D K] B3[F/D K] B4[N F/D] "+sums, s.Linear("H", "A", "B"),
		s.Linear("C", "H", "B2"), s.Linear("I", "E", "B3"), s.Linear("G", "I", "B4"))
}

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
	"BatchSumsStores32":     linear("A[M K/D] B[N K/D] C[M*4/D N]").in32("C").by("C", s.Stores{}),
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
	"BatchNormed":           batchNormed(),
	"BatchNormedPush":       batchNormed().by("X", s.Push{}).by("C", s.Stores{}),
	"BatchNormedRing":       batchNormed().by("X", s.Ring{}).by("C", s.Stores{Streams: 3}),
	"BatchNormedPushRing":   batchNormed().by("X", s.PushRing{}).by("C", s.Shot{}),
	"BatchNormedNCCL":       batchNormed().by("X", s.NCCL{}).by("C", s.NCCL{}),
	"BatchNormedRoots":      batchNormed().by("X", s.Broadcast{}).by("C", s.Slots{Streams: 2}),
	"BatchNormedShot":       batchNormed().by("X", s.GatherShot{}).by("C", s.Shot{Signals: s.Kernels}),
	"BatchNormedOverHosts":  batchNormed().onHosts(),
	"BatchDecoder":          batchDecoder(),
	"BatchDecoderPush":      batchDecoder().by("Y", s.Push{}).by("R", s.Stores{}).by("X", s.Ring{}),
	"BatchDecoderOverHosts": batchDecoder().onHosts(),
	"BatchBehind":           batchBehind(),
	"BatchBehindStaged":     batchBehind().by("R", s.Staged{}),
	"BatchBehindRing":       batchBehind().by("R", s.RingAccumulate{}).by("X", s.PushRing{}),
	"BatchBehindOverHosts":  batchBehind().onHosts(),
	"BatchForAll":           batchForAll(nil),
	"BatchForAllTwo":        batchForAll(s.TwoShot{}),
	"BatchForAllPush":       batchForAll(s.PushShot{}),
	"BatchForAllPushTwo":    batchForAll(s.PushTwoShot{}),
	"BatchForAllNCCL":       batchForAll(s.NCCL{}),
	"BatchWeights":          batchWeights(nil),
	"BatchWeightsPush":      batchWeights(s.Push{}),
	"BatchWeightsShot":      batchWeights(s.GatherShot{}),
	"BatchesCross":          batchesCross("P*4/D"),
	"BatchesBesideRows":     batchesCross("P/D").by("E", s.Push{}),
	"BatchesColumns": of("A[M*4/D K] V[K] B[F/D K] C[M F]", s.Copy("X", "A", s.RMSNorm("V")),
		s.Linear("C", "X", "B")),
	"BatchWeightsOverHosts":   batchWeights(nil).onHosts(),
	"BatchesCrossOverHosts":   batchesCross("P*4/D").onHosts(),
	"BatchesBesideOverHosts":  batchesCross("P/D").onHosts(),
	"BatchesColumnsOverHosts": linear("A[M*4/D K] B[F/D K] C[M F]").onHosts(),
	"BatchRotary":             batchRotary(),
	"BatchRotaryPush":         batchRotary().by("X", s.Push{}).by("C", s.Shot{}),
	"BatchRotaryOverHosts":    batchRotary().onHosts(),
	"BatchRotaryOwn": of("A[M*4/D K] T[M*4/D W] B[F/D K] B2[K F/D] C[M*4/D K]", s.Copy("X", "A", s.Rotary("T")),
		s.Linear("H", "X", "B"), s.Linear("C", "H", "B2")),
	"BatchRotarySums":       of("O[M N/D] Wo[K N/D] T[M*4/D W] C[M*4/D K]", s.Linear("C", "O", "Wo", s.Rotary("T"))),
	"BatchRotarySteps":      of("A[M*4/D K] T[M W] Wq[N/D K] C[M:4*D N/D]", s.Linear("C", "A", "Wq", s.Rotary("T"))),
	"BatchesApart":          batchesApart("G[P/D N]"),
	"BatchesApartShot":      batchesApart("G[P/D N]").by("E", s.PushGather{}).by("G", s.Shot{}),
	"BatchesApartNCCL":      batchesApart("G[P/D N]").by("E", s.NCCL{}).by("G", s.NCCL{}),
	"BatchesApartForAll":    batchesApart("G[P N]"),
	"BatchesApartForAllTwo": batchesApart("G[P N]").by("G", s.PushTwoShot{}),
	"BatchesApartOverHosts": batchesApart("G[P/D N]").onHosts(),
	"BatchesApartSteps": of("A[M*4/D K] B[F/D K] C[M*4:D F/D] E[P/D K] B3[F/D K] G[P:D F/D]", s.Linear("G", "E", "B3"),
		s.Linear("C", "A", "B")),
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
