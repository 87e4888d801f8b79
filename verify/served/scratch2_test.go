package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
)

func TestScratchWays(t *testing.T) {
	mk := map[string]func() form{
		"norm": func() form {
			return of("A[M*4/D K] V[K] B[F/D K] U[F/D K] B2[K F/D] C[M*4/D K]",
				s.Copy("X", "A", s.RMSNorm("V")), s.Linear("G", "X", "U"), s.Linear("H", "X", "B", s.SwiGLU("G")), s.Linear("C", "H", "B2", s.Add("A")))
		},
		"layer": func() form {
			return of("A[M*4/D K] V[K] Wq[N/D K] Wo[K N/D] V2[K] R[M*4/D K] B[F/D K] U[F/D K] B2[K F/D] C[M*4/D K]",
				s.Copy("Y", "A", s.RMSNorm("V")), s.Linear("Q", "Y", "Wq"), s.Call("O", "Attn", "mn->mn", "Q"),
				s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("X", "R", s.RMSNorm("V2")), s.Linear("G", "X", "U"), s.Linear("H", "X", "B", s.SwiGLU("G")), s.Linear("C", "H", "B2", s.Add("R")))
		},
		"two": func() form {
			return of("A[M*4/D K] B[F/D K] B2[K F/D] B3[F/D K] B4[K F/D] X[M*4/D K] C[M*4/D K]",
				s.Linear("H", "A", "B"), s.Linear("X", "H", "B2"), s.Linear("H2", "X", "B3"), s.Linear("C", "H2", "B4"))
		},
		"behind": func() form {
			return of("O[M N/D] Wo[K N/D] A[M*4/D K] V[K] B[F/D K] B2[K F/D] C[M*4/D K]",
				s.Linear("R", "O", "Wo", s.Add("A")), s.Copy("X", "R", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2", s.Add("R")))
		},
		"rows": func() form {
			return of("A[M*4/D K] V[K] B[F/D K] C[M*4:D F/D]", s.Copy("X", "A", s.RMSNorm("V")), s.Linear("C", "X", "B"))
		},
	}
	travels := map[string][2][]string{"norm": {{"X"}, {"C"}}, "layer": {{"Y", "X"}, {"R", "C"}}, "two": {{"A", "X"}, {"X", "C"}}, "behind": {{"X"}, {"R", "C"}}, "rows": {{"X"}, {}}}
	for name, f := range mk {
		for gs := 0; gs < 2; gs++ {
			for _, w := range s.Ways() {
				x := f()
				for _, of := range travels[name][gs] {
					x = x.by(of, w)
				}
				if _, err := lower.Lower("X", x.Schedule); err != nil {
					t.Logf("%s %d %T: refused: %v", name, gs, w, err)
					continue
				}
				b := lowering(lower.Lower).become(t, x.Schedule, []int{1, 2, 3, 4, 8}, true)
				if len(b.wrong) > 1000 {
					b.wrong = b.wrong[:1000]
				}
				t.Logf("%s %d %T: %+v", name, gs, w, b)
			}
			if name == "layer" {
				break
			}
		}
	}
}
