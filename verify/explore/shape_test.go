package explore_test

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/explore"
)

// The shape that is explored has the multiples that the schedule states, and no two extents alike.
func TestShapeOfMultiples(t *testing.T) {
	s := scheduletest.Of("linear", scheduletest.Tensors("A[M/D K] B[N K] C[M:D N]")...)
	for _, multiples := range []map[schedule.Extent]string{nil, {"N": "8*D"}, {"K": "10", "N": "10"},
		{"M": "3", "K": "9*D", "N": "9*D"}} {
		s.Multiples = multiples
		p, err := lower.Lower("X", s)
		if err != nil {
			t.Fatal(err)
		}
		for ranks := 1; ranks <= 4; ranks++ {
			c := explore.ShapeOf(p, ranks)
			m, k, n := c.Extents["M"], c.Extents["K"], c.Extents["N"]
			if err := c.Fits(p); err != nil || m == k || k == n || m == n {
				t.Errorf("%v on %d ranks: M %d, K %d, N %d: %v", multiples, ranks, m, k, n, err)
			}
		}
	}
}
