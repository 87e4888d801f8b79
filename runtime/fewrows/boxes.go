package fewrows

import "ovgen/runtime/driver"

// boxParts is the largest number of parts, of 16 columns each, of a tile of a kernel with Boxes. cluster is the number
// of blocks of a cluster.
const boxParts, cluster = 4, 2

// boxShared is the shared memory of a block: stages, each with a depth of 64 of two slices; for each part, 16 bytes of
// each lane of a warp with rows; and barriers. It begins at a multiple of 1024 bytes.
func (k Kernel) boxShared() int {
	warps := (k.Rows + 15) / 16
	return 1024 + k.Ahead*2*128*(k.Rows+16*boxParts) + warps*boxParts*512 + 8*(2*k.Ahead+warps)
}

// Boxed are the parameters of a kernel with Boxes: a map of the rows, and maps of the weight with boxes of Parts parts,
// and of one part more.
type Boxed struct {
	OfRows, Fewer, More driver.TensorMap
	Params
	Parts  uint64
	Halved uint64 // 1: the blocks of a cluster divide the slices of the depth among themselves, else the columns
	_      [6]uint64
}

// Box sets the further parameters of a kernel with Boxes, for a launch of the given blocks. encode makes the map of a
// tensor.
func (p *Boxed) Box(k Kernel, typ driver.Type, blocks int, encode func(*driver.TensorMap, driver.TensorMapDesc)) {
	parts, runs := int(p.Columns)/16, blocks
	p.Halved = 0
	if parts <= blocks/cluster*boxParts {
		p.Halved, runs = 1, blocks/cluster
	}
	tiles := max(1, (parts+runs*boxParts-1)/(runs*boxParts))
	p.Parts = uint64(parts / runs / tiles)
	rows := driver.TensorMapDesc{At: p.A, Type: typ, Shards: 1, Rows: int(p.Rows), Columns: int(p.Depth),
		BoxRows: k.Rows}
	weight := driver.TensorMapDesc{At: p.B, Type: typ, Shards: 1, Rows: int(p.Columns), Columns: int(p.Depth)}
	encode(&p.OfRows, rows)
	weight.BoxRows = 16 * max(1, int(p.Parts))
	encode(&p.Fewer, weight)
	weight.BoxRows = 16 * (int(p.Parts) + 1)
	encode(&p.More, weight)
}
