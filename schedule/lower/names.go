package lower

import "ovgen/schedule/hostir"

// Names that programs use.
const (
	chunksName = "S" // steps of the stream axis where they are a constant
	stepIndex  = "i"
	free       = "free"          // the owner's slots may be written
	arrived    = "arrived"       // a partial result is in its slot
	partial    = "partial"       // partial results for their owners
	landed     = "landed"        // packets of the ranks, a part of it for each
	spreadName = "spread"        // packets of the sums, a part of it from each rank
	returned   = "returned"      // a rank's part of the sums has come
	slots      = "slots"         // partial results of this rank's rows, a slot for each rank
	reduced    = "reduced"       // this rank's part of the sum, which peers read
	summed     = "summed"        // a rank's part of the sum is there
	ready      = "ready"         // the owner's shard may be read
	read       = hostir.ReadWord // the reader is done with the owner's shard
	copyName   = "copy"
	putsName   = "puts" // streams of copies of partial results, one a step
	workName   = "work"
	// collectiveName is the stream of collectives beside products, and of exchanges with other hosts.
	collectiveName = "nccl"
	poolName       = "streams"
)
