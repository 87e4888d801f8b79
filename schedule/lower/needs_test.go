package lower

import (
	"slices"
	"testing"

	"ovgen/schedule"
)

// TestNeeds: the table of communications and that of ways have each other's.
func TestNeeds(t *testing.T) {
	for _, n := range needs {
		if !slices.ContainsFunc(lowerings, func(l lowering) bool { return l.need == n.need }) {
			t.Errorf("no way does the %s", n)
		}
	}
	for _, l := range lowerings {
		if !slices.ContainsFunc(needs, func(n placedNeed) bool { return n.need == l.need }) {
			t.Errorf("%T does the %s, and no placements ask for it", l.way, l.need)
		}
	}
}

// TestHoles: where a way does not do a communication of its kind, a fact says why.
func TestHoles(t *testing.T) {
	for _, n := range needs {
		for _, w := range schedule.Ways() {
			does := slices.ContainsFunc(lowerings, func(l lowering) bool { return l.need == n.need && l.takes(w) })
			if why := whyNot(n.need, w); !does && why == "" {
				t.Errorf("nothing says why the %s does not go by %s", n.need, schedule.WayName(w))
			}
		}
	}
}
