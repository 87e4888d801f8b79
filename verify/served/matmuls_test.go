package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
)

// TestFetchedWeights: weights of several products that are spread over the ranks come whole, each before its product,
// while the rows stay where they are.
func TestFetchedWeights(t *testing.T) {
	provenAndExplored(t, map[string]s.Schedule{
		"three of one operand": P36FSDPQKV,
		"of two layers":        P37FSDPMLP,
		"along the sum": of("A[M/D K] B[N K/D] B2[F/D K] C[M/D N] C2[M/D F]", s.Linear("C", "A", "B"),
			s.Linear("C2", "A", "B2")).Schedule,
		"beside one that is whole": of("A[M/D K] B[F/D K] B2[N F] H[M/D F] C[M/D N]", s.Linear("H", "A", "B", s.SiLU()),
			s.Linear("C", "H", "B2")).Schedule,
		"behind a sum": of("A[M K/D] B[N K/D] B2[F/D N] C[M/D F]", s.Linear("X", "A", "B"),
			s.Linear("C", "X", "B2")).Schedule,
	})
}

// TestMatmulsOfChains: products of a chain by weights that lie as [K, N] are proven and explored, by whichever way the
// rows come and the sums leave, and beside linears.
func TestMatmulsOfChains(t *testing.T) {
	layers := of("A[M/D K] B[K F/D] B2[F/D N] C[M/D N]", s.Matmul("H", "A", "B"), s.Matmul("C", "H", "B2"))
	provenAndExplored(t, map[string]s.Schedule{
		"a tied embedding":         P18Tied,
		"biases":                   D22GPT2Conv1D,
		"a bias of rows that come": matmul("A[M/D K] B[K N/D] Bias[N/D] C[M:D N/D]").Schedule,
		"by slots":                 layers.Schedule,
		"by one shot":              layers.by("A", s.GatherShot{}).by("C", s.Shot{}).Schedule,
		"by packets":               layers.by("A", s.PushGather{}).by("C", s.PushShot{}).Schedule,
		"by NCCL":                  layers.by("A", s.NCCL{}).by("C", s.NCCL{}).Schedule,
		"to all": of("A[M/D K] B[K F/D] B2[F/D N] C[M N]", s.Matmul("H", "A", "B"),
			s.Matmul("C", "H", "B2")).Schedule,
		"beside a linear": of("A[M/D K] B[K F/D] B2[N F/D] C[M/D N]", s.Matmul("H", "A", "B"),
			s.Linear("C", "H", "B2")).Schedule,
	})
}

// provenAndExplored holds the programs of schedules for up to eight ranks.
func provenAndExplored(t *testing.T, list map[string]s.Schedule) {
	for name, x := range list {
		p, err := lower.Lower("X", x)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3, 4, 8}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if explored, err := explore.Small(p, []int{1, 2}, false); err != nil || len(explored) == 0 {
			t.Errorf("%s: explored for %v ranks: %v", name, explored, err)
		}
	}
}
