//go:build linux && cgo

package cuda

/*
#include "nvml.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"ovgen/runtime/driver"
)

// DeviceGetNVLinks asks NVML, which the first call opens. Every reason why NVML does not answer is an ErrUnavailable.
func (d *Driver) DeviceGetNVLinks(peer driver.UUID) (driver.NVLinks, error) {
	if _, err := find(peer); err != nil {
		return driver.NVLinks{}, err
	}
	var direct, switches C.int
	var why [256]C.char
	from := d.properties.UUID
	r := C.ovgen_nvlinks((*C.uchar)(unsafe.Pointer(&from[0])), (*C.uchar)(unsafe.Pointer(&peer[0])), &direct, &switches,
		&why[0], C.size_t(len(why)))
	if r != 0 {
		return driver.NVLinks{}, fmt.Errorf("look for NVLink's connections: %s: %w", C.GoString(&why[0]),
			driver.ErrUnavailable)
	}
	return driver.NVLinks{Direct: int(direct), Switch: int(switches)}, nil
}
