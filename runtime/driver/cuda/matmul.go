//go:build linux && cgo

package cuda

/*
#cgo nocallback ovgen_matmul
#include "blas.h"
#include "calls.h"
*/
import "C"

import (
	"encoding/base64"
	"errors"
	"fmt"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/choices"
)

// made is a product that a caller asked for: by a given algorithm, or by the algorithm that is chosen.
type made struct {
	driver.MatmulDesc
	by string
}

// product is a tuned product; it lives until the driver is closed, so that an equal product is not tuned again.
type product struct {
	handle driver.Product
	users  int
}

// MatmulCreate returns the product of the given shape. It tunes the product the first time, unless the process or the
// user's cache folder knows its algorithm (package choices).
func (d *Driver) MatmulCreate(desc driver.MatmulDesc) (driver.Product, error) {
	return d.MatmulBy(desc, "")
}

// MatmulBy returns the product of the given shape by an algorithm that MatmulAlgorithm has returned.
func (d *Driver) MatmulBy(desc driver.MatmulDesc, by string) (driver.Product, error) {
	if err := desc.Check(); err != nil {
		return 0, err
	}
	if _, known := epilogues[desc.Func]; !known {
		return 0, fmt.Errorf("create product: cuBLASLt applies no %s to each element", desc.Func)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.products[made{desc, by}]
	if p == nil {
		p = &product{}
		if err := d.relaxed(func() (err error) { p.handle, err = d.choose(desc, by); return err }); err != nil {
			return 0, fmt.Errorf("create product %s m,k,n %d,%d,%d: %w", desc.Type, desc.M, desc.K, desc.N, err)
		}
		d.products[made{desc, by}] = p
	}
	p.users++
	return p.handle, nil
}

// MatmulDestroy releases the result of one MatmulCreate.
func (d *Driver) MatmulDestroy(m driver.Product) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.products {
		if p.handle == m && p.users > 0 {
			p.users--
			return nil
		}
	}
	return fmt.Errorf("destroy product %#x: there is none, or it was destroyed as often as created", uintptr(m))
}

// MatmulAlgorithm is a choices.Algorithm in base64, as in the file of package choices.
func (d *Driver) MatmulAlgorithm(m driver.Product) string {
	var a choices.Algorithm
	C.ovgen_product_algorithm(C.uintptr_t(m), unsafe.Pointer(&a))
	return base64.StdEncoding.EncodeToString(a[:])
}

// Matmul enqueues the product. Each address must be aligned as well as the rows are, to at most 16 bytes.
func (d *Driver) Matmul(m driver.Product, x driver.Operands, s driver.Stream) error {
	if m == 0 {
		return errors.New("multiply: there is no product 0")
	}
	r := C.ovgen_matmul(d.ctx, C.uintptr_t(m), C.uint64_t(x.C), C.uint64_t(x.A), C.uint64_t(x.B), C.uint64_t(x.Bias),
		C.uint64_t(x.ScaleA), C.uint64_t(x.ScaleB), C.uint64_t(x.Workspace), C.uintptr_t(s))
	if r == C.CUBLAS_STATUS_SUCCESS {
		return nil
	}
	return matmulError(m, x, r)
}

func matmulError(m driver.Product, x driver.Operands, r C.int) error {
	switch r {
	case C.OVGEN_MISALIGNED:
		var wa, wb, wc, wbias C.uint64_t
		C.ovgen_product_alignment(C.uintptr_t(m), &wa, &wb, &wc, &wbias)
		return fmt.Errorf("multiply: a, b, c, bias at %#x, %#x, %#x, %#x must be aligned to %d, %d, %d, %d bytes: %w",
			x.A, x.B, x.C, x.Bias, wa, wb, wc, wbias,
			&driver.Status{Call: "cublasLtMatmul", Code: C.CUBLAS_STATUS_INVALID_VALUE, Text: "misaligned address"})
	case C.OVGEN_OVERLAP:
		return fmt.Errorf("multiply: a, b or bias at %#x, %#x, %#x meets the result at %#x (give the result memory "+
			"of its own): %w", x.A, x.B, x.Bias, x.C,
			&driver.Status{Call: "cublasLtMatmul", Code: C.CUBLAS_STATUS_INVALID_VALUE,
				Text: "an operand overlaps the result"})
	case C.OVGEN_NO_SCALE:
		return fmt.Errorf("multiply: scales at %#x and %#x must be there and aligned to 16 bytes: %w", x.ScaleA,
			x.ScaleB, &driver.Status{Call: "cublasLtMatmul", Code: C.CUBLAS_STATUS_INVALID_VALUE, Text: "no scale"})
	case C.OVGEN_NO_CONTEXT:
		return &driver.Status{Call: "cuCtxSetCurrent", Code: 201,
			Text: "CUDA_ERROR_INVALID_CONTEXT: the context is gone"}
	}
	if r >= C.OVGEN_RESCALE {
		return fmt.Errorf("multiply: apply scales of rows: %w", status("cuLaunchKernel", C.CUresult(r-C.OVGEN_RESCALE)))
	}
	return blasStatus("cublasLtMatmul", C.cublasStatus_t(r))
}
