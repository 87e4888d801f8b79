package block

import (
	"slices"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// ChainByTiles is the chain with tiles wherever a tensor travels. GatheredByTiles has them for the rows that are
// gathered, TilesBetweenPackets the same between sums by packets, and SummedByTiles for the last sums. GatedByTiles is
// the MLP alone.
var (
	ChainByTiles        = catalog.BlockBehindAttentionTiles
	GatheredByTiles     = catalog.BlockBehindAttentionGatherTiles
	TilesBetweenPackets = byTiles(ChainByPackets, "X")
	SummedByTiles       = byTiles(Chain, "C")
	GatedByTiles        = byTiles(catalog.GatedMLP, "A", "C")
)

// byTiles is a schedule with tiles for some tensors.
func byTiles(c s.Schedule, of ...string) s.Schedule {
	c.Types = []s.Type{s.BF16, s.FP16}
	c.Moves = slices.DeleteFunc(slices.Clone(c.Moves), func(m s.Move) bool { return slices.Contains(of, m.Of) })
	for _, name := range of {
		c.Moves = append(c.Moves, s.Move{Of: name, Way: s.Tiles{}})
	}
	return c
}
