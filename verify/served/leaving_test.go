package served

import (
	"testing"

	s "ovgen/schedule"
)

// leaving are ways by which terms of sums leave.
var leaving = []struct {
	name string
	form
	of   string
	ways []s.Way
}{
	{"own rows of the caller's terms", sum("A[D/D M N] C[M/D N]"), "C",
		[]s.Way{s.Slots{}, s.Slots{By: s.Kernels}, s.Slots{By: s.OneKernel}}},
	{"all rows of the caller's terms", sum("A[D/D M N] C[M N]"), "C",
		[]s.Way{s.Slots{}, s.Slots{By: s.KernelSignals}, s.Slots{Parts: 3}, s.Slots{Parts: 2, By: s.Kernels}}},
}

// TestLeaving: terms of sums leave by each way that a chain has for them.
func TestLeaving(t *testing.T) {
	for _, x := range leaving {
		for _, way := range x.ways {
			isCrossed(t, x.name, x.by(x.of, way).Schedule, 1, 2, 3, 4, 5, 6, 7, 8)
		}
	}
}
