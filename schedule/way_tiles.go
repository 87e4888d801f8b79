package schedule

// Tiles lets one kernel of a rank pull and multiply: it begins with the tiles of the rank's shard, and makes the tiles
// of another shard as soon as that shard is there. For partial results, the kernel multiplies and sums. Tiles leave
// for their owner as they are made, the rank's tiles come last, and the kernel adds up the partial results of all
// ranks in the order of ranks. Where every rank gets the sums of all rows, each rank then copies those of the others.
// It runs only on GPUs of compute capability 9.0, and takes bf16 and fp16.
//
// Where several products take the rows that arrive, the kernel makes the first product, and the others follow when all
// rows are there. In a chain whose partial results meet, it makes the last product, when all rows of the operand are
// there.
type Tiles struct {
	// Columns of a tile, which has 128 rows: a multiple of 16, from 64 on. If all options are left out, a launch takes
	// one of a few tiles: the tile that run tune measured as the fastest, or else the tile with the least work for each
	// multiprocessor, the widest of several. If only Columns is left out, it is 128.
	Columns int `zero:"by shape" most:"256"`
	// Cluster is the number of blocks, with tiles one below the other, that share their copies of the weights.
	Cluster int `zero:"1" most:"2"`
	// Together lets the two warpgroups of a block make half of each tile, instead of a tile each in turn.
	Together bool
}

func (Tiles) way() Facts { return Facts{Travels: true, Sums: true, OneProduct: true, Multiplies: true} }
