package served

import (
	"strings"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// fsdp is a gated MLP of own rows whose weights are spread over the ranks by their rows, and travel.
func fsdp(ops ...s.Op) form {
	return of("A[M/D K] Up[F/D K] Gate[F/D K] Down[K/D F] C[M/D K]", ops...)
}

// TestWeightsTravel: what stands between weights that travel is of own rows, declared or not.
func TestWeightsTravel(t *testing.T) {
	up, down := s.Linear("H", "A", "Up", s.GELU()), s.Linear("C", "H", "Down", s.Add("A"))
	gate := s.Linear("G", "A", "Gate")
	gated := s.Linear("H", "A", "Up", s.SwiGLU("G"))
	explored(t, "Weights", []declared{
		{"declared", "both travel", of("A[M/D K] Up[F/D K] Down[K/D F] H[M/D F] C[M/D K]", up, down), served},
		{"not declared", "both travel", of("A[M/D K] Up[F/D K] Down[K/D F] C[M/D K]", up, down), served},
		{"gated", "three travel", fsdp(gate, gated, down), served},
		{"three products", "all travel", of("A[M/D K] Up[F/D K] Down[K/D F] W[N/D K] C[M/D N]", up,
			s.Linear("X", "H", "Down"), s.Linear("C", "X", "W")), served},
		{"also summed", "one reader takes columns", of("A[M/D K] Up[F/D K] Down[K/D F] W[N F/D] C[M/D K] C2[M/D N]", up,
			down, s.Linear("C2", "H", "W")), at("Tensors[2]", "H is spread along what is summed over")},
	})
}

// Two layers whose weights travel: of rows that are there, of sums that leave before, and behind a layer whose weights
// stay.
var (
	twoLayers = of("A[M/D K] Up[F/D K] Down[K/D F] C[M/D K]", s.Linear("H", "A", "Up", s.GELU()),
		s.Linear("C", "H", "Down", s.Add("A")))
	behindSums = of("A[M K/D] B[K K/D] X[M/D K] Up[F/D K] Down[K/D F] C[M/D K]", s.Linear("X", "A", "B"),
		s.Linear("H", "X", "Up", s.GELU()), s.Linear("C", "H", "Down", s.Add("X")))
	oneBehindSums = of("A[M K/D] B[K K/D] X[M/D K] Up[F/D K] C[M/D F]", s.Linear("X", "A", "B"),
		s.Linear("C", "X", "Up"))
	behindLayer = of("A[M/D K] W1[N/D K] W2[K N/D] X[M/D K] Up[F/D K] Down[K/D F] C[M/D K]", s.Linear("T", "A", "W1"),
		s.Linear("X", "T", "W2"), s.Linear("H", "X", "Up", s.GELU()), s.Linear("C", "H", "Down", s.Add("X")))
)

// weightsBy are such layers whose weights come by a way.
func weightsBy(x form, way s.Way) form { return x.by("Up", way).by("Down", way) }

// TestWeightsBesideTheLayerBefore: by each way the weights of a layer come while the one before is made, and of rows
// that are there from the beginning no copy waits for a product.
func TestWeightsBesideTheLayerBefore(t *testing.T) {
	sampling.Test(t, 0, 2)
	for _, way := range []s.Way{s.Pull{}, s.Push{}, s.Ring{}, s.PushRing{}, s.Broadcast{}, s.NCCL{}, s.GatherShot{},
		s.PushGather{}} {
		for _, x := range []form{twoLayers, behindSums, behindLayer} {
			x = weightsBy(x, way)
			isCrossed(t, "weights", x.Schedule, 1, 2, 3, 4, 8)
			p, err := lower.Lower("Weights", x.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			_, behind, _ := strings.Cut(hostir.Print(p), "Linear(H, ")
			_, behind, _ = strings.Cut(behind, "\n")
			if comes, _, _ := strings.Cut(behind, "Downgathered"); strings.Contains(comes, "Synchronize(main)") ||
				strings.HasSuffix(comes, "main:   nccl{AllGather(") {
				t.Errorf("by %T weights wait for the product ahead of theirs:\n%s", way, hostir.Print(p))
			}
		}
		p, err := lower.Lower("Weights", weightsBy(twoLayers, way).Schedule)
		if err != nil {
			t.Fatal(err)
		}
		report, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2, 4}})
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range report.Sizes {
			for _, w := range size.Warnings {
				t.Errorf("by %T: %v", way, w)
			}
		}
	}
}

// TestWeightsByOtherWays: weights of one program come by any two ways, also behind sums by a third one.
func TestWeightsByOtherWays(t *testing.T) {
	sampling.Test(t, 1, 3)
	ways := []s.Way{s.Pull{}, s.Push{}, s.Ring{}, s.PushRing{}, s.Broadcast{}, s.NCCL{}, s.GatherShot{}, s.PushGather{}}
	for _, up := range ways {
		for _, down := range ways {
			isCrossed(t, "weights", twoLayers.by("Up", up).by("Down", down).Schedule, 1, 2, 3, 4)
		}
		for _, sum := range []s.Way{s.Slots{}, s.Stores{}, s.Shot{}, s.PushShot{}, s.RingSum{}, s.NCCL{}} {
			isCrossed(t, "weights behind sums", weightsBy(behindSums, up).by("X", sum).Schedule, 1, 2, 3, 4)
			isCrossed(t, "a weight behind sums", oneBehindSums.by("Up", up).by("X", sum).Schedule, 1, 2, 3, 4)
		}
	}
}

// TestKernelsOfWeightsDoNotOutrank: a kernel that brings weights beside products has no higher priority than these.
func TestKernelsOfWeightsDoNotOutrank(t *testing.T) {
	for _, way := range []s.Way{s.GatherShot{}, s.PushGather{}, s.Pull{By: s.Kernels}} {
		p, err := lower.Lower("Weights", weightsBy(twoLayers, way).Schedule)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range p.Streams {
			if set.High {
				t.Errorf("by %T the stream %s is of high priority", way, set.Name)
			}
		}
	}
}
