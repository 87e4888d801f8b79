package served

import (
	"os"
	"slices"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/same"
)

// TestSame: the programs of the schedules that people declare do what they did, and so do schedules that differ from
// them in a field. Without OVGEN_SOAK few of these are lowered.
func TestSame(t *testing.T) {
	ranks, step := []int{1, 3, 4}, 1999
	if os.Getenv("OVGEN_SOAK") != "" {
		ranks, step = []int{1, 2, 3, 4, 5, 6, 7, 8}, 1
	}
	c, n := same.Tally{}, 0
	take := func(name string, x s.Schedule) {
		if err := c.Take(x, ranks...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	of := func(name string, x s.Schedule) {
		take(name, x)
		for _, changed := range scheduletest.EachOf(x, &n, step) {
			take(name+" "+changed.Name, changed.Schedule)
		}
	}
	for _, d := range slices.Concat(all, across, calls, casts, chains, functions, kernels, whole) {
		of(d.id, d.Schedule)
	}
	for _, e := range engines {
		of(e.name, e.Schedule)
	}
	t.Log(c)
}
