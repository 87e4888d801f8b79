package schedule

// Pipeline is the order in which shards travel and are multiplied. The zero value
// pulls every shard straight from its owner, own shard first and in place.
type Pipeline struct {
	Kind      PipelineKind
	Order     Order
	Direction Direction
	Protocol  Protocol
	Own       Own
	OwnShard  OwnShard
	Signals   Signals
	Products  Products
	Reduction Reduction
	// Chunks of a collective pipeline; zero takes the number from the placements, and is
	// right for the other kinds.
	Chunks int
	// Parts that a shard travels in; zero means one.
	Parts int
}

// PipelineKind is the family of a pipeline.
type PipelineKind string

// Pipeline kinds. The default is the one that the placements leave: Broadcast where rank 0
// has A, Collective where A and C are cut into chunks, OneShot where a sum has uneven parts,
// TwoShot where all ranks get a sum; and PointToPoint elsewhere.
const (
	PointToPoint PipelineKind = "point-to-point" // each step exchanges with one peer
	Collective   PipelineKind = "collective"     // each of Chunks steps is a collective
	Broadcast    PipelineKind = "broadcast"      // each step spreads one rank's shard
	OneShot      PipelineKind = "one-shot"       // every rank sums all ranks' inputs
	TwoShot      PipelineKind = "two-shot"       // every rank sums its part of all inputs and gathers the others
	Padded       PipelineKind = "padded"         // uneven parts travel in chunks of the most that one may have, and are put together afterwards
)

// Order says which peer a step exchanges with.
type Order string

// Orders; Shift is the default.
const (
	Shift Order = "shift" // step i reads the original shard of rank r+i
	Ring  Order = "ring"  // every step exchanges with the neighbour, which forwards
)

// Direction in which ranks are counted.
type Direction string

// Directions; Forward is the default.
const (
	Forward  Direction = "forward"
	Backward Direction = "backward"
	Both     Direction = "both" // half a shard each way
)

// Protocol says who copies.
type Protocol string

// Protocols; Get is the default, but Put where partial results leave for their owners
// (they are pulled round a ring), and where a shard is broadcast to be multiplied.
const (
	Get Protocol = "get" // the receiver reads the sender's buffer
	Put Protocol = "put" // the sender writes into the receiver's buffer
)

// Own says when the own shard is multiplied.
type Own string

// Places of the own shard. First is the default; where partial results are copied to
// their owners, Last is.
const (
	First Own = "first"
	Last  Own = "last"
)

// OwnShard says where the own shard is multiplied.
type OwnShard string

// InPlace is the default.
const (
	InPlace OwnShard = "in place" // straight from A
	Copied  OwnShard = "copied"   // from the gathered tensor, after a local copy
)

// Signals says when a run tells its peers that a shard is ready and that it was read.
type Signals string

// Batched is the default.
const (
	Batched Signals = "batched" // ready before the forks and read at the end, one batch each
	InStep  Signals = "in step" // in the step that uses the shard
)

// Products says how many shards a product takes.
type Products string

// PerShard is the default.
const (
	PerShard Products = "per shard"
	Grouped  Products = "grouped" // the own shard, the shards behind it, and those before it
)

// Reduction says where partial results are added.
type Reduction string

// AtEnd is the default: partial results meet in slots at their owner and are summed
// once, in the order of ranks. The last two accumulate on the way round a ring, where
// InKernel is the default.
const (
	AtEnd     Reduction = "at the end"
	InSlot    Reduction = "in slots"       // at the end, and the product itself writes the peer's slot
	InProduct Reduction = "in the product" // C += A * B
	InKernel  Reduction = "by a kernel"    // the partial product, then a sum of two
)

// Transport is what moves bytes and what signals. The zero value is CUDA IPC by
// copy engine and stream memory operations.
type Transport struct {
	Copy   Mover
	Signal Signaller
	// Steps says whether a step's wait, copy and post are one kernel.
	Steps Steps
}

// Steps is how the parts of an exchange are launched.
type Steps string

// Separate is the default; Fused needs signals by kernel, and copies by kernel where
// ranks copy.
const (
	Separate Steps = "separate"
	Fused    Steps = "fused"
)

// Mover is what copies.
type Mover string

// CopyEngine is the default.
const (
	CopyEngine Mover = "copy engine"
	CopyKernel Mover = "kernel"
)

// Signaller is what posts and waits.
type Signaller string

// StreamMemOp is the default.
const (
	StreamMemOp  Signaller = "stream memory operation"
	SignalKernel Signaller = "kernel"
)

// Streams is how steps are spread over streams. The zero value gives the copies a
// stream of their own and each step's product another.
type Streams struct {
	// Compute streams the steps take in turn; zero means one for each step, or two where
	// the owners of partial results pull them out of staging. Each has a workspace of 32 MiB.
	Compute  int
	Priority Priority // of the compute streams
	Copy     CopyStream
	Start    Placement // of the compute streams' wait for the caller's stream
	Handles  Placement // of the exchange of IPC handles
}

// Priority says which products the device serves first where several may run.
type Priority string

// Equal is the default, but Falling where partial results leave for their owners and
// each step has a stream.
const (
	Equal   Priority = "equal"   // those that started first; then they share the device
	Falling Priority = "falling" // those of the earlier step, for the first few; the next fill what they leave
)

// CopyStream says on which stream the copies run.
type CopyStream string

// Apart is the default.
const (
	Apart    CopyStream = "apart"     // streams of their own, ahead of the products where the copy engine copies
	WithStep CopyStream = "with step" // the stream of the step's product
)

// Placement says whether something happens once, ahead of the loop over the
// steps, or again in each step.
type Placement string

// Hoisted is the default. InLoop is slow: sayable so that its cost can be shown.
const (
	Hoisted Placement = "hoisted"
	InLoop  Placement = "in loop"
)
