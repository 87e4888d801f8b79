//go:build linux && cgo

package cuda

/*
#cgo noescape ovgen_launch
#cgo nocallback ovgen_launch
#cgo nocallback ovgen_graph_launch
#cgo noescape ovgen_tensor_map
#cgo nocallback ovgen_tensor_map
#include <stdlib.h>
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"maps"
	"strings"
	"unsafe"

	"ovgen/runtime/driver"
)

// C reads a grid as three words.
var _ = [1]int{}[unsafe.Sizeof(driver.Dim3{})-3*C.sizeof_uint32_t]

// module is loaded once for all plans of a package.
type module struct {
	handle driver.Module
	users  int
}

// ModuleLoadData makes the driver compile and load the package's PTX, which must belong to the package's source; the
// compiler's messages about bad PTX are part of the error. Code that is loaded already is not loaded again.
func (d *Driver) ModuleLoadData(code *driver.Code) (driver.Module, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := d.modules[code]
	if m == nil {
		handle, err := d.load(code)
		if err != nil {
			return 0, err
		}
		m = &module{handle: handle}
		d.modules[code] = m
	}
	m.users++
	return m.handle, nil
}

func (d *Driver) load(code *driver.Code) (driver.Module, error) {
	if err := code.Check(); err != nil {
		return 0, fmt.Errorf("load kernels of %s: %w", code.Name, err)
	}
	ptx := C.CString(string(code.PTX)) // the driver needs null-terminated text
	defer C.free(unsafe.Pointer(ptx))
	var m C.uintptr_t
	var log [8192]C.char
	if r := C.ovgen_module_load(d.ctx, ptx, &m, &log[0], C.size_t(len(log))); r != 0 {
		text := strings.TrimSpace(C.GoString(&log[0]))
		return 0, fmt.Errorf("load kernels of %s: %w; %s", code.Name, status("cuModuleLoadDataEx", r), text)
	}
	return driver.Module(m), nil
}

// ModuleGetFunction finds a kernel by its name.
func (d *Driver) ModuleGetFunction(m driver.Module, name string) (driver.Function, error) {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	var f C.uintptr_t
	if r := C.ovgen_module_function(d.ctx, C.uintptr_t(m), c, &f); r != 0 {
		return 0, fmt.Errorf("find kernel %s: %w", name, status("cuModuleGetFunction", r))
	}
	return driver.Function(f), d.note(m, name, driver.Function(f))
}

// note allows blocks of a kernel the shared memory that they need, and keeps the data that launches need.
func (d *Driver) note(m driver.Module, name string, f driver.Function) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := maps.Clone(*d.kernels.Load())
	delete(all, f) // an unloaded kernel may have had this handle
	for code, x := range d.modules {
		for _, k := range code.Kernels {
			if x.handle != m || k.Name != name {
				continue
			}
			if r := C.ovgen_function_shared(d.ctx, C.uintptr_t(f), C.int(k.Shared), C.bool(k.Early)); r != 0 {
				return fmt.Errorf("give kernel %s %d bytes of shared memory: %w", name, k.Shared,
					status("cuFuncSetAttribute", r))
			}
			all[f] = k
		}
	}
	d.kernels.Store(&all)
	return nil
}

// ModuleUnload unloads the kernels once it has been called as often as ModuleLoadData.
func (d *Driver) ModuleUnload(m driver.Module) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for code, x := range d.modules {
		if x.handle != m {
			continue
		}
		if x.users--; x.users > 0 {
			return nil
		}
		delete(d.modules, code)
	}
	return check("cuModuleUnload", C.ovgen_module_unload(d.ctx, C.uintptr_t(m)))
}

// LaunchKernel launches f with the struct that params points to as its one
// parameter. The struct is read before the call returns.
func (d *Driver) LaunchKernel(f driver.Function, grid, block driver.Dim3, s driver.Stream,
	params unsafe.Pointer) error {
	k := (*d.kernels.Load())[f]
	return check("cuLaunchKernel", C.ovgen_launch(d.ctx, C.uintptr_t(f), (*C.uint32_t)(unsafe.Pointer(&grid)),
		(*C.uint32_t)(unsafe.Pointer(&block)), C.uint32_t(k.Shared), C.bool(k.Early), C.uintptr_t(s),
		(*C.char)(params)))
}

// OccupancyMaxActiveBlocksPerMultiprocessor returns how many blocks have room at the same time.
func (d *Driver) OccupancyMaxActiveBlocksPerMultiprocessor(f driver.Function, threads, shared int) (int, error) {
	var blocks C.int
	r := C.ovgen_occupancy(d.ctx, C.uintptr_t(f), C.int(threads), C.size_t(shared), &blocks)
	return int(blocks), check("cuOccupancyMaxActiveBlocksPerMultiprocessor", r)
}

// TensorMapEncodeTiled describes a tensor for kernels that copy parts of it.
func (d *Driver) TensorMapEncodeTiled(to *driver.TensorMap, x driver.TensorMapDesc) error {
	return check("cuTensorMapEncodeTiled", C.ovgen_tensor_map((*C.uint64_t)(&to[0]), C.int(tensorTypes[x.Type]),
		C.uint64_t(x.At), C.uint64_t(x.Shards), C.uint64_t(x.Rows), C.uint64_t(x.Columns), C.uint32_t(x.BoxRows)))
}

// tensorTypes are the CUtensorMapDataTypes of element types.
var tensorTypes = map[driver.Type]int{driver.FP16: C.CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
	driver.BF16: C.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16}

// StreamBeginCapture starts a capture in relaxed mode.
func (d *Driver) StreamBeginCapture(s driver.Stream) error {
	return d.beginCapture(s, C.CU_STREAM_CAPTURE_MODE_RELAXED)
}

func (d *Driver) beginCapture(s driver.Stream, mode C.int) error {
	return check("cuStreamBeginCapture", C.ovgen_capture_begin(d.ctx, C.uintptr_t(s), mode))
}

// StreamEndCapture ends the capture and returns the graph.
func (d *Driver) StreamEndCapture(s driver.Stream) (driver.Graph, error) {
	var g C.uintptr_t
	r := C.ovgen_capture_end(d.ctx, C.uintptr_t(s), &g)
	return driver.Graph(g), check("cuStreamEndCapture", r)
}

// GraphInstantiate makes a graph that can be launched (cuGraphInstantiateWithFlags); its
// kernels keep the priorities of the streams that they were captured on.
func (d *Driver) GraphInstantiate(g driver.Graph) (driver.GraphExec, error) {
	var e C.uintptr_t
	r := C.ovgen_graph_instantiate(d.ctx, C.uintptr_t(g), &e)
	return driver.GraphExec(e), check("cuGraphInstantiateWithFlags", r)
}

// GraphUpload copies the graph to the device, so that the first launch need not.
func (d *Driver) GraphUpload(g driver.GraphExec, s driver.Stream) error {
	return check("cuGraphUpload", C.ovgen_graph_upload(d.ctx, C.uintptr_t(g), C.uintptr_t(s)))
}

// GraphLaunch enqueues the graph.
func (d *Driver) GraphLaunch(g driver.GraphExec, s driver.Stream) error {
	return check("cuGraphLaunch", C.ovgen_graph_launch(d.ctx, C.uintptr_t(g), C.uintptr_t(s)))
}

// GraphExecDestroy frees a graph that can be launched.
func (d *Driver) GraphExecDestroy(g driver.GraphExec) error {
	return check("cuGraphExecDestroy", C.ovgen_graph_exec_destroy(d.ctx, C.uintptr_t(g)))
}

// GraphDestroy frees a captured graph; executable graphs instantiated from it stay.
func (d *Driver) GraphDestroy(g driver.Graph) error {
	return check("cuGraphDestroy", C.ovgen_graph_destroy(d.ctx, C.uintptr_t(g)))
}
