package lower_test

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// TestPartsOfHeads: where a part of each head is turned, New asks that it divides the head.
func TestPartsOfHeads(t *testing.T) {
	p, err := lower.Lower("X", schedule.Schedule{Tensors: scheduletest.Tensors("A[M N] Q[W] T[M 32] C[M N]"),
		Ops: []schedule.Op{schedule.Copy("H", "A", schedule.RMSNorm("Q").PerHead(schedule.W)),
			schedule.Copy("C", "H", schedule.RotaryOf(32, schedule.W, "T"))}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(p.Checks, hostir.Divide{Extent: schedule.W, By: "32"}) {
		t.Errorf("New asks %v", p.Checks)
	}
}
