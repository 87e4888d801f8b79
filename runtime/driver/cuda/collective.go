//go:build linux && cgo

package cuda

/*
#include "calls.h"
*/
import "C"

import (
	"fmt"

	"ovgen/runtime/driver"
)

// Collectives returns NCCL's collectives, which work only in the device's primary context.
func (d *Driver) Collectives() (driver.Collectives, error) {
	if d.primary {
		return driver.OpenNCCL(uintptr(d.ctx))
	}
	var primary C.uintptr_t
	at := C.int(d.properties.Ordinal)
	if r := C.ovgen_ctx_retain(at, &primary); r != 0 {
		return nil, status("cuDevicePrimaryCtxRetain", r)
	}
	if r := C.ovgen_ctx_release(at); r != 0 {
		return nil, status("cuDevicePrimaryCtxRelease", r)
	}
	if primary != d.ctx {
		return nil, fmt.Errorf("use NCCL in context %#x: it works in the primary context of a device only "+
			"(join the group with that one): %w", uintptr(d.ctx), driver.ErrUnavailable)
	}
	return driver.OpenNCCL(uintptr(d.ctx))
}
