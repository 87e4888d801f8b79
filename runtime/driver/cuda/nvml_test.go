//go:build linux && cgo

package cuda

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/drivertest"
)

// TestNVML counts the connections that a fake NVML tells of, and takes each way of its failing for not knowing.
func TestNVML(t *testing.T) {
	fake, nvml := buildFake(t), t.TempDir()
	text, err := fakeSource.ReadFile("testdata/nvml.c")
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("cc", "-shared", "-fPIC", "-o", filepath.Join(nvml, "libnvidia-ml.so.1"), "-xc", "-")
	build.Stdin = strings.NewReader(string(text))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// A file of that name that is no library is as good as none, also on a machine that has the library.
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "libnvidia-ml.so.1"), []byte("no library"), 0o600); err != nil {
		t.Fatal(err)
	}
	with := fake + ":" + nvml
	for _, x := range []struct {
		dir, env, want string
	}{
		{with, "", "wires {2 1} <nil>\n"},
		{with, "FAKE_NVML=1", "NVML does not say where connection 3 ends (3): driver not available\n"},
		{with, "FAKE_NVML_INIT=9", "nvmlInit_v2 fails with 9: driver not available\n"},
		{fake + ":" + broken, "", "libnvidia-ml.so.1: "},
	} {
		if out := inChild(t, x.dir, "TestNVMLCalls", x.env); !strings.Contains(out, x.want) {
			t.Errorf("%s: no %q in\n%s", x.env, x.want, out)
		}
	}
}

func TestNVMLCalls(t *testing.T) {
	drivertest.OnlyChild(t)
	b, err := driver.Lookup("cuda")
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.Open(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	uuid := func(b byte) (u driver.UUID) { return driver.UUID([]byte(strings.Repeat(string(rune(b)), len(u)))) }
	n, err := d.DeviceGetNVLinks(uuid(1))
	if err != nil && !errors.Is(err, driver.ErrUnavailable) {
		t.Error(err)
	}
	fmt.Fprintln(os.Stderr, "wires", n, err)
	if _, err := d.DeviceGetNVLinks(uuid(3)); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("a device that NVML does not know: %v", err)
	}
	if _, err := d.DeviceGetNVLinks(uuid(9)); !errors.Is(err, driver.ErrPeerInvisible) {
		t.Errorf("a device that is not there: %v", err)
	}
}
