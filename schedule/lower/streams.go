package lower

import (
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

// Streams.
var (
	mainRef = hostir.Stream(hostir.MainStream)
	copyRef = hostir.Stream(copyName)
	copySet = hostir.StreamSet{Name: copyName, High: true}
	putRef  = hostir.Stream(putName) // of partial results on their way, and of sums
	// Collectives beside products start before them: the node after the next one waits for them.
	collectiveRef = hostir.Stream(collectiveName)
	collectiveSet = hostir.StreamSet{Name: collectiveName, High: true}
)

// pool is the streams of products: all stages of a chain have the same.
type pool struct {
	streams      int    // that rounds take in turn; zero for one a step
	usual        int    // as many where none is asked for
	falls        bool   // their priorities fall, where no option asks otherwise
	asked, equal string // the options that ask for so many, and for one priority
}

const noPriorities = "streams that steps take in turn have one priority"

// pooled sets how many streams rounds take in turn, if an option of the way asks for a number. Ways whose options do
// not say so follow the others.
func (w *writer) pooled(s *stage, option string, streams int) error {
	switch {
	case streams < 1:
		return nil
	case s.once && !schedule.Sums(w.edge.Way):
		return w.refusal(option, leaveOut, noPart, w.edge.Of)
	case len(w.legs) > 1 && !schedule.Sums(w.edge.Way):
		return w.refusal(option, leaveOut, "products share their streams where %s travel",
			strings.Join(w.travelling(), " and "))
	case w.pool.equal != "":
		return refused(w.pool.equal, "leave it out, or Streams", noPriorities)
	case w.pool.asked != "" && w.pool.streams != streams:
		return w.refusal(option, "write the same for each of its sums", "all stages of a chain have the same streams")
	}
	w.pool.streams, w.pool.asked = streams, w.path()+"."+option
	return nil
}

// onePriority has the streams of products have one, if an option of the way asks for that.
func (w *writer) onePriority(option string, asked bool) error {
	switch {
	case !asked:
		return nil
	case w.Order == stages.BatchByBatch:
		return w.refusal(option, leaveOut, "the products of batches have one priority")
	case w.pool.asked != "":
		return w.refusal(option, "leave it out, or Streams", noPriorities)
	}
	w.pool.equal = w.path() + "." + option
	return nil
}

// worker is the stream of a round's products.
func (w *writer) worker(round hostir.Expr) hostir.StreamRef {
	if w.pool.streams > 0 {
		round = hostir.Mod(round, hostir.Var(poolName))
	}
	return hostir.StreamAt(workName, round)
}

// Names that programs use.
const (
	chunksName = "S" // steps of the stream axis where they are a constant
	stepIndex  = "i"
	free       = "free"          // the owner's slots, or the staging buffer, may be written
	arrived    = "arrived"       // a partial result is in its slot
	partial    = "partial"       // partial results for their owners
	landed     = "landed"        // packets of the ranks, a part of it for each
	slots      = "slots"         // partial results of this rank's rows, a slot for each rank
	reduced    = "reduced"       // this rank's part of the sum, which peers read
	summed     = "summed"        // a rank's part of the sum is there
	ready      = "ready"         // the owner's shard may be read
	read       = hostir.ReadWord // the reader is done with the owner's shard
	copyName   = "copy"
	putName    = "put"
	putsName   = "puts" // streams of copies of partial results, one a step
	workName   = "work"
	// collectiveName is the stream of collectives beside products, and of exchanges with other hosts.
	collectiveName = "nccl"
	poolName       = "streams"
)

var (
	zero, one = hostir.Const(0), hostir.Const(1)
	step      = hostir.Var(stepIndex)        // the index of the loop over the steps
	rankIndex = hostir.Var(hostir.RankIndex) // that of terms, and of loops over all ranks
)

// every is the absent peer of a post or wait: all of them.
var every = hostir.Every

// steps is the loop over the exchanges, with the names that its body uses.
func steps(body ...hostir.Node) hostir.For { return hostir.Loop(stepIndex, one, hostir.Size, body...) }
