package ipc

import (
	"encoding/binary"
	"fmt"

	"ovgen/runtime/driver"
)

// addresses is the driver of a rank whose peers are in its process: a handle holds the address of the
// memory, which is the same on every device that has access to it, and the size of mapped memory, to which each device
// is given access for itself.
type addresses struct{ driver.Driver }

// address is the handle of memory at an address; mapped is 0 of memory that peer access reaches.
func address(base driver.Ptr, mapped int64) (h driver.IpcMemHandle) {
	binary.LittleEndian.PutUint64(h[:], uint64(base))
	binary.LittleEndian.PutUint64(h[8:], uint64(mapped))
	return h
}

// IpcGetMemHandle writes the address down.
func (addresses) IpcGetMemHandle(base driver.Ptr) (driver.IpcMemHandle, error) {
	return address(base, 0), nil
}

// IpcOpenMemHandle reads the address and sees that this device knows it, or gives it access.
func (a addresses) IpcOpenMemHandle(h driver.IpcMemHandle) (driver.Ptr, error) {
	base := driver.Ptr(binary.LittleEndian.Uint64(h[:]))
	mapped := int64(binary.LittleEndian.Uint64(h[8:]))
	if mapped == 0 {
		_, err := a.PointerGetAttributes(base)
		return base, err
	}
	v, ok := driver.VirtualMemoryOf(a.Driver)
	if !ok {
		return 0, fmt.Errorf("it is mapped virtual memory, and driver %s has none: %w", a.Name(), driver.ErrUnavailable)
	}
	return base, v.MemSetAccess(base, mapped, a.Properties().Ordinal)
}

// IpcCloseMemHandle has nothing to undo: other groups of the process may use the access.
func (addresses) IpcCloseMemHandle(driver.Ptr) error { return nil }
