//go:build linux && cgo

package cuda

import (
	"embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/driver/choices"
	"ovgen/verify/drivertest"
)

//go:embed api.h blas.h testdata
var fakeSource embed.FS

// buildFake compiles a libcuda.so.1 that answers without a GPU.
func buildFake(t *testing.T, flags ...string) (dir string) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler here, and the fake libcuda is built when the test runs")
	}
	dir = t.TempDir()
	for _, name := range []string{"api.h", "testdata/stubs.c", "testdata/answers.c"} {
		text, err := fakeSource.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := append([]string{"-shared", "-fPIC", "-std=gnu2x", "-o", "libcuda.so.1", "stubs.c", "answers.c"}, flags...)
	build := exec.Command(cc, args...)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// inChild runs one of the tests below in a process that finds the fake, and returns its output and the fake's.
func inChild(t *testing.T, dir, test string, env ...string) string {
	t.Helper()
	return drivertest.Child(t, dir, test, append([]string{choices.Variable + "=" + choices.Off}, env...)...)
}

// TestFake sees what reaches libcuda from each kind of call.
func TestFake(t *testing.T) {
	dir := buildFake(t)
	out := inChild(t, dir, "TestFakeCalls", "CUDA_DEVICE_MAX_CONNECTIONS=")
	at := 0
	for _, want := range []string{
		"init 0 connections \n", // set by the user, if only to nothing
		"alloc 4096 in 0x1001 mode 2",
		"query 0x60 in 0x1001 mode 2",
		"open 1..64 flags 1",
		"copy 8 bytes to 0x2000 mode 2",
		"synchronise (nil) mode 2", // the copy may be on its way still
		"stream flags 1 priority 0",
		"stream flags 1 priority -2",
		"stream flags 1 priority -5",
		"batch 255 on 0x50 flags 0: 1 0 0 1 .. 1 254 1016 1",
		"batch 255 on 0x50 flags 0: 2 255 1020 0 .. 2 509 2036 0",
		"batch 90 on 0x50 flags 0: 1 510 2040 1 .. 2 599 2396 0",
		"stream 0x50 waits for 0x60 flags 0 mode 0",
		"stream 0x50 waits for 0x60 flags 1 mode 0",
		"capture on 0x50 mode 2",
		"event flags 2",
		"event flags 0",
		"pin 4096 flags 3",
		"load 0x70", "load 0x71", "unload 0x71", "unload 0x70", "load 0x72",
		"launch 0x99 (1,2,3) (4,5,6) shared 0 on 0x50: 77 extra (nil)",
		"launch early 0x65 (1,2,3) (4,5,6) shared 0 on 0x50: 77 extra (nil), 1 attributes: 6 = 1",
		"release 1",
	} {
		i := strings.Index(out[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or comes too early, in\n%s", want, out)
		}
		at += i + len(want)
	}
	if strings.Count(out, "release 1\n") != 1 {
		t.Errorf("the primary context was not released once:\n%s", out)
	}
}

func TestFakeConnections(t *testing.T) {
	os.Unsetenv("CUDA_DEVICE_MAX_CONNECTIONS")
	if out := inChild(t, buildFake(t), "TestFakeCalls"); !strings.Contains(out, "init 0 connections 32") {
		t.Errorf("cuInit saw other connections than 32:\n%s", out)
	}
}

func TestFakeVersions(t *testing.T) {
	out := inChild(t, buildFake(t, "-DASK"), "TestFakeCalls")
	for _, want := range []string{"asked for cuMemAlloc as of 3020 flags 1",
		"asked for cuEventElapsedTime as of 2000 flags 1"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

func TestFakeRefusals(t *testing.T) {
	dir := buildFake(t)
	for _, c := range []struct{ env, want string }{
		{"FAKE_VERSION=12020", "the driver supports CUDA 12.2 (install R550"},
		{"FAKE_INIT=100", "cuInit: CUDA_ERROR_FAKE: made up (100)"},
	} {
		if out := inChild(t, dir, "TestFakeCount", c.env); !strings.Contains(out, c.want) ||
			!strings.Contains(out, "unavailable: true") {
			t.Errorf("%s: no %q in\n%s", c.env, c.want, out)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "stubs.c"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("cc", "-shared", "-fPIC", "-std=gnu2x", "-o", "libcuda.so.1", "answers.c")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out := inChild(t, dir, "TestFakeCount"); !strings.Contains(out, "it has no cuCtxSynchronize") {
		t.Errorf("a library without cuCtxSynchronize:\n%s", out)
	}
}

func TestFakeCount(t *testing.T) {
	drivertest.OnlyChild(t)
	_, err := backend{}.Count()
	os.Stdout.WriteString(err.Error() + "\n")
	if errors.Is(err, driver.ErrUnavailable) {
		os.Stdout.WriteString("unavailable: true\n")
	}
}

// action is a signal's handler as the kernel keeps it.
type action struct {
	handler, flags, restorer, mask uintptr
}

func handlerOf(t *testing.T, s syscall.Signal) (a action) {
	if _, _, e := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), 0,
		uintptr(unsafe.Pointer(&a)), 8, 0, 0); e != 0 {
		t.Fatal(e)
	}
	return a
}

func TestFakeCalls(t *testing.T) {
	drivertest.OnlyChild(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	before := handlerOf(t, syscall.SIGINT)
	n, err := backend{}.Count()
	must(err)
	opened, err := backend{}.Open(1, 0)
	must(err)
	if after := handlerOf(t, syscall.SIGINT); n != 3 || after != before {
		t.Errorf("%d devices, SIGINT is handled by %+v, was %+v", n, after, before)
	}
	d := opened.(*Driver)
	_, err = d.MemAlloc(4096)
	must(err)
	fakeQueries(t, d)
	var h driver.IpcMemHandle
	for i := range h {
		h[i] = byte(i + 1)
	}
	_, err = d.IpcOpenMemHandle(h)
	must(err)
	must(d.MemcpyHtoD(0x2000, make([]byte, 8)))
	fakeStreams(t, d)
	fakeKernels(t, d)
	const refused = "it works in the primary context of a device only"
	for _, context := range []uintptr{0x1002, 0x2002} { // the first is the primary one
		foreign, err := backend{}.Open(2, context)
		must(err)
		if _, err := driver.CollectivesOf(foreign); err != nil && strings.Contains(err.Error(), refused) !=
			(context == 0x2002) || err == nil && context == 0x2002 {
			t.Errorf("NCCL in context %#x: %v", context, err)
		}
		must(foreign.Close())
	}
	if _, err := (backend{}).Open(2, 0x1001); err == nil || !strings.Contains(err.Error(), "belongs to device 1") {
		t.Errorf("a context of another device: %v", err)
	}
	if _, err := (backend{}).Open(7, 0); err == nil ||
		!strings.Contains(err.Error(), "open device 7: cuDeviceGetName") {
		t.Errorf("a device that does not exist: %v", err)
	}
	must(d.Close())
	must(d.Close())
}

func fakeQueries(t *testing.T, d *Driver) {
	p := d.Properties()
	if p.Name != "fake 1" || p.UUID != (driver.UUID{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}) ||
		p.Memory != 1<<30 ||
		p.Multiprocessors != 16 || p.Major != 75 || p.Minor != 76 || p.Version != 12040 {
		t.Errorf("properties %+v", p)
	}
	if done, err := d.EventQuery(0x60); done || err != nil {
		t.Errorf("a pending event: %v, %v", done, err)
	}
	var s *driver.Status
	if _, err := d.EventQuery(0x61); !errors.As(err, &s) || s.Code != 700 || s.Call != "cuEventQuery" {
		t.Errorf("a failed context: %v", err)
	}
	for at, want := range map[driver.Ptr]driver.PointerAttributes{
		0x1000: {Device: true, Ordinal: 1, BufferID: 0x1000 << 32, LegacyIpcCapable: true},
		0x2000: {Device: true, Ordinal: 1, BufferID: 0x2000 << 32, Pooled: true},
		0x3000: {Ordinal: 1, BufferID: 0x3000 << 32},
		0x4000: {Ordinal: 1, BufferID: 0x4000 << 32},
	} {
		if got, err := d.PointerGetAttributes(at); got != want || err != nil {
			t.Errorf("attributes of %#x: %+v, %v", at, got, err)
		}
	}
	if _, err := d.PointerGetAttributes(0x5000); err == nil || !strings.Contains(err.Error(), "0x5000") {
		t.Errorf("an unknown address: %v", err)
	}
	fakePeers(t, d)
}

func fakePeers(t *testing.T, d *Driver) {
	uuid := func(b byte) (u driver.UUID) {
		for i := range u {
			u[i] = b
		}
		return u
	}
	for _, c := range []struct {
		peer driver.UUID
		can  bool
		err  error
	}{{uuid(1), true, nil}, {uuid(2), true, nil}, {uuid(3), false, nil}, {uuid(9), false, driver.ErrPeerInvisible}} {
		if can, err := d.DeviceCanAccessPeer(c.peer); can != c.can || !errors.Is(err, c.err) {
			t.Errorf("access to %x: %v, %v", c.peer, can, err)
		}
		if c.peer == d.Properties().UUID {
			continue
		}
		if n, err := d.DeviceGetP2PAttribute(driver.NativeAtomics, c.peer); (n == 1) != c.can ||
			!errors.Is(err, c.err) {
			t.Errorf("atomics of the link to %x: %d, %v", c.peer, n, err)
		}
	}
	if d.Context() != 0x1001 {
		t.Errorf("context %#x", d.Context())
	}
}

func fakeStreams(t *testing.T, d *Driver) {
	for _, p := range []driver.Priority{driver.Low, driver.Normal, driver.High} {
		if s, err := d.StreamCreateWithPriority(p); s != 0x50 || err != nil {
			t.Errorf("stream %#x, %v", s, err)
		}
	}
	if _, err := d.StreamCreateWithPriority(driver.High + 1); err == nil {
		t.Error("a priority above the highest was accepted")
	}
	items := make([]driver.MemOp, 600)
	for i := range items {
		items[i] = driver.MemOp{Value: uint32(4 * i), Address: driver.Ptr(i)}
		if i >= 255 && i < 510 || i > 510 {
			items[i].Kind = driver.Write
		}
	}
	if err := errors.Join(d.StreamBatchMemOp(0x50, items), d.StreamBatchMemOp(0x50, nil)); err != nil {
		t.Error(err)
	}
	items[599].Kind = 2
	if err := d.StreamBatchMemOp(0x50, items); err == nil {
		t.Error("an item of kind 2 was accepted")
	}
	if n := testing.AllocsPerRun(10, func() { d.StreamBatchMemOp(0x51, items[:20]) }); n != 0 {
		t.Errorf("a batch makes %v allocations", n)
	}
	err := errors.Join(d.StreamWaitEvent(0x50, 0x60, 0), d.StreamWaitEvent(0x50, 0x60, driver.External),
		d.StreamBeginCapture(0x50))
	x, refused := d.StreamGetCaptureInfo(0x10)
	if refused != nil || x.ID != 7 || len(x.Nodes) != 256 || x.Nodes[255] != 0x1ff {
		t.Errorf("a stream that follows 256 nodes: %v, %v", x, refused)
	}
	const want = "follows 272 nodes of its graph, and at most 256 are read (enqueue an operation"
	if _, err := d.StreamGetCaptureInfo(0x11); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a stream that follows 272 nodes: %v", err)
	}
	_, untimed := d.EventCreate(false)
	_, timed := d.EventCreate(true)
	if err := errors.Join(err, untimed, timed); err != nil {
		t.Error(err)
	}
}

func fakeKernels(t *testing.T, d *Driver) {
	page := make([]byte, 4096)
	if p, err := d.MemHostRegister(unsafe.Pointer(&page[0]), 4096); err != nil || p == 0 {
		t.Errorf("pin: %#x, %v", p, err)
	}
	_, err := d.ModuleLoadData(&driver.Code{Name: "ring", PTX: []byte("nonsense")})
	if err == nil || err.Error() != "load kernels of ring: cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX: a PTX JIT "+
		"compilation failed (218); line 1: nonsense is no PTX" {
		t.Errorf("bad PTX: %v", err)
	}
	if _, err := d.ModuleLoadData(&driver.Code{Name: "ring", Source: "12ab",
		PTX: []byte("// source sha256 12ab\n")}); !errors.Is(err, driver.ErrNoPTX) ||
		!strings.Contains(err.Error(), "load kernels of ring: it was generated without NVRTC") {
		t.Errorf("a package without PTX: %v", err)
	}
	var stale *driver.StaleError
	if _, err := d.ModuleLoadData(&driver.Code{Name: "ring", Source: "12ab",
		PTX: []byte("// source sha256 34cd\n//\nnonsense")}); !errors.As(err, &stale) || stale.Name != "ring" {
		t.Errorf("PTX of another source: %v", err)
	}
	fakeModules(t, d)
	// The parameters may lie in an object that holds Go pointers.
	launch := struct {
		params uint32
		other  *int
	}{77, new(int)}
	grid, block := driver.Dim3{X: 1, Y: 2, Z: 3}, driver.Dim3{X: 4, Y: 5, Z: 6}
	if err := d.LaunchKernel(0x99, grid, block, 0x50, unsafe.Pointer(&launch)); err != nil {
		t.Error(err)
	}
	m, err := d.ModuleLoadData(&driver.Code{Name: "early", PTX: []byte("good"),
		Kernels: []driver.Kernel{{Name: "early", Early: true}}})
	must(t, err)
	early, err := d.ModuleGetFunction(m, "early")
	must(t, errors.Join(err, d.LaunchKernel(early, grid, block, 0x50, unsafe.Pointer(&launch))))
	n := testing.AllocsPerRun(10, func() { d.EventRecordWithFlags(0x60, 0x50, 0) })
	if n != 0 {
		t.Errorf("recording an event makes %v allocations", n)
	}
}

// fakeModules loads two packages, one of them for two plans.
func fakeModules(t *testing.T, d *Driver) {
	one, two := &driver.Code{Name: "one", PTX: []byte("good")}, &driver.Code{Name: "two", PTX: []byte("good")}
	var loaded []driver.Module
	for _, code := range []*driver.Code{one, two, one} {
		m, err := d.ModuleLoadData(code)
		must(t, err)
		loaded = append(loaded, m)
	}
	if loaded[0] != loaded[2] || loaded[0] == loaded[1] {
		t.Errorf("loaded %#x", loaded)
	}
	for _, m := range []driver.Module{loaded[0], loaded[1], loaded[2]} {
		must(t, d.ModuleUnload(m))
	}
	again, err := d.ModuleLoadData(one)
	must(t, err)
	if again == loaded[0] {
		t.Error("a module that was unloaded was not loaded again")
	}
}
