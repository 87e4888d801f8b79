package record_test

import (
	"slices"
	"strings"
	"testing"

	"ovgen/generated/programs"
	"ovgen/schedule/catalog"
	"ovgen/verify/harness"
	"ovgen/verify/record"
)

// made is the generated package of a schedule of the catalog.
func made(t *testing.T, schedule string) harness.Program {
	t.Helper()
	i := slices.IndexFunc(programs.All, func(p harness.Program) bool { return p.Name == strings.ToLower(schedule) })
	if i < 0 {
		t.Fatalf("there is no package of %s (go generate ./schedule/catalog)", schedule)
	}
	return programs.All[i]
}

// TestCatalog holds seven packages against the schedules of the catalog themselves: with kernels, with uneven parts and
// with an exchange in the loop. Each package's own test does as much for the choices that it was emitted with.
func TestCatalog(t *testing.T) {
	for _, n := range catalog.All() {
		if !slices.Contains([]string{"AllGatherLinearKernels", "AllGatherLinearHandlesInLoop",
			"AllReduceOneShot", "ReduceScatterV",
			"AllGatherVPadded", "AllToAllV", "Broadcast"}, n.Name) {
			continue
		}
		t.Run(n.Name, func(t *testing.T) {
			t.Parallel()
			p := made(t, n.Name)
			p.Schedule = n.Schedule
			record.Test(t, p)
		})
	}
}
