package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
)

// TestMatmulsOfChains: products of a chain by weights that lie as [K, N] are proven and explored, by whichever way the
// rows come and the sums leave, and beside linears.
func TestMatmulsOfChains(t *testing.T) {
	layers := of("A[M/D K] B[K F/D] B2[F/D N] C[M/D N]", s.Matmul("H", "A", "B"), s.Matmul("C", "H", "B2"))
	for name, x := range map[string]s.Schedule{
		"a tied embedding": P18Tied,
		"by slots":         layers.Schedule,
		"by one shot":      layers.by("A", s.GatherShot{}).by("C", s.Shot{}).Schedule,
		"by packets":       layers.by("A", s.PushGather{}).by("C", s.PushShot{}).Schedule,
		"by NCCL":          layers.by("A", s.NCCL{}).by("C", s.NCCL{}).Schedule,
		"to all": of("A[M/D K] B[K F/D] B2[F/D N] C[M N]", s.Matmul("H", "A", "B"),
			s.Matmul("C", "H", "B2")).Schedule,
		"beside a linear": of("A[M/D K] B[K F/D] B2[N F/D] C[M/D N]", s.Matmul("H", "A", "B"),
			s.Linear("C", "H", "B2")).Schedule,
	} {
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
