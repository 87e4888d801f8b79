package plan

import (
	"math"
	"testing"
)

func TestCheckElements(t *testing.T) {
	const most = 1 << 30
	for _, c := range []struct {
		ranks   int
		extents []int
		ok      bool
	}{
		{1, nil, true},
		{8, []int{4096, 8192, 11008}, true},
		{1, []int{most, most}, true},
		{1, []int{most, 4, most}, true},
		{2, []int{most, most}, false},
		{8, []int{4, most, most - 1}, false},
		{16, []int{most, most}, false}, // 0 in 64 bits
		{1, []int{most, most + 1}, false},
		{1 << 20, []int{math.MaxInt, math.MaxInt}, false},
		{1 << 10, []int{most}, true},
	} {
		if err := checkElements(c.ranks, c.extents...); (err == nil) != c.ok {
			t.Errorf("%d ranks, %v: %v", c.ranks, c.extents, err)
		}
	}
}
