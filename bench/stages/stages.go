// Package stages has a layer of Llama behind attention with each of its three communications by each of three ways: the
// sums behind the projection, the gather of their norms, and the sums of the MLP. `bench/gpu.sh stages` compares their
// bits and measures them beside each other, so that each stage's way is chosen by itself. Only make gpu-build generates
// their packages.
package stages

import (
	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Each name has the ways of R, of X and of C.
var (
	CopiesCopiesCopies    = by(copies, copies, copies)
	CopiesCopiesPackets   = by(copies, copies, packets)
	CopiesCopiesTiles     = by(copies, copies, tiles)
	CopiesPacketsCopies   = by(copies, packets, copies)
	CopiesPacketsPackets  = by(copies, packets, packets)
	CopiesPacketsTiles    = by(copies, packets, tiles)
	CopiesTilesCopies     = by(copies, tiles, copies)
	CopiesTilesPackets    = by(copies, tiles, packets)
	CopiesTilesTiles      = by(copies, tiles, tiles)
	PacketsCopiesCopies   = by(packets, copies, copies)
	PacketsCopiesPackets  = by(packets, copies, packets)
	PacketsCopiesTiles    = by(packets, copies, tiles)
	PacketsPacketsCopies  = by(packets, packets, copies)
	PacketsPacketsPackets = by(packets, packets, packets)
	PacketsPacketsTiles   = by(packets, packets, tiles)
	PacketsTilesCopies    = by(packets, tiles, copies)
	PacketsTilesPackets   = by(packets, tiles, packets)
	PacketsTilesTiles     = by(packets, tiles, tiles)
	TilesCopiesCopies     = by(tiles, copies, copies)
	TilesCopiesPackets    = by(tiles, copies, packets)
	TilesCopiesTiles      = by(tiles, copies, tiles)
	TilesPacketsCopies    = by(tiles, packets, copies)
	TilesPacketsPackets   = by(tiles, packets, packets)
	TilesPacketsTiles     = by(tiles, packets, tiles)
	TilesTilesCopies      = by(tiles, tiles, copies)
	TilesTilesPackets     = by(tiles, tiles, packets)
	TilesTilesTiles       = by(tiles, tiles, tiles)
)

// way has the way of a sum of rows and the way of a gather of rows. A schedule that names no way takes copies.
type way struct{ sum, gather s.Way }

var (
	copies  = way{}
	packets = way{s.PushShot{}, s.PushGather{}}
	tiles   = way{s.Tiles{}, s.Tiles{}}
)

// by is the layer by the ways of R, X and C.
func by(r, x, c way) s.Schedule {
	layer := s.Schedule{Tensors: catalog.BlockBehindAttention.Tensors, Ops: catalog.BlockBehindAttention.Ops,
		Types: []s.Type{s.BF16}}
	for _, m := range []s.Move{{Of: "R", Way: r.sum}, {Of: "X", Way: x.gather}, {Of: "C", Way: c.sum}} {
		if m.Way != nil {
			layer.Moves = append(layer.Moves, m)
		}
	}
	return layer
}
