package harness

import (
	"strings"
	"testing"

	"ovgen/runtime/plan"
	"ovgen/schedule"
)

// Errors of plans name the ways that have the facts of what they ask for.
func TestWaysInErrors(t *testing.T) {
	plain := schedule.WaysThat(func(f schedule.Facts) bool { return f.Advised && !f.Lands })
	library := schedule.WaysThat(func(f schedule.Facts) bool { return f.Library })
	neighbours := schedule.WaysThat(func(f schedule.Facts) bool { return f.Neighbours })
	for _, x := range []struct {
		err  error
		want string
	}{
		{&plan.ApartError{}, "use a schedule by " + library + ")"},
		{&plan.ApartError{Ring: true}, "use a schedule by " + library + ", or by " + neighbours + ", which"},
		{&plan.BlocksError{}, "such as one by " + plain + ")"},
		{&plan.RoomError{}, "such as one by " + plain},
		{&plan.CapabilityError{}, "such as one by " + plain + ")"},
	} {
		if text := x.err.Error(); !strings.Contains(text, x.want) {
			t.Errorf("%q does not contain %q", text, x.want)
		}
	}
}
