package lower_test

import (
	"strings"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// Each field of the kernel of a call shows in the program, or is refused.
func TestKernelOfCall(t *testing.T) {
	s := schedule.Schedule{Tensors: scheduletest.Tensors("A[M K] W[N/D K] Wo[K N/D] C[M K]"), Ops: []schedule.Op{
		schedule.Linear("H", "A", "W"), schedule.CallKernel("O", "Scale", "mn->mn", schedule.Kernel{File: "own.cu",
			Name: "scale", Blocks: "M*(N/D)/256", Threads: 64, Args: []string{"M - 1"}}, "H"),
		schedule.Linear("C", "O", "Wo")}, Multiples: map[schedule.Extent]string{"M": "256"}}
	p, err := lower.Lower("X", s)
	if err != nil {
		t.Fatal(err)
	}
	text, tried := hostir.Print(p), 0
	const want = "Call Scale(O, H) by scale(M - 1) of own.cu, M*(N/D)/256 x 64 threads"
	if !strings.Contains(text, want) {
		t.Errorf("got\n%swant %s", text, want)
	}
	for _, c := range scheduletest.Changes(s) {
		if !strings.HasPrefix(c.Name, "Ops[1].Kernel.") {
			continue
		}
		tried++
		p, err := lower.Lower("X", c.Schedule)
		switch {
		case err != nil && !strings.Contains(err.Error(), "Ops[1].Kernel"):
			t.Errorf("%s: %v", c.Name, err)
		case err == nil && hostir.Print(p) == text:
			t.Errorf("%s: the program is the same", c.Name)
		}
	}
	if tried != 6 {
		t.Errorf("%d changes of the kernel were tried, want 6", tried)
	}
}
