package hostir

import (
	"fmt"
	"strings"
)

// Tile says how a kernel makes a product by tiles of 128 rows.
type Tile struct {
	Columns  int  // of a tile
	Cluster  int  // blocks that share copies of the second operand
	Together bool // two warpgroups make half of each tile, and not a tile each in turn
}

// String is 112 of tiles of as many columns in turn, 112/2 where two blocks share copies, and 112/2 together.
func (t Tile) String() string {
	name := fmt.Sprint(t.Columns)
	if t.Cluster > 1 {
		name += fmt.Sprintf("/%d", t.Cluster)
	}
	if t.Together {
		name += " together"
	}
	return name
}

// tileNames prints alternative tiles, from which the shape selects one.
func tileNames(list []Tile) string {
	var names []string
	for _, t := range list {
		names = append(names, t.String())
	}
	return strings.Join(names, "|")
}

// Peers is the view of the peers' memory: of the shards that tiles read, or of the slots that a scatter writes.
func (s Step) Peers() View {
	if s.Do == Scatter {
		return s.Writes[1]
	}
	return s.Reads[1]
}

// TilesOf makes the tiles of a linear, of results, of all shards, and of a bias or none.
func TilesOf(s StreamRef, t []Tile, c, gathered, own, shards, b View, bias ...View) Step {
	return Step{Stream: s, Do: Tiles, Tiles: t, Index: Linear, Reads: append([]View{own, shards, b}, bias...),
		Writes: []View{c, gathered}}
}

// ScatterOf builds a Scatter step of a linear of all ranks' rows. c is the result, peers this rank's slot at each peer,
// slots the slots here, and own this rank's slot among them.
func ScatterOf(s StreamRef, t []Tile, c, peers, slots, own, a, b View, bias ...View) Step {
	return Step{Stream: s, Do: Scatter, Tiles: t, Index: Linear, Reads: append([]View{a, b, slots}, bias...),
		Writes: []View{c, peers, own}}
}
