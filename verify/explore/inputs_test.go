package explore_test

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/explore"
)

// TestInputs: a weight that each rank has whole is the same on all ranks where rows travel that it has made, and each
// rank's own where they travel first.
func TestInputs(t *testing.T) {
	for _, x := range []struct {
		tensors string
		ops     []schedule.Op
		same    bool
	}{
		{"A[M/D K] B[N K] B2[N2/D N] C[M:D N2/D]",
			[]schedule.Op{schedule.Linear("H", "A", "B"), schedule.Linear("C", "H", "B2")}, true},
		{"A[M/D K] B[N K] C[M:D N]", []schedule.Op{schedule.Linear("C", "A", "B")}, false},
	} {
		p, err := lower.Lower("X", schedule.Schedule{Tensors: scheduletest.Tensors(x.tensors), Ops: x.ops})
		if err != nil {
			t.Fatal(err)
		}
		sys, err := explore.Of(p, explore.ShapeOf(p, 2), nil, explore.Eager)
		if err != nil {
			t.Fatal(err)
		}
		var values [][]explore.Number
		for _, m := range sys.Memory {
			if m.At.Buffer == "B" {
				values = append(values, m.Values(0))
			}
		}
		if len(values) != 2 || slices.Equal(values[0], values[1]) != x.same {
			t.Errorf("%s: two ranks have %v of B, the same: want %t", x.tensors, values, x.same)
		}
	}
}
