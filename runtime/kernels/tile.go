package kernels

import (
	"fmt"

	"ovgen/runtime/group"
)

// Tile describes how a kernel computes a product: by tiles of 128 rows, on the tensor cores of compute capability 9.0a.
type Tile struct {
	Columns  int  // of a tile: a multiple of 16, from 64 to 256
	Cluster  int  // blocks that make tiles one below the other and share copies of B: 1 or 2
	Together bool // two warpgroups each make half of every tile, instead of whole tiles in turn
}

// Constants of a block that makes tiles of elements of 16 bits.
const (
	TileRows    = 128
	TileThreads = 3 * 128

	// MostShards is the largest number of shards that a kernel can pull: each shard takes two of the stream's count
	// words, and two more count blocks and pieces.
	MostShards = (group.CountWords - 2) / 2

	tileCapability   = 90     // compute capability 9.0
	tileDepth        = 64     // elements of a stage
	mostShared       = 232448 // bytes of shared memory that a block can have
	mostAccumulators = 192    // of a thread
	boxRows          = 64
	boxBytes         = boxRows * 64 * 2
)

// stage is the bytes of a stage of operands, with its barriers.
func (t Tile) stage() int { return (TileRows+t.Columns)*tileDepth*2 + 16 }

// Stages is the number of stages of the ring of operands: as many as fit in shared memory beside a box for each of the
// warpgroups that store.
func (t Tile) Stages() int { return (mostShared - 2*boxBytes) / t.stage() }

// Boxes is the number of boxes, of 64 rows and columns, through which a warpgroup stores its results.
func (t Tile) Boxes() int { return min(2, (mostShared-t.Stages()*t.stage())/(2*boxBytes)) }

// Shared is the bytes of shared memory that a block needs.
func (t Tile) Shared() int { return t.Stages()*t.stage() + 2*t.Boxes()*boxBytes }

// Clustered reports whether blocks share copies.
func (t Tile) Clustered() bool { return t.Cluster > 1 }

// Alike returns the kernels of the table that differ from k only in their tiles, k among them.
func (t *Table) Alike(k Kernel) (list []Kernel) {
	for _, o := range t.Kernels {
		if o.likeness() == k.likeness() {
			list = append(list, o)
		}
	}
	return list
}

// likeness is a kernel without its tile and number, and the name of its function of each element: kernels with equal
// likeness differ only in their tiles.
type likeness struct {
	Kernel
	finish string
}

func (k Kernel) likeness() likeness {
	l := likeness{k, k.Finish.word()}
	l.Number, l.Tile, l.Finish = 0, Tile{}, nil
	return l
}

// CheckTile refuses a tile that the kernel can't make.
func (k Kernel) CheckTile() error {
	switch t := k.Tile; {
	case t.Columns < 64 || t.Columns > 256 || t.Columns%16 != 0:
		return fmt.Errorf("tiles of %d columns: they have a multiple of 16, from 64 to 256", t.Columns)
	case !t.Together && t.Columns > mostAccumulators:
		return fmt.Errorf("tiles of %d columns in turn: threads have no registers for more than %d", t.Columns,
			mostAccumulators)
	case t.Cluster != 1 && t.Cluster != 2:
		return fmt.Errorf("tiles by clusters of %d blocks: they have 1 or 2", t.Cluster)
	case t.Clustered() && k.Scatters():
		return fmt.Errorf("tiles of a sum by clusters of %d blocks: they wait for all blocks of the peers, and "+
			"clusters may not all run at the same time", t.Cluster)
	}
	return nil
}
