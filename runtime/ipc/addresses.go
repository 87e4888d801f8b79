package ipc

import (
	"encoding/binary"

	"ovgen/runtime/driver"
)

// addresses is the driver of a rank whose peers are in its process: a handle holds the address of the
// memory, which is the same on every device that has access to it.
type addresses struct{ driver.Driver }

// IpcGetMemHandle writes the address down.
func (addresses) IpcGetMemHandle(base driver.Ptr) (h driver.IpcMemHandle, err error) {
	binary.LittleEndian.PutUint64(h[:], uint64(base))
	return h, nil
}

// IpcOpenMemHandle reads the address and sees that this device knows it.
func (a addresses) IpcOpenMemHandle(h driver.IpcMemHandle) (driver.Ptr, error) {
	base := driver.Ptr(binary.LittleEndian.Uint64(h[:]))
	_, err := a.PointerGetAttributes(base)
	return base, err
}

// IpcCloseMemHandle has nothing to undo.
func (addresses) IpcCloseMemHandle(driver.Ptr) error { return nil }
