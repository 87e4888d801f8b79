package driver

import (
	"errors"
	"fmt"
)

// Errors that a caller may branch on.
var (
	// ErrUnavailable says that this machine or build can't open the driver at all.
	ErrUnavailable = errors.New("driver not available")
	// ErrPeerInvisible says that a peer's device is hidden from this process.
	ErrPeerInvisible = errors.New("peer device is not visible to this process (unset CUDA_VISIBLE_DEVICES or list all ranks' devices)")
	// ErrNotExportable says that CUDA IPC can't export a piece of memory.
	ErrNotExportable = errors.New("memory can't be exported by CUDA IPC")
)

// Status is the error of a driver call: the CUresult with its name. The
// simulator answers with the same codes as CUDA.
type Status struct {
	Call string // "cuMemAlloc"
	Code int    // CUresult, or the cuBLAS status for calls that start with cublas
	Text string // "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
}

// Error is "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory (2)".
func (s *Status) Error() string { return fmt.Sprintf("%s: %s (%d)", s.Call, s.Text, s.Code) }
