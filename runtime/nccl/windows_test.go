//go:build linux && cgo

package nccl

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/drivertest"
)

// TestWindows sees what reaches libnccl from the calls of windows, by version: before 2.29.2 it is not asked whether it
// reaches the peers' memory.
func TestWindows(t *testing.T) {
	dir := buildFake(t)
	for _, x := range []struct {
		version       string
		env           string
		asks          bool
		says, limited string
	}{
		{"22703", "", false, "{true false false}", "NCCL 2.27.3 don't look whether they are aborted"},
		{"22809", "FAKE_SYMMETRIC=1", false, "{true false false}", "NCCL 2.28.9 don't look whether they are aborted"},
		{"22902", "FAKE_SYMMETRIC=1", true, "{true true true}", "NCCL 2.29.2 don't look whether they are aborted"},
		{"22907", "", true, "{true true false}", `missing "" unabortable ""`},
		{"23007", "FAKE_SYMMETRIC=1", true, "{true true true}", `missing "" unabortable ""`},
		{"23203", "FAKE_WINDOW=none", true, "{false true false}", `missing "" unabortable ""`},
	} {
		t.Run(x.version, func(t *testing.T) {
			out := inChild(t, dir, "TestFakeWindows", "FAKE_BUSY=2", "FAKE_VERSION="+x.version, x.env)
			inOrder(t, out, x.limited, "current 0x1001\nmemory 4096\n",
				"current 0x1001\nwindow of 0x99: 4096 at 0x200000 flags 1\n", "state "+x.says,
				"current 0x1001\nfinalize 0x99\n", "current 0x1001\nfree 0x200000\n")
			asked := "properties of 0x99 size 256 magic cafebeef version " + x.version + "\n"
			if strings.Contains(out, asked) != x.asks {
				t.Errorf("asked for properties: %t, in\n%s", !x.asks, out)
			}
			ended := strings.Contains(out, "no window of 0x99: 0x77\n")
			if made := !strings.Contains(x.env, "WINDOW"); ended != made {
				t.Errorf("a window was made: %t, and ended: %t, in\n%s", made, ended, out)
			}
		})
	}
}

func TestFakeWindows(t *testing.T) {
	drivertest.OnlyChild(t)
	c, err := driver.OpenNCCL(0x1001)
	must(t, err)
	w := c.(driver.Windows)
	limits := w.WindowLimits(driver.Properties{Name: "H200", Major: 9})
	fmt.Printf("missing %q unabortable %q\n", limits.Missing, limits.Unabortable)
	id, err := c.CommGetUniqueID()
	must(t, err)
	comm, err := c.CommInitRank(id, 2, 1)
	settle(t, c, comm, err)
	p, err := w.WindowMemAlloc(4096)
	must(t, err)
	settle(t, c, comm, w.CommWindowRegister(comm, p, 4096))
	state, err := w.CommWindow(comm)
	must(t, err)
	fmt.Printf("state %v\n", state)
	must(t, w.CommWindowDeregister(comm))
	must(t, c.CommDestroy(comm))
	must(t, w.WindowMemFree(p))
}

// TestWindowLimits goes by version, device and variables.
func TestWindowLimits(t *testing.T) {
	dir := buildFake(t)
	for _, x := range []struct{ version, major, env, want string }{
		{"22605", "9", "", `missing "NCCL 2.26.5 has no windows (install 2.27 or newer)"`},
		{"23007", "9", "NCCL_CUMEM_ENABLE=0", `missing "NCCL_CUMEM_ENABLE or NCCL_WIN_ENABLE is 0 (unset it)"`},
		{"23007", "9", "NCCL_WIN_ENABLE=0", `missing "NCCL_CUMEM_ENABLE or NCCL_WIN_ENABLE is 0 (unset it)"`},
		{"22906", "9", "", `missing "" unabortable "symmetric kernels of NCCL 2.29.6 don't look`},
		{"22907", "9", "", `missing "" unabortable ""`},
		{"23007", "10", "", `missing "" unabortable "NCCL 2.30.7 gathers by copy engines on a device of 10, which`},
	} {
		out := inChild(t, dir, "TestFakeLimits", "FAKE_VERSION="+x.version, "FAKE_MAJOR="+x.major, x.env)
		if !strings.Contains(out, x.want) {
			t.Errorf("%s on %s with %q: no %q in\n%s", x.version, x.major, x.env, x.want, out)
		}
	}
}

func TestFakeLimits(t *testing.T) {
	drivertest.OnlyChild(t)
	c, err := driver.OpenNCCL(0)
	must(t, err)
	p := driver.Properties{}
	_, err = fmt.Sscan(os.Getenv("FAKE_MAJOR"), &p.Major)
	must(t, err)
	p.Name = fmt.Sprintf("device of %d", p.Major)
	l := c.(driver.Windows).WindowLimits(p)
	fmt.Printf("missing %q unabortable %q\n", l.Missing, l.Unabortable)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
