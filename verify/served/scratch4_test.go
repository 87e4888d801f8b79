package served

import (
	"fmt"
	"os"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

func TestScratchPrint(t *testing.T) {
	forms := map[string]form{
		"columns": of("A[M*4/D K] B[F/D K] C[M F]", s.Linear("C", "A", "B")),
		"hosts": of("A[M*4/D K] V[K] B[F/D K] B2[K F/D] C[M*4/D K]",
			s.Copy("X", "A", s.RMSNorm("V")), s.Linear("H", "X", "B"), s.Linear("C", "H", "B2", s.Add("A"))).onHosts(),
		"hostrows": of("A[M*4/D K] V[K] B[F/D K] C[M*4:D F/D]", s.Copy("X", "A", s.RMSNorm("V")), s.Linear("C", "X", "B")).onHosts(),
		"cross": of("A[M*4/D K] Wq[N/D K] E[P/D K] Wk[N2/D K] Wo[K N/D] C[M*4/D K]",
		s.Linear("Q", "A", "Wq"), s.Linear("Keys", "E", "Wk"), s.Call("O", "Cross", "mq,pk->mq", "Q", "Keys"),
		s.Linear("C", "O", "Wo", s.Add("A"))),
		"hosts one": of("A[M*4/D K] B[F/D K] C[M*4:D F/D]", s.Linear("C", "A", "B")).onHosts(),
		"hosts sum": of("A[M*4/D K] B[F/D K] B2[N F/D] C[M*4/D N]", s.Linear("H", "A", "B"), s.Linear("C", "H", "B2")).onHosts(),
		"fsdp": of("A[M*4/D K] W0[F/D K] H[M*4/D F] V[F] B[N/D F] B2[K N/D] C[M*4/D K]",
			s.Linear("H", "A", "W0"), s.Copy("X", "H", s.RMSNorm("V")), s.Linear("Y", "X", "B"), s.Linear("C", "Y", "B2")),
	}
	p, err := lower.Lower("X", forms[os.Getenv("F")].Schedule)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(hostir.Print(p))
}
