package run

import "testing"

// Runs that are right within bounds are not counted as bit-exact.
func TestCounted(t *testing.T) {
	for want, rows := range map[string][]row{
		"bit-exact: 7 runs": {{Runs: 5, Result: bitExact}, {Runs: 2, Result: bitExact}},
		"bit-exact: 5, within bound: 3 runs": {{Runs: 2, Result: withinBound}, {Runs: 5, Result: bitExact},
			{Runs: 1, Result: withinBound}},
		"within bound: 2 runs": {{Runs: 2, Result: withinBound}},
	} {
		if got := counted(rows); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
