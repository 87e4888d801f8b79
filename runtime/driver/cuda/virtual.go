//go:build linux && cgo

package cuda

// #include "calls.h"
import "C"

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"ovgen/runtime/driver"
)

// MemGetAllocationGranularity is the least granularity of this device's memory.
func (d *Driver) MemGetAllocationGranularity() (int64, error) {
	var unit C.size_t
	r := C.ovgen_physical_granularity(d.ctx, C.int(d.properties.Ordinal), &unit)
	return int64(unit), check("cuMemGetAllocationGranularity", r)
}

// MemCreate makes memory of this device.
func (d *Driver) MemCreate(bytes int64, types driver.HandleType) (driver.Physical, error) {
	var h C.uint64_t
	r := C.ovgen_physical_create(d.ctx, C.int(d.properties.Ordinal), C.size_t(bytes), C.int(types), &h)
	return driver.Physical(h), check("cuMemCreate", r)
}

// MemRetainAllocationHandle returns the memory that is mapped at p.
func (d *Driver) MemRetainAllocationHandle(p driver.Ptr) (driver.Physical, error) {
	var h C.uint64_t
	r := C.ovgen_physical_retain(d.ctx, C.uint64_t(p), &h)
	return driver.Physical(h), check("cuMemRetainAllocationHandle", r)
}

// MemGetAllocationPropertiesFromHandle returns the handle types that the memory was made with.
func (d *Driver) MemGetAllocationPropertiesFromHandle(h driver.Physical) (driver.HandleType, error) {
	var types C.int
	r := C.ovgen_physical_types(d.ctx, C.uint64_t(h), &types)
	return driver.HandleType(types), check("cuMemGetAllocationPropertiesFromHandle", r)
}

// MemExportToShareableHandle exports the memory for another process. Programs that this process starts do not inherit
// the descriptor of a file.
func (d *Driver) MemExportToShareableHandle(h driver.Physical, t driver.HandleType) (driver.Shareable, error) {
	s := driver.Shareable{Type: t}
	var file C.int
	r := C.ovgen_physical_export(d.ctx, C.uint64_t(h), C.int(t), &file, (*C.char)(unsafe.Pointer(&s.Fabric[0])))
	if r != 0 {
		return driver.Shareable{}, status("cuMemExportToShareableHandle", r)
	}
	if s.File = int(file); t == driver.FileDescriptor {
		unix.CloseOnExec(s.File)
	}
	return s, nil
}

// MemImportFromShareableHandle opens memory that another process, or this one, has exported.
func (d *Driver) MemImportFromShareableHandle(s driver.Shareable) (driver.Physical, error) {
	var h C.uint64_t
	r := C.ovgen_physical_import(d.ctx, C.int(s.Type), C.int(s.File), (*C.char)(unsafe.Pointer(&s.Fabric[0])), &h)
	return driver.Physical(h), check("cuMemImportFromShareableHandle", r)
}

// MemRelease releases a handle.
func (d *Driver) MemRelease(h driver.Physical) error {
	return check("cuMemRelease", C.ovgen_physical_release(d.ctx, C.uint64_t(h)))
}

// MemAddressReserve reserves addresses anywhere.
func (d *Driver) MemAddressReserve(bytes int64) (driver.Ptr, error) {
	var p C.uint64_t
	r := C.ovgen_address_reserve(d.ctx, C.size_t(bytes), &p)
	return driver.Ptr(p), check("cuMemAddressReserve", r)
}

// MemAddressFree frees a reservation.
func (d *Driver) MemAddressFree(p driver.Ptr, bytes int64) error {
	return check("cuMemAddressFree", C.ovgen_address_free(d.ctx, C.uint64_t(p), C.size_t(bytes)))
}

// MemMap maps the whole memory at reserved addresses.
func (d *Driver) MemMap(p driver.Ptr, bytes int64, h driver.Physical) error {
	return check("cuMemMap", C.ovgen_map(d.ctx, C.uint64_t(p), C.size_t(bytes), C.uint64_t(h)))
}

// MemUnmap undoes one MemMap.
func (d *Driver) MemUnmap(p driver.Ptr, bytes int64) error {
	return check("cuMemUnmap", C.ovgen_unmap(d.ctx, C.uint64_t(p), C.size_t(bytes)))
}

// MemSetAccess lets a device read and write mapped memory.
func (d *Driver) MemSetAccess(p driver.Ptr, bytes int64, device int) error {
	if r := C.ovgen_set_access(d.ctx, C.uint64_t(p), C.size_t(bytes), C.int(device)); r != 0 {
		return fmt.Errorf("let device %d use %d bytes at %#x: %w", device, bytes, p, status("cuMemSetAccess", r))
	}
	return nil
}
