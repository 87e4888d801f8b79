//go:build linux && cgo

package cuda

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/choices"
)

// Driver is one device with its context. Beyond driver.Driver and the optional
// interfaces it has MemAllocPooled, for tests.
type Driver struct {
	ctx             C.uintptr_t
	primary         bool // Open retained the context, and Close releases it
	properties      driver.Properties
	least, greatest C.int // stream priorities

	mu       sync.Mutex // guards the fields below; no call that enqueues takes it
	closed   bool
	blas     C.uintptr_t                 // cuBLASLt's handle, made with the first product
	choices  *choices.Table              // the algorithms that were chosen before, made with blas
	folder   string                      // folder of the choices' file, if the caller has named one
	scaling  C.uintptr_t                 // rescale.cu's module, where a product has scales of rows
	rescale  map[driver.Type]C.uintptr_t // kernels of scaling
	products map[made]*product
	modules  map[*driver.Code]*module
	// kernels has the data that launches need. The map is replaced, never changed, so that launches take no lock.
	kernels atomic.Pointer[map[driver.Function]driver.Kernel]
}

var (
	_ driver.Driver        = (*Driver)(nil)
	_ driver.Remembers     = (*Driver)(nil)
	_ driver.VirtualMemory = (*Driver)(nil)
)

func open(ordinal int, context uintptr) (*Driver, error) {
	properties, err := read(ordinal)
	if err != nil {
		return nil, err
	}
	d := &Driver{
		ctx:        C.uintptr_t(context),
		primary:    context == 0,
		properties: properties,
		products:   map[made]*product{},
		modules:    map[*driver.Code]*module{},
		rescale:    map[driver.Type]C.uintptr_t{},
	}
	d.kernels.Store(&map[driver.Function]driver.Kernel{})
	if err := guarded(d.enter); err != nil {
		return nil, err
	}
	var least, greatest C.int
	if r := C.ovgen_ctx_priorities(d.ctx, &least, &greatest); r != 0 {
		d.Close()
		return nil, status("cuCtxGetStreamPriorityRange", r)
	}
	d.least, d.greatest = least, greatest
	return d, nil
}

// enter retains the primary context, or checks that a foreign context belongs to the device.
func (d *Driver) enter() error {
	if d.primary {
		return check("cuDevicePrimaryCtxRetain", C.ovgen_ctx_retain(C.int(d.properties.Ordinal), &d.ctx))
	}
	// CUDA returns the device of the thread's context: stay on this thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var device C.int
	if r := C.ovgen_ctx_device(d.ctx, &device); r != 0 {
		return fmt.Errorf("use context %#x: %w", uintptr(d.ctx), status("cuCtxGetDevice", r))
	}
	if int(device) != d.properties.Ordinal {
		return fmt.Errorf("use context %#x: it belongs to device %d (name that device, or pass a context of this one)",
			uintptr(d.ctx), device)
	}
	return nil
}

// read asks for a device's properties.
func read(ordinal int) (driver.Properties, error) {
	p := driver.Properties{Ordinal: ordinal}
	var name [256]C.char
	var bytes C.size_t
	var version, processors, major, minor C.int
	at := C.int(ordinal)
	for _, q := range []struct {
		call string
		code C.CUresult
	}{
		{"cuDeviceGetName", C.ovgen_device_name(at, &name[0], C.int(len(name)))},
		{"cuDeviceGetUuid", C.ovgen_device_uuid(at, (*C.char)(unsafe.Pointer(&p.UUID[0])))},
		{"cuDeviceTotalMem", C.ovgen_device_memory(at, &bytes)},
		{"cuDeviceGetAttribute", C.ovgen_device_attribute(at, C.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &processors)},
		{"cuDeviceGetAttribute", C.ovgen_device_attribute(at, C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major)},
		{"cuDeviceGetAttribute", C.ovgen_device_attribute(at, C.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor)},
		{"cuDriverGetVersion", C.ovgen_version(&version)},
	} {
		if q.code != 0 {
			return p, status(q.call, q.code)
		}
	}
	p.Name = C.GoString(&name[0])
	p.Memory, p.Version = int64(bytes), int(version)
	p.Multiprocessors, p.Major, p.Minor = int(processors), int(major), int(minor)
	return p, nil
}

// Remember sets the folder of the file with the algorithms of products, as choices.Folder takes it.
func (d *Driver) Remember(folder string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.folder = folder
}

// Name is "cuda".
func (d *Driver) Name() string { return "cuda" }

// Properties of the device, read when the driver was opened.
func (d *Driver) Properties() driver.Properties { return d.properties }

// DeviceCanAccessPeer looks for the peer among the devices that this process sees.
func (d *Driver) DeviceCanAccessPeer(peer driver.UUID) (bool, error) {
	if peer == d.properties.UUID {
		return true, nil
	}
	i, err := find(peer)
	if err != nil {
		return false, err
	}
	var can C.int
	r := C.ovgen_device_can_access(C.int(d.properties.Ordinal), i, &can)
	return can != 0, check("cuDeviceCanAccessPeer", r)
}

// DeviceGetP2PAttribute looks for the peer as DeviceCanAccessPeer does.
func (d *Driver) DeviceGetP2PAttribute(a driver.P2PAttribute, peer driver.UUID) (int, error) {
	i, err := find(peer)
	if err != nil {
		return 0, err
	}
	var value C.int
	r := C.ovgen_device_p2p(C.int(d.properties.Ordinal), i, C.int(a), &value)
	return int(value), check("cuDeviceGetP2PAttribute", r)
}

// find returns the number of a device in this process.
func find(id driver.UUID) (C.int, error) {
	var count C.int
	if r := C.ovgen_device_count(&count); r != 0 {
		return 0, status("cuDeviceGetCount", r)
	}
	for i := range count {
		var have driver.UUID
		if r := C.ovgen_device_uuid(i, (*C.char)(unsafe.Pointer(&have[0]))); r != 0 {
			return 0, status("cuDeviceGetUuid", r)
		}
		if have == id {
			return i, nil
		}
	}
	return 0, fmt.Errorf("find device %x: %w", id[:], driver.ErrPeerInvisible)
}

// Context is the CUcontext.
func (d *Driver) Context() uintptr { return uintptr(d.ctx) }

// CtxSynchronize waits for everything enqueued in the context.
func (d *Driver) CtxSynchronize() error {
	return check("cuCtxSynchronize", C.ovgen_ctx_synchronize(d.ctx))
}

// relaxed runs f on one thread with the context current and in relaxed capture mode, for libraries that call CUDA.
func (d *Driver) relaxed(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	mode := C.int(C.CU_STREAM_CAPTURE_MODE_RELAXED)
	if r := C.ovgen_capture_mode(d.ctx, &mode); r != 0 {
		return status("cuThreadExchangeStreamCaptureMode", r)
	}
	defer C.ovgen_capture_mode(d.ctx, &mode)
	return f()
}

// Close frees the products and releases a primary context; a foreign context stays open.
func (d *Driver) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	err := d.closeBlas()
	if d.primary {
		if r := C.ovgen_ctx_release(C.int(d.properties.Ordinal)); r != 0 && err == nil {
			err = status("cuDevicePrimaryCtxRelease", r)
		}
	}
	if err != nil {
		return fmt.Errorf("close device %d: %w", d.properties.Ordinal, err)
	}
	return nil
}
