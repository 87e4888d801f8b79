package plan

import (
	"fmt"
	"math/bits"
	"slices"
)

// maxElements of a buffer: their bytes fit into half of an int64.
const maxElements = 1 << 60

// checkElements refuses extents whose product is too large to be counted in bytes. No buffer has more elements than the
// product of the largest extents, one for each of its axes, times the ranks. It sorts the extents.
func checkElements(ranks, axes int, extents ...int) error {
	slices.Sort(extents)
	n := uint64(ranks)
	for _, x := range extents[max(len(extents)-axes, 0):] {
		high, low := bits.Mul64(n, uint64(x))
		if n = low; high > 0 || n > maxElements {
			return fmt.Errorf("extents of %d make too many elements for %d ranks (choose less: at most 2^60)", x, ranks)
		}
	}
	return nil
}
