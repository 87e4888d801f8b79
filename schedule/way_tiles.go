package schedule

// Tiles lets one kernel of a rank pull and multiply: it begins with the tiles of its own shard, and those of another
// are made as soon as that shard is there. Of partial results, the kernel multiplies and sums: tiles leave for their
// owner as they are made, its own come last, and it adds up the partial results of all ranks, in their order. It runs
// on GPUs of compute capability 9.0 alone, and takes bf16 and fp16.
//
// Of several products of the rows that come the kernel makes the first, and the others follow when all rows are there.
// Of a chain whose partial results meet it makes the last product, when all rows of its operand are there.
type Tiles struct {
	// Columns of a tile, which has 128 rows: a multiple of 16, from 64 on. Left out together with all other options, a
	// launch takes one of a few tiles: the one that run tune measured as the fastest, or that with the least work for
	// each multiprocessor, the widest of several; else it is 128.
	Columns int `zero:"by shape" most:"256"`
	// Cluster is how many blocks, with tiles one below the other, share their copies of the weights.
	Cluster int `zero:"1" most:"2"`
	// Together has the two warpgroups of a block make half of each tile, not a tile each in turn.
	Together bool
}

func (Tiles) way()     {}
func (Tiles) sums()    {}
func (Tiles) travels() {}

func (Tiles) ofOneProduct() {}
