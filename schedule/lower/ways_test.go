package lower_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule"
	"ovgen/schedule/lower"
)

// Every way that a schedule can name does some communication, and no other is lowered.
func TestWaysAreLowered(t *testing.T) {
	var named, lowered []string
	for _, w := range schedule.Ways() {
		named = append(named, schedule.WayName(w))
	}
	for _, c := range lower.Table() {
		for _, w := range c.Ways {
			lowered = append(lowered, schedule.WayName(w))
		}
	}
	slices.Sort(named)
	slices.Sort(lowered)
	if diff := cmp.Diff(named, slices.Compact(lowered)); diff != "" {
		t.Errorf("-named +lowered:\n%s", diff)
	}
}
