//go:build linux && cgo

package cuda

/*
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"ovgen/runtime/driver"
)

// libcuda is the driver's library; oldest is CUDA 12.4, which came with R550.
const (
	libcuda = "libcuda.so.1"
	oldest  = 12040
)

type backend struct{}

func init() { driver.Register("cuda", backend{}) }

// Count of devices that CUDA shows to this process.
func (backend) Count() (int, error) {
	if err := start(); err != nil {
		return 0, err
	}
	var n C.int
	if r := C.ovgen_device_count(&n); r != 0 {
		return 0, status("cuDeviceGetCount", r)
	}
	return int(n), nil
}

// Open retains the device's primary context, or uses the given context.
func (backend) Open(ordinal int, context uintptr) (driver.Driver, error) {
	if err := start(); err != nil {
		return nil, err
	}
	d, err := open(ordinal, context)
	if err != nil {
		return nil, fmt.Errorf("open device %d: %w", ordinal, err)
	}
	return d, nil
}

// library is the state of libcuda in this process.
var library struct {
	sync.Mutex
	loaded, started bool
}

// guarded runs f while no other goroutine starts CUDA, and restores the signal handlers that f changed: a handler
// without SA_ONSTACK would break Go's signals.
func guarded(f func() error) error {
	library.Lock()
	defer library.Unlock()
	C.ovgen_signals_save()
	defer C.ovgen_signals_restore()
	return f()
}

// start loads libcuda and calls cuInit, once in the process.
func start() error {
	return guarded(func() error {
		if library.started {
			return nil
		}
		if !library.loaded {
			if err := load(libcuda); err != nil {
				return err
			}
			library.loaded = true
		}
		// Streams that share a hardware queue with a blocked one are blocked with it; CUDA reads this once, in cuInit.
		if _, set := os.LookupEnv("CUDA_DEVICE_MAX_CONNECTIONS"); !set {
			os.Setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32")
		}
		if err := initialise(); err != nil {
			return err
		}
		library.started = true
		return nil
	})
}

// load fills the table of CUDA's calls from a library.
func load(path string) error {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var why [512]C.char
	if C.ovgen_cuda_load(name, &why[0], C.size_t(len(why))) != 0 {
		return fmt.Errorf("open %s: %s (install NVIDIA driver R550 or newer; in a container, expose the GPUs, as "+
			"--gpus all does): %w",
			path, C.GoString(&why[0]), driver.ErrUnavailable)
	}
	return nil
}

func initialise() error {
	var version C.int
	if r := C.ovgen_version(&version); r != 0 {
		return fmt.Errorf("start CUDA: %w: %w", status("cuDriverGetVersion", r), driver.ErrUnavailable)
	}
	if version < oldest {
		return fmt.Errorf("start CUDA: the driver supports CUDA %d.%d (install R550 or newer, which supports 12.4): %w",
			version/1000, version%1000/10, driver.ErrUnavailable)
	}
	if r := C.ovgen_init(); r != 0 {
		return fmt.Errorf("start CUDA: %w (see whether nvidia-smi lists a GPU and CUDA_VISIBLE_DEVICES hides none): %w",
			status("cuInit", r), driver.ErrUnavailable)
	}
	return nil
}

// status is the error of a call that returned a code other than success.
func status(call string, code C.CUresult) error {
	var name, text *C.char
	C.ovgen_error(code, &name, &text)
	return &driver.Status{Call: call, Code: int(code), Text: C.GoString(name) + ": " + C.GoString(text)}
}

// check is nil for success and the call's status otherwise.
func check(call string, code C.CUresult) error {
	if code == C.CUDA_SUCCESS {
		return nil
	}
	return status(call, code)
}
