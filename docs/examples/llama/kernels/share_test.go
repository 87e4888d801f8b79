package kernels_test

import (
	"slices"
	"testing"

	"ovgen/docs/examples/llama/kernels"
)

// TestShare counts the blocks of rows of 8 heads of keys on 132 multiprocessors, which hold 396 at the same time: equal
// rows have equal shares, a long one among short ones has all that it can have, and a row without others too.
func TestShare(t *testing.T) {
	rows := func(n, positions int, others ...int) []int {
		return append(others, slices.Repeat([]int{positions}, n)...)
	}
	p := kernels.Params{Keys: 8, Group: 4}
	for _, c := range []struct {
		positions []int
		first, at int // its share, and of all
	}{
		{rows(1, 2048), 16, 16 * 8}, {rows(8, 2048), 6, 8 * 6 * 8}, {rows(16, 2048), 3, 384}, {rows(16, 1), 3, 384},
		{rows(32, 2048), 3, 2 * 384}, {rows(64, 2048), 3, 4 * 384}, {rows(15, 100, 8192), 16, (16 + 15) * 8},
		{rows(64, 1, 1<<20), 3, (3 + 64) * 8}, {rows(63, 100, 8192), 4, (4 + 63) * 8},
	} {
		shares, all := p.Share(c.positions, 132), 0
		for _, n := range shares {
			if n < 1 || n > kernels.Stretches {
				t.Errorf("%d positions: a share is %d", c.positions, n)
			}
			all += n * p.Keys
		}
		if shares[0] != c.first || all != c.at {
			t.Errorf("%d positions: %d blocks, and %d in all; want %d and %d", c.positions, shares[0], all, c.first,
				c.at)
		}
	}
}
