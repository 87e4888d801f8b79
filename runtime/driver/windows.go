package driver

// Windows is an optional interface of Collectives: device memory of each rank that NCCL's kernels reach on every rank
// of a communicator, its symmetric memory. A communicator has one window at most, over one allocation of each rank. A
// collective whose buffers lie in it has each of them at the same offset on all ranks: NCCL does not look.
type Windows interface {
	// WindowLimits of NCCL on a device with these properties.
	WindowLimits(p Properties) WindowLimits
	// WindowMemAlloc makes memory for a window (ncclMemAlloc), and WindowMemFree frees it.
	WindowMemAlloc(bytes int64) (Ptr, error)
	WindowMemFree(p Ptr) error
	// CommWindowRegister begins to make the window of all of an allocation, on all ranks. NCCL may go on with it also
	// where it returns nil. The communicator has had a collective before, and nothing is captured.
	CommWindowRegister(c Comm, p Ptr, bytes int64) error
	// CommWindow returns the outcome.
	CommWindow(c Comm) (WindowState, error)
	// CommWindowDeregister gives the window up; nothing that uses it is in flight.
	CommWindowDeregister(c Comm) error
}

// WindowLimits are why there are no windows, and why CommAbort does not end every collective within one; each is empty
// where that is not so.
type WindowLimits struct{ Missing, Unabortable string }

// WindowState is the state of a window in NCCL.
type WindowState struct {
	// Made says that there is one. Without, NCCL takes its ordinary kernels and does not say so.
	Made bool
	// Asked says that this version of NCCL tells whether it reaches the peers' memory, and Symmetric that it does.
	Asked, Symmetric bool
}
