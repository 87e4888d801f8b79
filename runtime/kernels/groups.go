package kernels

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

// groups are the rectangles of a result that ranks post and await, each by a word of its own. They cut the rows of one
// rank, equally on all ranks, whatever the tiles of each rank.
type groups struct{ rows, columns int } // of one

// MostGroups returns the most groups that the rows of a rank may have. A group has a word for each peer, like a block
// that signals for itself, and a count word of the stream. It is at least 1 for MostShards + 1 ranks, and emission
// refuses kernels of tiles for more.
func MostGroups(ranks int) int {
	return min(plan.MostBlocks, (group.CountWords-1)/max(ranks-1, 1))
}

// groups returns the groups of a product: as many as allowed, each of whole rows of tiles. All but the last ones have
// as many columns as a number of whole tiles of one kernel like k: the first whose tiles divide all columns, or else
// the first of all.
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
