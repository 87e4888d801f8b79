package driver

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that a caller may branch on.
var (
	// ErrUnavailable says that this machine or build can't open the driver at all, or
	// lacks something that a call needs: cgo for kernels, Linux for a group of ranks.
	ErrUnavailable = errors.New("driver not available")
	// ErrPeerInvisible says that a peer's device is hidden from this process.
	ErrPeerInvisible = errors.New("peer device is not visible to this process (unset CUDA_VISIBLE_DEVICES or " +
		"list all ranks' devices)")
	// ErrNotExportable says that peers can't reach a piece of memory, since nothing can export it.
	ErrNotExportable = errors.New("peers can't reach the memory")
)

// Fold joins the errors of several calls, as errors.Join does, but reports a fault of the context only once: after a
// fault every call fails. It drops a fault that known holds already.
func Fold(known error, errs ...error) error {
	faulted := Faulted(known)
	var kept []error
	for _, err := range errs {
		if !Faulted(err) {
			kept = append(kept, err)
		} else if !faulted {
			kept, faulted = append(kept, fmt.Errorf("%w (every later call on the device fails too)", err)), true
		}
	}
	return errors.Join(kept...)
}

// Faulted reports whether an error is a fault of the context.
func Faulted(err error) bool {
	var s *Status
	return errors.As(err, &s) && s.Fault()
}

// Status is the error of a driver call: the CUresult with its name. The simulator answers with the same codes as CUDA.
type Status struct {
	Call string // "cuMemAlloc"
	Code int    // CUresult; for calls that start with cublas or nccl, the status of these libraries
	Text string // "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
}

// Error is "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory (2)".
func (s *Status) Error() string { return fmt.Sprintf("%s: %s (%d)", s.Call, s.Text, s.Code) }

// Fault reports whether the context can't be used any more: every later call fails too.
func (s *Status) Fault() bool {
	if strings.HasPrefix(s.Call, "cublas") || strings.HasPrefix(s.Call, "nccl") {
		return false
	}
	switch s.Code {
	case 4, 201, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719:
		return true // deinitialized, no context, and the faults of kernels
	}
	return false
}
