//go:build linux && cgo

package cuda

/*
#include <stdlib.h>
#include "blas.h"
#include "calls.h"
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/choices"
)

// blasVariable names the library or its folder where the loader does not find it.
const blasVariable = "OVGEN_CUBLASLT"

// blasLibrary reports whether cuBLASLt's table is filled.
var blasLibrary struct {
	sync.Mutex
	loaded bool
}

// blasPaths lists the paths where cuBLASLt may be, given the variable's value and the CUDA version of the driver:
// cuBLASLt 13 does not start on a driver for 12. The loader looks for a name without a slash in its cache (ldconfig)
// and in LD_LIBRARY_PATH.
func blasPaths(value string, version int) []string {
	names := []string{"libcublasLt.so.13", "libcublasLt.so.12"}
	if version < 13000 {
		names = names[1:]
	}
	in := func(dir string) (paths []string) {
		for _, n := range names {
			paths = append(paths, filepath.Join(dir, n))
		}
		return paths
	}
	if value == "" {
		return append(names, in("/usr/local/cuda/lib64")...)
	}
	if info, err := os.Stat(value); err == nil && info.IsDir() {
		return in(value)
	}
	return []string{value}
}

// loadBlas fills cuBLASLt's table from the first of the paths that can be opened.
func loadBlas(paths []string) error {
	blasLibrary.Lock()
	defer blasLibrary.Unlock()
	if blasLibrary.loaded {
		return nil
	}
	var reasons []string
	for _, path := range paths {
		name := C.CString(path)
		var why [512]C.char
		failed := C.ovgen_blas_load(name, &why[0], C.size_t(len(why)))
		C.free(unsafe.Pointer(name))
		if failed == 0 {
			blasLibrary.loaded = true
			return nil
		}
		reasons = append(reasons, C.GoString(&why[0]))
	}
	return fmt.Errorf("open cuBLASLt: %s (install CUDA's cuBLAS, or set %s to the library or its folder: "+
		"PyTorch keeps it in site-packages/nvidia/cu13/lib or site-packages/nvidia/cublas/lib): %w",
		strings.Join(reasons, "; "), blasVariable, driver.ErrUnavailable)
}

// openBlas makes cuBLASLt's handle with the first product. It is called with mu held and inside relaxed.
func (d *Driver) openBlas() error {
	if d.blas != 0 {
		return nil
	}
	return guarded(func() error {
		if err := loadBlas(blasPaths(os.Getenv(blasVariable), d.properties.Version)); err != nil {
			return err
		}
		if r := C.ovgen_blas_create(&d.blas); r != 0 {
			return blasStatus("cublasLtCreate", r)
		}
		d.choices = choices.Of(choices.Machine{
			Device: d.properties.Name, Driver: d.properties.Version, Library: d.LibraryVersion(),
		}, choices.Folder(d.folder))
		return nil
	})
}

// LibraryVersion is cuBLASLt's: 120901 is 12.9.1. It is 0 before the process has made a product.
func (d *Driver) LibraryVersion() int { return int(C.ovgen_blas_version()) }

// closeBlas frees all products and the handle.
func (d *Driver) closeBlas() error {
	if d.blas == 0 {
		return nil
	}
	return d.relaxed(func() error {
		for _, p := range d.products {
			C.ovgen_product_destroy(C.uintptr_t(p.handle))
		}
		clear(d.products)
		if r := C.ovgen_blas_destroy(d.blas); r != 0 {
			return blasStatus("cublasLtDestroy", r)
		}
		d.blas = 0
		if d.scaling == 0 {
			return nil
		}
		return check("cuModuleUnload", C.ovgen_module_unload(d.ctx, d.scaling))
	})
}

// blasStatus is the error of a cuBLASLt call.
func blasStatus(call string, code C.cublasStatus_t) error {
	var name, text *C.char
	C.ovgen_blas_error(code, &name, &text)
	return &driver.Status{Call: call, Code: int(code), Text: C.GoString(name) + ": " + C.GoString(text)}
}
