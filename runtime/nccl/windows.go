//go:build linux && cgo

package nccl

// #include "nccl.h"
import "C"

import (
	"fmt"
	"os"

	"ovgen/runtime/driver"
)

var _ driver.Windows = (*device)(nil)

// Versions of NCCL. Windows need 2.27. From 2.29.7 on an abort ends all their kernels. From 2.29 on, however, copy
// engines gather without a kernel on devices of compute capability 10 and newer, and nothing ends these copies.
const (
	windowsFrom   = 22700
	abortableFrom = 22907
	copiesFrom    = 22900
	copiesMajor   = 10
)

// WindowLimits depends on the version, and on the variables with which NCCL makes no windows.
func (d *device) WindowLimits(p driver.Properties) (l driver.WindowLimits) {
	v := Version()
	switch {
	case v < windowsFrom || C.ovgen_nccl_windows() == 0:
		l.Missing = fmt.Sprintf("NCCL %s has no windows (install 2.27 or newer)", versionText(v))
	case os.Getenv("NCCL_CUMEM_ENABLE") == "0", os.Getenv("NCCL_WIN_ENABLE") == "0":
		l.Missing = "NCCL_CUMEM_ENABLE or NCCL_WIN_ENABLE is 0 (unset it)"
	}
	switch {
	case v < abortableFrom:
		l.Unabortable = fmt.Sprintf("symmetric kernels of NCCL %s don't look whether they are aborted (install 2.29.7 "+
			"or newer)", versionText(v))
	case v >= copiesFrom && p.Major >= copiesMajor:
		l.Unabortable = fmt.Sprintf("NCCL %s gathers by copy engines on a %s, which nothing aborts", versionText(v),
			p.Name)
	}
	return l
}

// WindowMemAlloc makes memory by ncclMemAlloc.
func (d *device) WindowMemAlloc(bytes int64) (driver.Ptr, error) {
	var p C.uint64_t
	err := check("ncclMemAlloc", C.ovgen_nccl_mem_alloc(d.context, C.size_t(bytes), &p))
	return driver.Ptr(p), err
}

// WindowMemFree frees it.
func (d *device) WindowMemFree(p driver.Ptr) error {
	return check("ncclMemFree", C.ovgen_nccl_mem_free(d.context, C.uint64_t(p)))
}

// CommWindowRegister begins to make the window.
func (d *device) CommWindowRegister(c driver.Comm, p driver.Ptr, bytes int64) error {
	return check("ncclCommWindowRegister", C.ovgen_nccl_window(d.context, communicator(c), C.uint64_t(p),
		C.size_t(bytes)))
}

// CommWindow asks NCCL, from 2.29.2 on.
func (d *device) CommWindow(c driver.Comm) (w driver.WindowState, err error) {
	var symmetric C.int
	err = check("ncclCommQueryProperties", C.ovgen_nccl_symmetric(d.context, communicator(c), &symmetric))
	made := communicator(c).window != nil
	return driver.WindowState{Made: made, Asked: symmetric >= 0, Symmetric: symmetric == 1}, err
}

// CommWindowDeregister ends the window.
func (d *device) CommWindowDeregister(c driver.Comm) error {
	return check("ncclCommWindowDeregister", C.ovgen_nccl_window_end(d.context, communicator(c)))
}
