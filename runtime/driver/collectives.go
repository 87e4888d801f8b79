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
	AllGather     CollectiveKind = "all-gather"     // sends its part, and receives all parts in the order of ranks
	ReduceScatter CollectiveKind = "reduce-scatter" // sends a part for each rank, and receives the sum of its part
	AllReduce     CollectiveKind = "all-reduce"     // sends a part, and receives the sum of all parts
	AllToAll      CollectiveKind = "all-to-all"     // sends a part to each rank, and receives a part from each
	Exchange      CollectiveKind = "exchange"       // sends a part to rank To, and receives a part from rank From
)

// Sums reports whether the collective adds up.
func (k CollectiveKind) Sums() bool { return k == ReduceScatter || k == AllReduce }

// CollectiveDesc describes a collective. It is equal on all ranks, except for an exchange's To, From and sizes.
type CollectiveDesc struct {
	Kind     CollectiveKind
	Bytes    int64 // of one part; of an exchange, of the part that this rank sends
	More     int64 // bytes of the part that this rank receives in an exchange beyond those; below 0: it has fewer
	Type     Type  // of the elements that are added up
	To, From int   // ranks of the communicator, of an exchange: this rank sends to To and receives from From
}

// Sizes returns the bytes that each rank sends and receives in a collective that Check takes.
func (d CollectiveDesc) Sizes(ranks int) (send, recv int64) {
	send, recv = d.Bytes, d.Bytes+d.More
	if d.Kind == ReduceScatter || d.Kind == AllToAll {
		send *= int64(ranks)
	}
	if d.Kind == AllGather || d.Kind == AllToAll {
		recv *= int64(ranks)
	}
	return send, recv
}

// Check refuses an unknown kind, parts of less than no bytes, and two sizes of what is no exchange.
func (d CollectiveDesc) Check() error {
	switch d.Kind {
	case AllGather, ReduceScatter, AllReduce, AllToAll, Exchange:
	default:
		return fmt.Errorf("communicate: unknown collective %q", d.Kind)
	}
	if min(d.Bytes, d.Bytes+d.More) < 0 || d.More != 0 && d.Kind != Exchange {
		return fmt.Errorf("communicate: no %s of %d bytes gets %d", d.Kind, d.Bytes, d.Bytes+d.More)
	}
	return nil
}

// Collectives is NCCL for one device. Its communicators are nonblocking: CommInitRank and Collective may return while
// NCCL continues the work. Until CommGetAsyncError is nil, the caller makes no other call with the communicator and
// enqueues nothing behind the work. Only one call with a communicator is made at a time, except for CommAbort.
type Collectives interface {
	CommGetUniqueID() (CommID, error)
	CommInitRank(id CommID, ranks, rank int) (Comm, error)
	// CommGetAsyncError is ErrInProgress until the last call has ended, and then the communicator's error.
	CommGetAsyncError(c Comm) error
	// Collective enqueues a collective; the n-th collective of each rank meets the n-th of every other rank. The
	// buffers do not overlap, or the smaller buffer is this rank's part of the larger one.
	Collective(d CollectiveDesc, recv, send Ptr, c Comm, s Stream) error
	// CommAbort ends the enqueued collectives, and the collectives of later replays, with garbage as results, and frees
	// the communicator. It returns when this device's streams have passed the enqueued collectives and no graph holds
	// the communicator any more.
	CommAbort(c Comm) error
	// CommDestroy frees the communicator after the enqueued collectives, and waits as CommAbort does.
	CommDestroy(c Comm) error
}

// ErrInProgress says that NCCL is still at work on the last call.
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

// library opens NCCL for a device's primary context.
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

// OpenNCCL returns the collectives of the device with the given primary context.
func OpenNCCL(context uintptr) (Collectives, error) {
	library.Lock()
	open := library.open
	library.Unlock()
	if open == nil {
		return nil, fmt.Errorf("look for NCCL: this binary does not import ovgen/runtime/nccl: %w", ErrUnavailable)
	}
	return open(context)
}
