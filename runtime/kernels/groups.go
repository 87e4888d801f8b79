package kernels

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// Groups of tiles of one rank's rows leave, and are awaited, by a word each. They are rectangles of the result, the same
// on all ranks, whatever tiles each takes.
type groups struct{ rows, columns int } // of one

// MostGroups is how many groups of tiles the rows of a rank have at most: each has a word for each peer, as blocks that
// signal each for itself have, and a count word of the stream.
func MostGroups(ranks int) int {
	return min(plan.MostBlocks, (group.CountWords-1)/max(ranks-1, 1))
}

// groups are those of a product: as many as there may be, of whole rows of tiles and, but for the last ones, of as many
// columns as whole tiles of the first kernel like k that divides all columns.
func (s *Set) groups(k *kernel, ranks int, d driver.MatmulDesc) groups {
	wide := 0
	for _, o := range s.kernels {
		if o.likeness() == k.likeness() && (wide == 0 || d.N%wide != 0 && d.N%o.Tile.Columns == 0) {
			wide = o.Tile.Columns
		}
	}
	most, tiles := MostGroups(ranks), ceil(d.M, TileRows)
	high := ceil(tiles, most)
	beside := most / ceil(tiles, high)
	return groups{high * TileRows, ceil(ceil(d.N, wide), beside) * wide}
}

// count is how many there are.
func (g groups) count(d driver.MatmulDesc) int { return ceil(d.M, g.rows) * ceil(d.N, g.columns) }

func ceil(n, by int) int { return (n + by - 1) / by }
