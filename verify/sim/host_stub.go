//go:build !cgo || !linux

package sim

import (
	"fmt"
	"unsafe"

	"ovgen/runtime/driver"
)

// hostKernel is never made: kernels are C++, which this build could not compile.
type hostKernel struct{}

// kernelsRun is the reason why no kernel can be loaded.
func kernelsRun() error {
	return fmt.Errorf("kernels need a build with cgo on Linux (set CGO_ENABLED=1, and install a C++ compiler): %w",
		driver.ErrUnavailable)
}

func hostKernels(unsafe.Pointer) map[string]*hostKernel { return nil }

func (*hostKernel) bytes() int { return 0 }

func (*hostKernel) start(_ unsafe.Pointer, _, _ *[3]uint32, _ uint64, _ bool) unsafe.Pointer {
	return nil
}

func (*hostKernel) resume(unsafe.Pointer, *uint64, *uint32) (state int) { return finished }

func (*hostKernel) sent(unsafe.Pointer) uint64 { return 0 }

func (*hostKernel) fault(unsafe.Pointer) string { return "" }

func (*hostKernel) destroy(unsafe.Pointer) {}
