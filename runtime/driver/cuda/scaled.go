//go:build linux && cgo

package cuda

/*
#include "blas.h"
*/
import "C"

import (
	"fmt"

	"ovgen/runtime/driver"
)

// scaled refuses scaled products that the device or the library does not have.
func (d *Driver) scaled(desc driver.MatmulDesc) error {
	p, version := d.properties, int(C.ovgen_blas_version())
	have := 10*p.Major + p.Minor
	switch {
	case desc.Scaled() && have < 89:
		return fmt.Errorf("products of %s need compute capability 8.9, and %s has %d.%d (multiply %s)", desc.Of, p.Name,
			p.Major, p.Minor, desc.Type)
	case desc.RowScales && have != 90:
		return fmt.Errorf("row scales need compute capability 9.0, and %s has %d.%d (take a scale a tensor)", p.Name,
			p.Major, p.Minor)
	case desc.RowScales && version < 120900:
		return fmt.Errorf("row scales need cuBLASLt 12.9, and this is %d (take a scale a tensor)", version)
	}
	return nil
}
