//go:build cgo && linux

package sim

/*
#cgo CXXFLAGS: -std=c++17 -O2
#include "engine.h"
*/
import "C"

import "unsafe"

// hostKernel is a kernel that was compiled for the host.
type hostKernel struct{ c *C.struct_ovgen_kernel }

// kernelsRun is nil: this build can run kernels.
func kernelsRun() error { return nil }

// hostKernels are the kernels of a package by name.
func hostKernels(table unsafe.Pointer) map[string]*hostKernel {
	kernels := map[string]*hostKernel{}
	k := C.engine_load(table)
	for ; k.name != nil; k = (*C.struct_ovgen_kernel)(unsafe.Add(unsafe.Pointer(k), unsafe.Sizeof(*k))) {
		kernels[C.GoString(k.name)] = &hostKernel{k}
	}
	return kernels
}

// bytes is the size of the kernel's parameters in C.
func (k *hostKernel) bytes() int { return int(k.c.bytes) }

// start begins a launch whose threads take turns by seed. A few blocks run at a time, or all blocks with atOnce. params
// has the layout of the kernel's C struct.
func (k *hostKernel) start(params unsafe.Pointer, grid, block *[3]uint32, seed uint64, atOnce bool) unsafe.Pointer {
	launch := C.engine_start(k.c, params, (*C.uint)(unsafe.Pointer(grid)),
		(*C.uint)(unsafe.Pointer(block)), C.ulonglong(seed))
	if atOnce {
		C.engine_at_once(launch)
	}
	return launch
}

// resume runs a launch until it is finished; until all its threads wait, where the first thread waits for word to be
// value; or until it pauses after a write to a word.
func (k *hostKernel) resume(launch unsafe.Pointer, word *uint64, value *uint32) (state int) {
	return int(C.engine_resume(launch, (*C.ulonglong)(unsafe.Pointer(word)), (*C.uint)(unsafe.Pointer(value))))
}

// sent counts the packets that a launch has sent.
func (k *hostKernel) sent(launch unsafe.Pointer) uint64 { return uint64(C.engine_sent(launch)) }

// fault is the mistake of a launch that has failed.
func (k *hostKernel) fault(launch unsafe.Pointer) string { return C.GoString(C.engine_fault(launch)) }

func (k *hostKernel) destroy(launch unsafe.Pointer) { C.engine_destroy(launch) }

// liveLaunches are the launches that were started and not destroyed.
func liveLaunches() int { return int(C.engine_live()) }
