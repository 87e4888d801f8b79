package sampling

import (
	"slices"
	"testing"
)

// TestTakes: each number takes a part, and so many numbers all; without one, or where OVGEN_SOAK is set, all are taken.
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
	for number, want := range map[string][]int{"": all, "x": all, "0": {0, 3, 6}, "4": {2, 5}, "8": {1, 4}} {
		t.Setenv(Env, number)
		if got := taken(); !slices.Equal(got, want) {
			t.Errorf("%q takes %v, want %v", number, got, want)
		}
	}
	t.Setenv(Soak, "1")
	if got := taken(); !slices.Equal(got, all) {
		t.Errorf("soaking takes %v", got)
	}
}
