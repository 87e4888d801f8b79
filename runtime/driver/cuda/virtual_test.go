//go:build linux && cgo

package cuda

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"ovgen/runtime/driver"
	"ovgen/verify/drivertest"
)

// TestFakeVirtual sees what reaches libcuda from the calls of virtual memory, and as of which CUDA version, and that a
// library without them is opened, and refuses each.
func TestFakeVirtual(t *testing.T) {
	out := inChild(t, buildFake(t, "-DASK"), "TestFakeVirtualCalls")
	at := 0
	for _, want := range []string{
		"asked for cuMemSetAccess as of 10020", "asked for cuMemRetainAllocationHandle as of 11000",
		"asked for cuMemExportToShareableHandle as of 10020", "asked for cuMemImportFromShareableHandle as of 10020",
		"granularity type 1 at 1 1 flags 0",
		"create 2097152 type 1 handles 9 at 1 1 flags 0 mode 2",
		"export 0x90 type 1 flags 0", "import file 33", "release handle 0x92",
		"retain 0x7040 mode 2",
		"export 0x91 type 8 flags 0", "import fabric 7..7",
		"reserve 4194304 alignment 0 at 0 flags 0",
		"map 0x600000 2097152 offset 0 handle 0x90 flags 0",
		"access 0x600000 2097152 of 1 1 flags 3 count 1 mode 2",
		"unmap 0x600000 2097152", "give back 0x400000 4194304",
	} {
		i := strings.Index(out[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or comes too early, in\n%s", want, out)
		}
		at += i + len(want)
	}
	inChild(t, buildFake(t, "-DPLAIN"), "TestFakeVirtualCalls", "FAKE_PLAIN=1")
}

func TestFakeVirtualCalls(t *testing.T) {
	drivertest.OnlyChild(t)
	opened, err := backend{}.Open(1, 0)
	must(t, err)
	d := opened.(*Driver)
	if os.Getenv("FAKE_PLAIN") != "" {
		fakePlain(t, d)
		return
	}
	unit, err := d.MemGetAllocationGranularity()
	must(t, err)
	h, err := d.MemCreate(unit, driver.FileDescriptor|driver.FabricHandle)
	must(t, err)
	file, err := d.MemExportToShareableHandle(h, driver.FileDescriptor)
	must(t, err)
	if flags, err := unix.FcntlInt(uintptr(file.File), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("the file stays open in other programs: %#x, %v", flags, err)
	}
	must(t, unix.Close(file.File))
	imported, err := d.MemImportFromShareableHandle(driver.Shareable{Type: driver.FileDescriptor, File: 33})
	must(t, err)
	must(t, d.MemRelease(imported))
	kept, err := d.MemRetainAllocationHandle(0x7040)
	must(t, err)
	if types, err := d.MemGetAllocationPropertiesFromHandle(kept); types != driver.FabricHandle || err != nil {
		t.Errorf("handle types %d, %v", types, err)
	}
	fabric, err := d.MemExportToShareableHandle(kept, driver.FabricHandle)
	must(t, err)
	_, err = d.MemImportFromShareableHandle(fabric)
	must(t, err)
	at, err := d.MemAddressReserve(2 * unit)
	must(t, err)
	second := at + driver.Ptr(unit)
	must(t, d.MemMap(second, unit, h))
	must(t, d.MemSetAccess(second, unit, 1))
	var s *driver.Status
	if err := d.MemSetAccess(at, unit, 2); !errors.As(err, &s) || s.Call != "cuMemSetAccess" || s.Code != 101 ||
		!strings.Contains(err.Error(), "let device 2 use 2097152 bytes at 0x400000") {
		t.Errorf("access of a device out of reach: %v", err)
	}
	must(t, errors.Join(d.MemUnmap(second, unit), d.MemAddressFree(at, 2*unit), d.Close()))
}

// fakePlain calls what a driver lacks.
func fakePlain(t *testing.T, d *Driver) {
	second := func(_ any, err error) error { return err }
	for i, err := range []error{
		second(d.MemGetAllocationGranularity()),
		second(d.MemCreate(1<<21, 0)),
		second(d.MemRetainAllocationHandle(0x7040)),
		second(d.MemGetAllocationPropertiesFromHandle(1)),
		second(d.MemExportToShareableHandle(1, driver.FileDescriptor)),
		second(d.MemImportFromShareableHandle(driver.Shareable{Type: driver.FileDescriptor})),
		d.MemRelease(1),
		second(d.MemAddressReserve(1 << 21)),
		d.MemAddressFree(1, 1), d.MemMap(1, 1, 1), d.MemUnmap(1, 1), d.MemSetAccess(1, 1, 1),
	} {
		var s *driver.Status
		if !errors.As(err, &s) || s.Code != 801 || !strings.HasPrefix(s.Call, "cuMem") {
			t.Error(fmt.Errorf("call %d of a driver without virtual memory: %w", i, err))
		}
	}
}
