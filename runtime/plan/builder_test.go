package plan

import (
	"slices"
	"testing"

	"ovgen/runtime/driver"
)

// Priorities fall from below the highest to the lowest, and stay there.
func TestFallingStreams(t *testing.T) {
	for _, test := range []struct {
		first, n int
		want     []driver.Priority
	}{
		{1, 9, []driver.Priority{4, 3, 2, 1, 0, 0, 0, 0}},
		{0, 3, []driver.Priority{4, 3, 2}},
		{2, 2, nil},
	} {
		b := &Builder{plan: &Plan{}}
		var got []driver.Priority
		for i, s := range b.FallingStreams("work", test.first, test.n) {
			if (s == nil) != (i < test.first) {
				t.Errorf("stream %d of %d..%d: %v", i, test.first, test.n, s)
			}
			if s != nil {
				got = append(got, s.priority)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("streams %d to %d: priorities %v, want %v", test.first, test.n, got, test.want)
		}
	}
}
