package fewrows

import "ovgen/runtime/driver"

// boxParts is how many parts of 16 columns a tile of a kernel with Boxes has at most, and cluster how many blocks a
// cluster has.
const boxParts, cluster = 4, 2

// boxShared is the memory of a block: stages with a depth of 64 of two slices, 16 bytes of each lane of a warp with
// rows for each part, and barriers, at a multiple of 1024 bytes.
func (k Kernel) boxShared() int {
	warps := (k.Rows + 15) / 16
	return 1024 + k.Ahead*2*128*(k.Rows+16*boxParts) + warps*boxParts*512 + 8*(2*k.Ahead+warps)
}

// Boxed are the parameters of a kernel with Boxes: the rows, and the weight in boxes of so many parts, and of one more.
type Boxed struct {
	OfRows, Fewer, More driver.TensorMap
	Params
	Parts  uint64
	Halved uint64 // 1: the blocks of a cluster share out the slices of the depth, else the columns
	_      [5]uint64
}

// Box sets what a kernel with Boxes takes beside the parameters of the others, for a launch of so many blocks. Encode
// describes a tensor in a map.
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
