package plan

import (
	"math"
	"testing"
)

func TestCheckElements(t *testing.T) {
	const most = 1 << 30
	for _, c := range []struct {
		ranks   int
		axes    int
		extents []int
		ok      bool
	}{
		{1, 2, nil, true},
		{8, 2, []int{4096, 8192, 11008}, true},
		{1, 2, []int{most, most}, true},
		{1, 2, []int{most, 4, most}, true},
		{2, 2, []int{most, most}, false},
		{8, 2, []int{4, most, most - 1}, false},
		{16, 2, []int{most, most}, false}, // 0 in 64 bits
		{1, 2, []int{most, most + 1}, false},
		{1 << 20, 2, []int{math.MaxInt, math.MaxInt}, false},
		{1 << 10, 2, []int{most}, true},
		{8, 3, []int{1 << 10, most, 1 << 17}, true},
		{8, 3, []int{1 << 11, most, 1 << 17}, false},
		{1, 4, []int{most, most, most, most}, false}, // 0 in 64 bits
	} {
		if err := checkElements(c.ranks, c.axes, c.extents...); (err == nil) != c.ok {
			t.Errorf("%d ranks, %d axes, %v: %v", c.ranks, c.axes, c.extents, err)
		}
	}
}
