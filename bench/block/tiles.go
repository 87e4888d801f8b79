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
	ChainByTiles        = byTiles(Chain, "R", "X", "C")
	GatheredByTiles     = byTiles(Chain, "X")
	TilesBetweenPackets = byTiles(ChainByPackets, "X")
	SummedByTiles       = byTiles(Chain, "C")
	GatedByTiles        = byTiles(catalog.GatedMLP, "A", "C")
)

// byTiles is a schedule with tiles for some tensors. They add nothing to their sums: a kernel of its own does.
func byTiles(c s.Schedule, of ...string) s.Schedule {
	c.Types, c.Ops, c.Moves = []s.Type{s.BF16, s.FP16}, slices.Clone(c.Ops), slices.Clone(c.Moves)
	c.Moves = slices.DeleteFunc(c.Moves, func(m s.Move) bool { return slices.Contains(of, m.Of) })
	for _, name := range of {
		c.Moves = append(c.Moves, s.Move{Of: name, Way: s.Tiles{}})
	}
	for i, o := range c.Ops {
		if added := o.Added(); added != "" && slices.Contains(of, o.Out) {
			c.Ops[i].Then = []s.Func{{Word: "plus", Is: s.Plus(s.Of(added), s.X)}}
		}
	}
	return c
}
