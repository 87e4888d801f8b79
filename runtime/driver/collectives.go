package driver

import (
	"errors"
	"fmt"
	"sync"
)

// Comm is this rank's part of a communicator (ncclComm_t).
type Comm uintptr

// CommID tells the ranks of one communicator from those of others (ncclUniqueId). The process
// that made it lives until all ranks have joined.
type CommID [128]byte

// CollectiveKind names a collective.
type CollectiveKind string

// Collectives, with what a rank sends and receives in parts of CollectiveDesc.Bytes.
const (
	AllGather     CollectiveKind = "all-gather"     // sends its part, and gets all in the order of ranks
	ReduceScatter CollectiveKind = "reduce-scatter" // sends a part for each rank, and gets the sum of its own
	AllReduce     CollectiveKind = "all-reduce"     // sends a part, and gets the sum of all
	AllToAll      CollectiveKind = "all-to-all"     // sends a part to each rank, and gets one of each
)

// Sums says that the collective adds up.
func (k CollectiveKind) Sums() bool { return k == ReduceScatter || k == AllReduce }

// CollectiveDesc is a collective, the same on all ranks.
type CollectiveDesc struct {
	Kind  CollectiveKind
	Bytes int64 // of one part
	Type  Type  // of the elements that are added up
}

// Sizes are the bytes that each rank sends and receives.
func (d CollectiveDesc) Sizes(ranks int) (send, recv int64) {
	all := int64(ranks) * d.Bytes
	switch d.Kind {
	case AllGather:
		return d.Bytes, all
	case ReduceScatter:
		return all, d.Bytes
	case AllToAll:
		return all, all
	}
	return d.Bytes, d.Bytes
}

// Collectives is NCCL for one device. Its communicators are nonblocking: what CommInitRank and
// Collective begin, NCCL goes on with, and until CommGetAsyncError is nil no other call may be
// made with the communicator, nor anything be enqueued behind it. Calls with one communicator
// are made one at a time, except CommAbort.
type Collectives interface {
	CommGetUniqueID() (CommID, error)
	CommInitRank(id CommID, ranks, rank int) (Comm, error)
	// CommGetAsyncError is ErrInProgress until the call before has ended, and then the
	// communicator's error.
	CommGetAsyncError(c Comm) error
	// Collective enqueues one; the n-th of each rank's meets the n-th of every other. The
	// buffers are apart, or the smaller is this rank's part of the other.
	Collective(d CollectiveDesc, recv, send Ptr, c Comm, s Stream) error
	// CommAbort ends what is enqueued and whatever is replayed later, with garbage, and frees
	// the communicator. It returns when this device's streams have come past what was
	// enqueued, and no graph holds the communicator any more.
	CommAbort(c Comm) error
	// CommDestroy frees the communicator after what was enqueued, and waits as CommAbort does.
	CommDestroy(c Comm) error
}

// ErrInProgress says that NCCL goes on with the call before.
var ErrInProgress = errors.New("the call before is in progress")

// Communicating is a Driver that may have collectives.
type Communicating interface {
	// Collectives loads what is needed at the first call; an error wraps ErrUnavailable
	// where that is missing.
	Collectives() (Collectives, error)
}

// CollectivesOf are those of a driver, or of the one that it decorates.
func CollectivesOf(d Driver) (Collectives, error) {
	c, ok := d.(Communicating)
	if !ok {
		return nil, fmt.Errorf("look for NCCL: driver %s has no collectives: %w", d.Name(), ErrUnavailable)
	}
	return c.Collectives()
}

// library makes the collectives of a device's primary context.
var library struct {
	sync.Mutex
	open func(context uintptr) (Collectives, error)
}

// RegisterNCCL makes NCCL available to drivers of GPUs. Package nccl does so when it is imported.
func RegisterNCCL(open func(context uintptr) (Collectives, error)) {
	library.Lock()
	defer library.Unlock()
	library.open = open
}

// OpenNCCL is the collectives of the device with that primary context.
func OpenNCCL(context uintptr) (Collectives, error) {
	library.Lock()
	open := library.open
	library.Unlock()
	if open == nil {
		return nil, fmt.Errorf("look for NCCL: this binary has no package of it (import ovgen/runtime/nccl): %w",
			ErrUnavailable)
	}
	return open(context)
}
