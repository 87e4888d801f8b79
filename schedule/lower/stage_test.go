package lower

import (
	"slices"
	"testing"

	"ovgen/schedule"
)

// TestStages names the communications of a single product that the writer of chains does, and those that it does not
// yet. Each has a way of one stage's, which sets all that the row reads.
func TestStages(t *testing.T) {
	links := []moves{gatherLink, reduceLink, allLink, gatherLinkHosts, reduceLinkHosts, allLinkHosts}
	for _, l := range lowerings {
		if slices.Contains(links, l.moves) {
			continue
		}
		if l.stage == nil {
			t.Logf("%s by %s: a writer of its own", l.moves, schedule.WayName(l.way))
			continue
		}
		t.Logf("%s by %s: a chain of one stage", l.moves, schedule.WayName(l.way))
		if l.write == nil && !slices.ContainsFunc(lowerings, func(x lowering) bool {
			return slices.Contains(links, x.moves) && x.takes(l.way)
		}) {
			t.Errorf("%s by %s: no chain goes this way", l.moves, schedule.WayName(l.way))
		}
	}
}
