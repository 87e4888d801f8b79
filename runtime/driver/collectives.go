package driver

import (
	"errors"
	"fmt"
	"sync"
)

// Comm is this rank's part of a communicator (ncclComm_t).
type Comm uintptr

// CommID identifies a communicator (ncclUniqueId). The process that made it lives until all ranks have joined.
type CommID [128]byte

// CollectiveKind names a collective.
type CollectiveKind string

// Kinds of collectives. A rank sends and receives parts of CollectiveDesc.Bytes.
const (
	AllGather     CollectiveKind = "all-gather"     // sends its part, and gets all in the order of ranks
	ReduceScatter CollectiveKind = "reduce-scatter" // sends a part for each rank, and gets the sum of its own
	AllReduce     CollectiveKind = "all-reduce"     // sends a part, and gets the sum of all
	AllToAll      CollectiveKind = "all-to-all"     // sends a part to each rank, and gets one of each
	Exchange      CollectiveKind = "exchange"       // sends a part to rank To, and gets the one of rank From
)

// Sums says that the collective adds up.
func (k CollectiveKind) Sums() bool { return k == ReduceScatter || k == AllReduce }

// CollectiveDesc describes a collective, equally on all ranks but for To and From.
type CollectiveDesc struct {
	Kind     CollectiveKind
	Bytes    int64 // of one part
	Type     Type  // of the elements that are added up
	To, From int   // ranks of the communicator, of an exchange: rank To gets from this one
}

// Sizes are the bytes that each rank sends and receives; of an unknown kind, which Check refuses, none.
func (d CollectiveDesc) Sizes(ranks int) (send, recv int64) {
	all := int64(ranks) * d.Bytes
	switch d.Kind {
	case AllGather:
		return d.Bytes, all
	case ReduceScatter:
		return all, d.Bytes
	case AllToAll:
		return all, all
	case AllReduce, Exchange:
		return d.Bytes, d.Bytes
	}
	return 0, 0
}

// Check refuses an unknown kind.
func (d CollectiveDesc) Check() error {
	switch d.Kind {
	case AllGather, ReduceScatter, AllReduce, AllToAll, Exchange:
		return nil
	}
	return fmt.Errorf("communicate: unknown collective %q", d.Kind)
}

// Collectives is NCCL for one device. Its communicators are nonblocking: CommInitRank and Collective return while NCCL
// goes on with the work. Until CommGetAsyncError is nil, the caller makes no other call with the communicator and
// enqueues nothing behind the work. Except for CommAbort, only one call with a communicator is made at a time.
type Collectives interface {
	CommGetUniqueID() (CommID, error)
	CommInitRank(id CommID, ranks, rank int) (Comm, error)
	// CommGetAsyncError is ErrInProgress until the call before has ended, and then the communicator's error.
	CommGetAsyncError(c Comm) error
	// Collective enqueues one; the n-th of each rank's meets the n-th of every other. The
	// buffers are apart, or the smaller is this rank's part of the other.
	Collective(d CollectiveDesc, recv, send Ptr, c Comm, s Stream) error
	// CommAbort ends the enqueued collectives, and collectives of later replays, with garbage, and frees
	// the communicator. It returns when this device's streams have come past the enqueued
	// collectives, and no graph holds the communicator any more.
	CommAbort(c Comm) error
	// CommDestroy frees the communicator after the enqueued collectives, and waits as CommAbort does.
	CommDestroy(c Comm) error
}

// ErrInProgress says that NCCL goes on with the call before.
var ErrInProgress = errors.New("the call before is in progress")

// Communicating is a Driver that may have collectives.
type Communicating interface {
	// Collectives loads the library at the first call; the error wraps ErrUnavailable where the library is missing.
	Collectives() (Collectives, error)
}

// CollectivesOf returns the collectives of a driver, or of the driver that it decorates.
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
		return nil, fmt.Errorf("look for NCCL: this binary does not import ovgen/runtime/nccl: %w", ErrUnavailable)
	}
	return open(context)
}
