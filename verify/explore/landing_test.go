package explore_test

import (
	"testing"

	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
)

// Packets land in two halves: with one, a rank may post again before its peer has taken the packet before.
func TestHalves(t *testing.T) {
	for _, c := range []struct {
		halves int
		broke  explore.Property
	}{{2, ""}, {1, explore.OnePost}} {
		p, err := lower.Lower("AllReducePackets", catalog.AllReducePackets)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Buffers {
			if b := &p.Buffers[i]; b.Lands.Flags != "" {
				b.Lands.Halves = c.halves
			}
		}
		sys, err := explore.Of(p, explore.ShapeOf(p, 2), nil, explore.Eager, explore.Captured)
		if err != nil {
			t.Fatal(err)
		}
		if len(sys.Modes) != c.halves+1 {
			t.Errorf("%d halves: %d runs", c.halves, len(sys.Modes))
		}
		switch v := explore.Explore(sys); {
		case c.broke == "":
			safe(t, v)
		case !v.Broke(c.broke):
			t.Errorf("%d halves: it is not found that %q does not hold: %v", c.halves, c.broke, v.Violations)
		}
	}
}
