package lower_test

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// TestGradientBesideSums: a gradient takes all rows at once, also of an operand of which sums are made rank by rank.
// The prover follows no operand that is cut in two ways, so no table of served schedules has this one.
func TestGradientBesideSums(t *testing.T) {
	s := schedule.Schedule{
		Tensors: scheduletest.Tensors("B[M P/D] W[M K] H[P/D K] B2[N P/D] C[M N]"),
		Ops:     []schedule.Op{schedule.Gradient("H", "B", "W"), schedule.Linear("C", "B", "B2")},
	}
	p, err := lower.Lower("X", s)
	if err != nil {
		t.Fatal(err)
	}
	var made []string
	hostir.Steps(p.Body, func(x hostir.Step) {
		if x.Result().Buffer == "H" {
			made = append(made, x.Result().String())
		}
	})
	if len(made) != 1 || made[0] != hostir.Whole("H").String() {
		t.Errorf("H is made by %q, want it whole by one step", made)
	}
}
