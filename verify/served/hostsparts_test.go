package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
)

// partsOverHosts have rows of ranks that differ, which hosts exchange: a rank sends other bytes than it gets.
var partsOverHosts = map[string]form{
	"BalancedOverHosts": linear("A[M/D~ K] B[N K] C[M N]").inBalance().onHosts(),
	"BalancedKeptOverHosts": of("A[M/D~ K] B[N/D K] B2[N2/D K] C[M N/D] C2[M N2/D] E[M K]", s.Linear("C", "A", "B", s.SiLU()),
		s.Linear("C2", "A", "B2"), s.Copy("E", "A")).inBalance().onHosts(),
	"BalancedSumsOverHosts": of("A[M K/D] B[N K/D] R[M/D~ N] V[N] C[M/D~ N]", s.Linear("C", "A", "B", s.Add("R"),
		s.RMSNorm("V"))).inBalance().onHosts(),
	"BalancedNormedOverHosts": of("A[M/D~ K] V[K] Gate[F/D K] Up[F/D K] C[M F/D]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("U", "X", "Up"), s.Linear("C", "X", "Gate", s.SwiGLU("U"))).
		inBalance().onHosts(),
	"BalancedEightOverHosts": linear("A[M/D~ K] B[N/D K] C[M N/D]").eight(true, "A", "B").inBalance().onHosts(),
}

// TestPartsOverHosts: they are proven and explored; TestAcceptedAreGreen runs their packages.
func TestPartsOverHosts(t *testing.T) {
	for name, x := range partsOverHosts {
		b := lowering(lower.Lower).become(t, x.Schedule, []int{1, 2, 3, 4, 6, 8}, true)
		if b.wrong != "" || !b.explored || !b.graph {
			t.Errorf("%s: %+v", name, b)
		}
	}
}
