//go:build linux && cgo

package cuda

/*
#include <stdlib.h>
#include "blas.h"
#include "calls.h"
*/
import "C"

import (
	_ "embed"
	"fmt"
	"unsafe"

	"ovgen/runtime/driver"
)

//go:generate go run ovgen/cmd/ovgen ptx rescale.cu

//go:embed rescale_sm80.ptx
var rescalePTX []byte

// scaled refuses scaled products that the device or the library can't compute, and loads the kernel that may apply
// scales of rows. It is called with mu held.
func (d *Driver) scaled(desc driver.MatmulDesc) error {
	p, version := d.properties, d.LibraryVersion()
	have, many := 10*p.Major+p.Minor, desc.RowScales || desc.BlockScales
	switch {
	case desc.Scaled() && have < 89:
		return fmt.Errorf("products of %s need compute capability 8.9, and %s has %d.%d (multiply %s)", desc.Of, p.Name,
			p.Major, p.Minor, desc.Type)
	case many && have != 90:
		return fmt.Errorf("row and block scales need compute capability 9.0, and %s has %d.%d (take a scale a tensor)",
			p.Name, p.Major, p.Minor)
	case many && version < 120900:
		return fmt.Errorf("row and block scales need cuBLASLt 12.9, and this is %d (take a scale a tensor)", version)
	case !desc.RowScales || d.rescale[desc.Type] != 0:
		return nil
	}
	if d.scaling == 0 {
		m, err := d.load(&driver.Code{Name: "products with scales of rows", PTX: rescalePTX})
		if err != nil {
			return err
		}
		d.scaling = C.uintptr_t(m)
	}
	name := C.CString(desc.Type.String() + "_rescale")
	defer C.free(unsafe.Pointer(name))
	var f C.uintptr_t
	r := C.ovgen_module_function(d.ctx, d.scaling, name, &f)
	d.rescale[desc.Type] = f
	return check("cuModuleGetFunction", r)
}
