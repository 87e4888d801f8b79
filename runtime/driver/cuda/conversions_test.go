//go:build linux && cgo

package cuda

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/verify/drivertest"
)

// TestConversions compares what a GPU makes of all codes of 8 and 4 bits and of numbers with the reference's, by
// operations that every GPU has and by instructions that begin with compute capability 8.9. The test of the same name
// in package nvrtc writes the kernels.
func TestConversions(t *testing.T) {
	d := device(t)
	dir := os.Getenv("OVGEN_CONVERSIONS")
	if dir == "" {
		t.Skip("OVGEN_CONVERSIONS names no folder of kernels: make gpu-build writes them into .gpu")
	}
	have := 10*d.properties.Major + d.properties.Minor
	for _, c := range []struct {
		file string
		from int
	}{{"conversions_sm80.ptx", 80}, {"conversions_sm89.ptx", 89}} {
		t.Run(c.file, func(t *testing.T) {
			if have < c.from {
				t.Skipf("compute capability %d", have)
			}
			ptx, err := os.ReadFile(filepath.Join(dir, c.file))
			must(t, err)
			drivertest.Conversions(t, converted(t, d, ptx))
		})
	}
}

// converted is what the kernel writes: no byte more than it has room for.
func converted(t *testing.T, d *Driver, ptx []byte) []byte {
	m, err := d.ModuleLoadData(&driver.Code{Name: "conversions", PTX: ptx})
	must(t, err)
	f, err := d.ModuleGetFunction(m, "conversions")
	must(t, err)
	made := make([]byte, drivertest.ConvertedBytes)
	to, err := d.MemAlloc(int64(len(made)))
	must(t, err)
	s, err := d.StreamCreateWithPriority(driver.Normal)
	must(t, err)
	must(t, d.LaunchKernel(f, driver.Dim3{X: 512, Y: 1, Z: 1}, driver.Dim3{X: 256, Y: 1, Z: 1}, s, unsafe.Pointer(&to)))
	must(t, d.StreamSynchronize(s))
	must(t, d.MemcpyDtoH(made, to))
	must(t, d.StreamDestroy(s))
	must(t, d.MemFree(to))
	must(t, d.ModuleUnload(m))
	return made
}
