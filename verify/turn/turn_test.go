package turn

import (
	"slices"
	"testing"
)

// TestTakes: every part is taken once in so many turns, and all without a turn or where OVGEN_SOAK is set.
func TestTakes(t *testing.T) {
	taken := func() (list []int) {
		for i := range 7 {
			if Takes(i, 3) {
				list = append(list, i)
			}
		}
		return list
	}
	all := []int{0, 1, 2, 3, 4, 5, 6}
	t.Setenv(Soak, "")
	for turn, want := range map[string][]int{"": all, "x": all, "0": {0, 3, 6}, "4": {2, 5}, "8": {1, 4}} {
		t.Setenv(Env, turn)
		if got := taken(); !slices.Equal(got, want) {
			t.Errorf("turn %q takes %v, want %v", turn, got, want)
		}
	}
	t.Setenv(Soak, "1")
	if got := taken(); !slices.Equal(got, all) {
		t.Errorf("soaking takes %v", got)
	}
}
