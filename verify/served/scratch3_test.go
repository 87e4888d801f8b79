package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
)

func TestScratchAll(t *testing.T) {
	try := func(name string, x form) {
		if _, err := lower.Lower("X", x.Schedule); err != nil {
			t.Logf("%s: refused: %.300v", name, err)
			return
		}
		b := lowering(lower.Lower).become(t, x.Schedule, []int{1, 2, 3, 4, 8}, true)
		t.Logf("%s: %.500s %v", name, b.wrong, b.wrong == "" && b.proven && b.explored && b.graph)
	}
	for _, w := range s.Ways() {
		if !s.Sums(w) {
			continue
		}
		try("to all "+s.WayName(w), of("A[M*4/D K] V[K] B[F/D K] B2[N F/D] C[M N]",
			s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2")).by("C", w))
		try("to all, first "+s.WayName(w), of("O[M F/D] B2[N F/D] C[M N] A[M*4/D K] B[F/D K] E[M*4:D F/D]",
			s.Linear("C", "O", "B2"), s.Linear("E", "A", "B")).by("C", w))
	}
	try("columns for all", of("A[M*4/D K] B[F/D K] C[M F]", s.Linear("C", "A", "B")))
	try("columns for all", of("A[M*4/D K] V[K] B[F/D K] C[M F]", s.Copy("X", "A", s.RMSNorm("V")), s.Linear("C", "X", "B")))
	hosts := func(name string, x form) {
		x = x.onHosts()
		_, err := lower.Lower("X", x.Schedule)
		t.Logf("%s: %.300v", name, err)
		if err == nil {
			isCrossed(t, name, x.Schedule, 1, 2, 3, 4, 8)
		}
	}
	hosts("hosts norm", of("A[M*4/D K] V[K] B[F/D K] U[F/D K] B2[K F/D] C[M*4/D K]",
		s.Copy("X", "A", s.RMSNorm("V")), s.Linear("G", "X", "U"), s.Linear("H", "X", "B", s.SwiGLU("G")), s.Linear("C", "H", "B2", s.Add("A"))))
	hosts("hosts layer", of("A[M*4/D K] V[K] Wq[N/D K] Wo[K N/D] V2[K] R[M*4/D K] B[F/D K] U[F/D K] B2[K F/D] C[M*4/D K]",
		s.Copy("Y", "A", s.RMSNorm("V")), s.Linear("Q", "Y", "Wq"), s.Call("O", "Attn", "mn->mn", "Q"),
		s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("X", "R", s.RMSNorm("V2")), s.Linear("G", "X", "U"), s.Linear("H", "X", "B", s.SwiGLU("G")), s.Linear("C", "H", "B2", s.Add("R"))))
	hosts("hosts rows", of("A[M*4/D K] V[K] B[F/D K] C[M*4:D F/D]", s.Copy("X", "A", s.RMSNorm("V")), s.Linear("C", "X", "B")))
	hosts("hosts behind", of("O[M N/D] Wo[K N/D] A[M*4/D K] V[K] B[F/D K] B2[K F/D] C[M*4/D K]",
		s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("X", "R", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2", s.Add("R"))))
}
