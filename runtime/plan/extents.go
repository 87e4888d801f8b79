package plan

import (
	"fmt"
	"math/bits"
	"slices"
)

// maxElements of a buffer: their bytes fit an int64 twice over.
const maxElements = 1 << 60

// checkElements refuses extents that make more elements than can be counted in bytes: no
// buffer has more than the two largest extents times the ranks. Each extent is at least 1.
func checkElements(ranks int, extents ...int) error {
	largest := append([]int{1, 1}, extents...)
	slices.Sort(largest)
	x, y := largest[len(largest)-1], largest[len(largest)-2]
	high, n := bits.Mul64(uint64(x), uint64(y))
	over, n := bits.Mul64(n, uint64(ranks))
	if high > 0 || over > 0 || n > maxElements {
		return fmt.Errorf("extents of %d and %d make too many elements for %d ranks: more than 2^60 "+
			"(choose smaller extents)", x, y, ranks)
	}
	return nil
}
