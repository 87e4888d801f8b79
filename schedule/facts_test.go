package schedule_test

import (
	"testing"

	"ovgen/schedule"
)

// Every way is for something that travels or for sums, and says nothing of the other.
func TestFactsOfWays(t *testing.T) {
	for _, w := range schedule.Ways() {
		switch f := schedule.FactsOf(w); {
		case !f.Travels && !f.Sums:
			t.Errorf("%s is for nothing that travels, and for no sum", schedule.WayName(w))
		case !f.Sums && (f.Unordered || f.OneProduct || f.AllRows || f.TwoShots || f.Estimate != ""):
			t.Errorf("%s adds nothing up, and says how it adds: %+v", schedule.WayName(w), f)
		case !f.Travels && (f.Padded || f.AtOnce != ""):
			t.Errorf("by %s nothing travels, and it says how rows come: %+v", schedule.WayName(w), f)
		}
	}
	if f := schedule.FactsOf(schedule.Pull{Once: true}); f.AtOnce != "Once" {
		t.Errorf("Pull.Once says %+v", f)
	}
	for _, w := range []schedule.Way{nil, &schedule.Pull{}, (*schedule.Shot)(nil)} {
		if f := schedule.FactsOf(w); f != (schedule.Facts{}) {
			t.Errorf("%T has facts: %+v", w, f)
		}
	}
}
