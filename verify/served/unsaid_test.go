package served

import (
	"testing"

	s "ovgen/schedule"
)

// besideUneven are sums that nothing declares, which lie as the uneven rows beside them.
var besideUneven = []declared{
	{"U03", "with a residual by counts", of("O[M N/D] Wo[K N/D] A[M/D~ K] B[F/D K] C[M F/D]",
		attentionAndUp...), served},
	{"U04", "by counts, ahead of a norm", of("A[M/D~ K] Up[F/D K] Down[K F/D] V[K] C[M/D~ K]",
		layerAndNorm...), served},
	{"U05", "by counts, ahead of a norm for all ranks", of("A[M/D~ K] Up[F/D K] Down[K F/D] V[K] C[M K]",
		layerAndNorm...), served},
	{"U06", "by counts, ahead of a product", of("A[M/D~ K] Up[F/D K] Down[K F/D] W[N K] C[M N]",
		s.Linear("H", "A", "Up"), s.Linear("X", "H", "Down"), s.Linear("C", "X", "W")), served},
	{"U07", "balanced, ahead of a norm", balanced(balanced(of("A[M/D K] Up[F/D K] Down[K F/D] V[K] C[M/D K]",
		layerAndNorm...), "A"), "C"), served},
	{"U08", "balanced, ahead of a norm for all ranks", balanced(of("A[M/D K] Up[F/D K] Down[K F/D] V[K] C[M K]",
		layerAndNorm...), "A"), served},
	{"U09", "with a balanced residual", balanced(of("O[M N/D] Wo[K N/D] A[M/D K] B[F/D K] C[M F/D]",
		attentionAndUp...), "A"), served},
	{"U10", "of the caller's summands", of("A[D/D M N] R[M/D~ N] V[N] C[M/D~ N]", s.Sum("H", "A"),
		s.Copy("C", "H", s.RMSNorm("V"), s.Add("R"))), served},
}

var (
	layerAndNorm = []s.Op{s.Linear("H", "A", "Up"), s.Linear("X", "H", "Down"),
		s.Copy("C", "X", s.RMSNorm("V"))}
	attentionAndUp = []s.Op{s.Linear("R", "O", "Wo", s.Add("A")), s.Linear("C", "R", "B")}
)

// TestUndeclared: each is served, as both checkers find.
func TestUndeclared(t *testing.T) { explored(t, "Undeclared", besideUneven) }
