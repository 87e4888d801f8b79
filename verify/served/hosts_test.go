package served

import (
	"regexp"
	"strings"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// overHosts are chains whose rows and sums cross the network whole or in parts, and sums that every rank gets.
var overHosts = []struct {
	name string
	s.Schedule
	ways map[string]s.Way
}{
	{"sums in parts behind rows", catalog.TensorParallelMLP, map[string]s.Way{"C": s.Rails{Parts: 2}}},
	{"rows in parts, then sums", catalog.TensorParallelMLP, map[string]s.Way{"A": s.Rails{Parts: 3}}},
	{"rows and sums in parts", catalog.GatedMLP, map[string]s.Way{"A": s.Rails{Parts: 2}, "C": s.Rails{Parts: 2}}},
	{"sums in parts, with a residual", catalog.BlockBehindAttention, map[string]s.Way{"R": s.Rails{Parts: 3}}},
	{"normed rows in parts", catalog.LayerNormLinear, map[string]s.Way{"X": s.Rails{Parts: 2}}},
	{"a layer", catalog.LlamaLayer, map[string]s.Way{"R": s.Rails{Parts: 2}, "C": s.Rails{Parts: 2}}},
	{"sums for all behind rows", behindRows.Schedule, nil},
	{"sums for all in parts behind rows", behindRows.Schedule, map[string]s.Way{"C": s.Rails{Parts: 2}}},
	{"sums for all of rows in parts", behindRows.Schedule, map[string]s.Way{"A": s.Rails{Parts: 2}}},
	{"sums behind rows, and products of the same rows", of("A[M/D K] B[N/D K] W[K N/D] C[M/D K] B2[F/D K] U[M:D F/D]",
		s.Linear("H", "A", "B"), s.Linear("C", "H", "W"), s.Linear("U", "A", "B2")).Schedule, nil},
	{"sums for all, and on", D24FalconParallelTwoSums, nil},
	{"sums for all, and on", A14CommandRDecode, map[string]s.Way{"Pa": s.Rails{Parts: 2}}},
	{"sums for all, and on", P04MixtralDense, nil},
	{"two copies", of("E[P/D N2] C2[P N2] F[M/D K] G[M K]", s.Copy("C2", "E"), s.Copy("G", "F")).Schedule, nil},
	{"a copy, and products", of("E[P/D N2] C2[P N2] A[M/D K] B[F/D K] C[M:D F/D]", s.Copy("C2", "E"),
		s.Linear("C", "A", "B")).Schedule, map[string]s.Way{"A": s.Rails{Parts: 2}}},
	{"products, and a copy", of("A[M/D K] B[F/D K] C[M:D F/D] E[P/D N2] C2[P N2]", s.Linear("C", "A", "B"),
		s.Copy("C2", "E")).Schedule, nil},
	{"rows of an operation for the caller", of("A[M/D K] L[K] X[M K] B[F/D K] C[M:D F/D]",
		s.Copy("X0", "A", s.RMSNorm("L")), s.Copy("X", "X0"), s.Linear("C", "X0", "B")).Schedule, nil},
	{"rows in place", catalog.AllGatherInPlace, nil},
	{"weights of two products", shardedWeights.Schedule, nil},
	{"weights in parts", shardedWeights.Schedule, map[string]s.Way{"B": s.Rails{Parts: 2}, "B2": s.Rails{Parts: 3}}},
	{"a gradient's sums", gradient("A[M/D N] B[M/D K] C[N/D K]").Schedule, nil},
	{"a gradient's sums for all, in parts", gradient("A[M/D N] B[M/D K] C[N K]").Schedule,
		map[string]s.Way{"C": s.Rails{Parts: 2}}},
	{"both gradients under FSDP", shardedBackward.Schedule, map[string]s.Way{"Dw": s.Rails{Parts: 2}}},
	{"a gradient's operand", gradient("A[M N] B[M/D K] C[N K]").Schedule, nil},
	{"a gradient's first operand, in parts", gradient("A[M/D N] B[M K] C[N K]").Schedule,
		map[string]s.Way{"A": s.Rails{Parts: 2}}},
	{"sums in place", catalog.ReduceScatterInPlace, nil},
	{"all rows for the caller", of("A[M/D K] B[N K] Gathered[M:D K] C[M:D N]", s.Linear("C", "A", "B"),
		s.Copy("Gathered", "A")).Schedule, nil},
	{"all rows for the caller, in parts", of("A[M/D K] B[N K] Gathered[M:D K] C[M:D N]", s.Linear("C", "A", "B"),
		s.Copy("Gathered", "A")).Schedule, map[string]s.Way{"A": s.Rails{Parts: 2}}},
}

// behindRows is a product whose sums every rank gets, behind one of rows that are gathered.
var behindRows = of("A[M/D K] B[F/D K] B2[K F/D] C[M K]", s.Linear("H", "A", "B"), s.Linear("C", "H", "B2"))

// shardedWeights is an MLP whose weights are spread, as in FSDP, and come from their ranks.
var shardedWeights = mlp("A[M/D K] B[F/D K] B2[N/D F] C[M/D N]")

// shardedBackward is the backward pass of a layer whose weight and its gradient are spread.
var shardedBackward = of("Dy[M/D F] X[M/D K] Wt[K/D F] Dx[M/D K] Dw[F/D K] Total[F/D K]",
	s.Linear("Dx", "Dy", "Wt"), s.Gradient("Dw", "Dy", "X", s.Add("Total")))

// TestOverHosts: rails bring the rows of stages, and take their sums away, in parts and for all ranks.
func TestOverHosts(t *testing.T) {
	sampling.Test(t, 1, 3)
	for _, x := range overHosts {
		y := scheduletest.Clone(x.Schedule)
		y.Mesh, y.Moves = s.Hosts(), nil
		for of, way := range x.ways {
			y.Moves = append(y.Moves, s.Move{Of: of, Way: way})
		}
		isCrossed(t, x.name, y, 1, 2, 4, 6, 8)
	}
}

// TestSumsOverHostsGoOn: products begin while the sums before them cross the network. Two stages meet other hosts on
// one stream, so no wait keeps the device from what a peer needs.
func TestSumsOverHostsGoOn(t *testing.T) {
	for _, of := range []string{"two sums", "two all-reduces"} {
		p, err := lower.Lower("X", sweptForm(evenForms, of).onHosts().Schedule)
		if err != nil {
			t.Fatal(err)
		}
		waits := regexp.MustCompile(`(?m)^main: .*Synchronize.*nccl`).FindAllString(hostir.Print(p), -1)
		if len(waits) != 1 || !strings.HasSuffix(strings.TrimSpace(hostir.Print(p)), "# join") {
			t.Errorf("%s: waits for the network ahead of the end: %q", of, waits)
		}
		report, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 4, 6, 8}})
		if err != nil || !report.Replay() {
			t.Errorf("%s: no graph: %v", of, err)
		}
	}
}
