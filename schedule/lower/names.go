package lower

import (
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Names that programs use.
const (
	chunksName = "S" // steps of the stream axis where they are a constant
	stepIndex  = "i"
	free       = "free"     // the owner's slots may be written
	arrived    = "arrived"  // a partial result is in its slot
	partial    = "partial"  // partial results for their owners
	landed     = "landed"   // packets of the ranks, a part of it for each
	spreadName = "spread"   // packets of the sums, a part of it from each rank
	returned   = "returned" // a rank's part of the sums has come
	slots      = "slots"    // partial results of this rank's rows, a slot for each rank
	reduced    = "reduced"  // this rank's part of the sum, which peers read
	summed     = "summed"   // a rank's part of the sum is there
	ready      = "ready"    // the owner's shard may be read
	read       = "read"     // the reader is done with the owner's shard
	copyName   = "copy"
	putsName   = "puts" // streams of copies of partial results, one a step
	workName   = "work"
	// collectiveName is the stream of collectives beside products, and of exchanges with other hosts.
	collectiveName = "nccl"
	poolName       = "streams"
	getKernel      = "get"  // a wait, a copy from a peer, a post
	putKernel      = "put"  // the same to a peer
	shotKernel     = "shot" // a post, a wait, a sum, a post, a wait
	// gatherKernel is the same around a gather.
	gatherKernel = "gather"
	// tilesKernel is the same around tiles, and scatterKernel around the tiles of a scatter.
	tilesKernel   = "tiles"
	scatterKernel = "scatter"
)

// extent is the expression of a symbol or constant.
func extent(e schedule.Extent) hostir.Expr {
	if n, err := strconv.ParseInt(string(e), 10, 64); err == nil {
		return hostir.Const(n)
	}
	if of, columns, ok := e.Blocks(); ok {
		return hostir.Div(extent(of), hostir.Const(columns))
	}
	if batches, rows, ok := factors(e); ok {
		return hostir.Mul(extent(batches), extent(rows))
	}
	return hostir.Var(string(e))
}
