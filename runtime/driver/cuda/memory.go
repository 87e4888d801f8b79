//go:build linux && cgo

package cuda

/*
#cgo noescape ovgen_copy_out_async
#cgo nocallback ovgen_copy_out_async
#cgo nocallback ovgen_copy
#cgo nocallback ovgen_copy_2d
#cgo nocallback ovgen_memset
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"ovgen/runtime/driver"
)

// MemAlloc makes device memory (cuMemAlloc), which CUDA IPC can export.
func (d *Driver) MemAlloc(bytes int64) (driver.Ptr, error) {
	var p C.uint64_t
	if r := C.ovgen_mem_alloc(d.ctx, &p, C.size_t(bytes)); r != 0 {
		return 0, fmt.Errorf("allocate %d bytes: %w", bytes, status("cuMemAlloc", r))
	}
	return driver.Ptr(p), nil
}

// MemFree frees memory of MemAlloc or MemAllocPooled; it synchronises the device.
func (d *Driver) MemFree(p driver.Ptr) error {
	return check("cuMemFree", C.ovgen_mem_free(d.ctx, C.uint64_t(p)))
}

// MemGetAddressRange returns base and size of the allocation that holds p.
func (d *Driver) MemGetAddressRange(p driver.Ptr) (driver.Ptr, int64, error) {
	var base C.uint64_t
	var bytes C.size_t
	if r := C.ovgen_mem_range(d.ctx, C.uint64_t(p), &base, &bytes); r != 0 {
		return 0, 0, fmt.Errorf("find the allocation of %#x: %w", p, status("cuMemGetAddressRange", r))
	}
	return driver.Ptr(base), int64(bytes), nil
}

// PointerGetAttributes returns CUDA's attributes of p. Managed memory and host memory do not count as device memory; an
// address that CUDA does not know is an error.
func (d *Driver) PointerGetAttributes(p driver.Ptr) (driver.PointerAttributes, error) {
	var a C.ovgen_attributes
	r := C.ovgen_mem_attributes(d.ctx, C.uint64_t(p), &a)
	if r == 0 && a._type == 0 { // CUDA succeeds here, and leaves the answers empty
		r = C.CUDA_ERROR_INVALID_VALUE
	}
	if r != 0 {
		return driver.PointerAttributes{}, fmt.Errorf("ask about address %#x: %w", p,
			status("cuPointerGetAttributes", r))
	}
	return driver.PointerAttributes{
		Device:           a._type == C.CU_MEMORYTYPE_DEVICE && a.managed == 0,
		Ordinal:          int(int32(a.ordinal)),
		BufferID:         uint64(a.buffer),
		LegacyIpcCapable: a.legacy_ipc != 0,
		Pooled:           a.pool != 0,
	}, nil
}

// MemHostRegister pins host memory and returns its device address.
func (d *Driver) MemHostRegister(host unsafe.Pointer, bytes int64) (driver.Ptr, error) {
	var p C.uint64_t
	if r := C.ovgen_host_register(d.ctx, (*C.char)(host), C.size_t(bytes), &p); r != 0 {
		return 0, fmt.Errorf("pin %d bytes of the host: %w", bytes, status("cuMemHostRegister", r))
	}
	return driver.Ptr(p), nil
}

// MemHostUnregister undoes MemHostRegister.
func (d *Driver) MemHostUnregister(host unsafe.Pointer) error {
	return check("cuMemHostUnregister", C.ovgen_host_unregister(d.ctx, (*C.char)(host)))
}

// IpcGetMemHandle exports the allocation that starts at base.
func (d *Driver) IpcGetMemHandle(base driver.Ptr) (driver.IpcMemHandle, error) {
	var h driver.IpcMemHandle
	r := C.ovgen_ipc_export(d.ctx, C.uint64_t(base), (*C.char)(unsafe.Pointer(&h[0])))
	return h, check("cuIpcGetMemHandle", r)
}

// IpcOpenMemHandle maps another process's allocation with lazy peer access.
func (d *Driver) IpcOpenMemHandle(h driver.IpcMemHandle) (driver.Ptr, error) {
	var p C.uint64_t
	r := C.ovgen_ipc_open(d.ctx, (*C.char)(unsafe.Pointer(&h[0])), &p)
	return driver.Ptr(p), check("cuIpcOpenMemHandle", r)
}

// IpcCloseMemHandle undoes IpcOpenMemHandle.
func (d *Driver) IpcCloseMemHandle(p driver.Ptr) error {
	return check("cuIpcCloseMemHandle", C.ovgen_ipc_close(d.ctx, C.uint64_t(p)))
}

// MemcpyHtoD copies src to the device and waits until all of it has arrived.
func (d *Driver) MemcpyHtoD(dst driver.Ptr, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	return check("cuMemcpyHtoD", C.ovgen_copy_in(d.ctx, C.uint64_t(dst), (*C.char)(unsafe.Pointer(&src[0])),
		C.size_t(len(src))))
}

// MemcpyDtoH fills dst from the device and waits for the copy.
func (d *Driver) MemcpyDtoH(dst []byte, src driver.Ptr) error {
	if len(dst) == 0 {
		return nil
	}
	return check("cuMemcpyDtoH", C.ovgen_copy_out(d.ctx, (*C.char)(unsafe.Pointer(&dst[0])),
		C.uint64_t(src), C.size_t(len(dst))))
}

// MemcpyDtoDAsync enqueues a copy by the copy engine.
func (d *Driver) MemcpyDtoDAsync(dst, src driver.Ptr, bytes int64, s driver.Stream) error {
	return check("cuMemcpyDtoDAsync", C.ovgen_copy(d.ctx, C.uint64_t(dst), C.uint64_t(src),
		C.size_t(bytes), C.uintptr_t(s)))
}

// Memcpy2DAsync enqueues a copy of rows by the copy engine.
func (d *Driver) Memcpy2DAsync(c driver.Memcpy2D, s driver.Stream) error {
	return check("cuMemcpy2DAsync", C.ovgen_copy_2d(d.ctx, C.uint64_t(c.Dst), C.size_t(c.DstPitch), C.uint64_t(c.Src),
		C.size_t(c.SrcPitch), C.size_t(c.Width), C.size_t(c.Height), C.uintptr_t(s)))
}

// MemcpyDtoHAsync enqueues a copy into host memory that MemHostRegister pinned.
func (d *Driver) MemcpyDtoHAsync(dst unsafe.Pointer, src driver.Ptr, bytes int64, s driver.Stream) error {
	return check("cuMemcpyDtoHAsync", C.ovgen_copy_out_async(d.ctx, (*C.char)(dst), C.uint64_t(src),
		C.size_t(bytes), C.uintptr_t(s)))
}

// MemsetD32Async enqueues a write of words.
func (d *Driver) MemsetD32Async(dst driver.Ptr, value uint32, words int64, s driver.Stream) error {
	return check("cuMemsetD32Async", C.ovgen_memset(d.ctx, C.uint64_t(dst), C.uint32_t(value),
		C.size_t(words), C.uintptr_t(s)))
}

// MemAllocPooled makes stream-ordered memory (cuMemAllocAsync), which CUDA IPC can't export: tests use it.
func (d *Driver) MemAllocPooled(bytes int64, s driver.Stream) (driver.Ptr, error) {
	var p C.uint64_t
	r := C.ovgen_alloc_pooled(d.ctx, &p, C.size_t(bytes), C.uintptr_t(s))
	return driver.Ptr(p), check("cuMemAllocAsync", r)
}
