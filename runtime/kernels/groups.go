package kernels

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// TileGroups cut the rows of one rank's result into rectangles, equally on all ranks, whatever the tiles of each rank.
// Ranks post and await each rectangle by a separate word.
type TileGroups struct{ Rows, Columns int } // of one group

// MostGroups returns the largest number of groups that the rows of a rank may have. A group has a word for each peer,
// like a block that signals for itself, and a count word of the stream. The number is at least 1 for up to MostShards +
// 1 ranks, and emission refuses kernels of tiles for more ranks.
func MostGroups(ranks int) int { return min(plan.MostBlocks, (group.CountWords-1)/max(ranks-1, 1)) }

// groups returns the groups of a product: as many as allowed, each of whole rows of tiles. All but the last groups of a
// row have the columns of a whole number of tiles. The tiles are those of a kernel like k: the first kernel whose tiles
// divide all columns, or else the first such kernel.
func (s *Set) groups(k *kernel, ranks int, d driver.MatmulDesc) TileGroups {
	wide := 0
	for _, o := range s.kernels {
		if o.likeness() == k.likeness() && (wide == 0 || d.N%wide != 0 && d.N%o.Tile.Columns == 0) {
			wide = o.Tile.Columns
		}
	}
	most, tiles := MostGroups(ranks), ceil(d.M, TileRows)
	high := ceil(tiles, most)
	beside := most / ceil(tiles, high)
	return TileGroups{high * TileRows, ceil(ceil(d.N, wide), beside) * wide}
}

// count is the number of groups.
func (g TileGroups) count(d driver.MatmulDesc) int { return ceil(d.M, g.Rows) * ceil(d.N, g.Columns) }

func ceil(n, by int) int { return (n + by - 1) / by }
