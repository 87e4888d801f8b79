package driver

// Windows is an optional interface of Collectives for symmetric memory: device memory of each rank that NCCL's kernels
// reach on every rank of a communicator. A communicator has at most one window, over one allocation of each rank. A
// collective whose buffers lie in the window has each buffer at the same offset on all ranks: NCCL does not check this.
type Windows interface {
	// WindowLimits of NCCL on a device with these properties.
	WindowLimits(p Properties) WindowLimits
	// WindowMemAlloc makes memory for a window (ncclMemAlloc), and WindowMemFree frees it.
	WindowMemAlloc(bytes int64) (Ptr, error)
	WindowMemFree(p Ptr) error
	// CommWindowRegister begins to make the window of a whole allocation, on all ranks. NCCL may still be at work on it
	// when the call returns nil. The communicator has run a collective before, and no stream is being captured.
	CommWindowRegister(c Comm, p Ptr, bytes int64) error
	// CommWindow returns the state of the window after its registration.
	CommWindow(c Comm) (WindowState, error)
	// CommWindowDeregister removes the window; no work that uses it is in flight.
	CommWindowDeregister(c Comm) error
}

// WindowLimits are the reason why there are no windows, and the reason why CommAbort does not end every collective
// within a window; each is empty where the limit does not exist.
type WindowLimits struct{ Missing, Unabortable string }

// WindowState is the state of a window in NCCL.
type WindowState struct {
	// Made says that there is a window. Without one NCCL runs its ordinary kernels and does not report it.
	Made bool
	// Asked says that this version of NCCL reports whether it reaches the peers' memory; Symmetric says that it does.
	Asked, Symmetric bool
}
