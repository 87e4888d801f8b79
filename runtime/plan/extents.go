package plan

import (
	"fmt"
	"math/bits"
	"slices"
)

// maxElements of a buffer: their bytes fit an int64 twice over.
const maxElements = 1 << 60

// checkElements refuses extents that make more elements than can be counted in bytes: no buffer has more than the
// largest extents, as many as it has axes, times the ranks. It sorts the extents.
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
