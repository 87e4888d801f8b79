//go:build linux && cgo

package cuda

import (
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	"ovgen/runtime/driver"
	_ "ovgen/runtime/nccl"
	"ovgen/verify/drivertest"
)

// device opens device 0, or skips the test with the reason.
func device(t testing.TB) *Driver {
	t.Helper()
	if _, err := (backend{}).Count(); err != nil {
		t.Skip("no GPU here: ", err)
	}
	d, err := backend{}.Open(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d.(*Driver)
}

func TestConform(t *testing.T) {
	drivertest.Conform(t, func() driver.Driver { return device(t) })
}

func TestNoAllocs(t *testing.T) {
	drivertest.NoAllocs(t, func() driver.Driver { return device(t) })
}

// store writes a value to an address, both members of its one parameter.
const store = `.version 8.4
.target sm_80
.address_size 64
.visible .entry store(.param .align 8 .b8 p[16])
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [p+8];
  cvta.to.global.u64 %rd2, %rd1;
  st.global.u32 [%rd2], %r1;
  ret;
}
`

type storeParams struct {
	to    driver.Ptr
	value uint32
}

func TestKernel(t *testing.T) {
	d := device(t)
	m, err := d.ModuleLoadData(&driver.Code{Name: "store", PTX: []byte(store)})
	must(t, err)
	if _, err := d.ModuleGetFunction(m, "absent"); err == nil {
		t.Error("a kernel that does not exist was found")
	}
	f, err := d.ModuleGetFunction(m, "store")
	must(t, err)
	p, err := d.MemAlloc(4)
	must(t, err)
	s, err := d.StreamCreateWithPriority(driver.Normal)
	must(t, err)
	drivertest.Room(t, d, f)
	params := &storeParams{p, 4711}
	one := driver.Dim3{X: 1, Y: 1, Z: 1}
	launch := func() { must(t, d.LaunchKernel(f, one, one, s, unsafe.Pointer(params))) }
	if n := testing.AllocsPerRun(100, launch); n != 0 {
		t.Errorf("a launch makes %v allocations", n)
	}
	must(t, d.StreamSynchronize(s))
	got := make([]byte, 4)
	must(t, d.MemcpyDtoH(got, p))
	if got[0] != 4711&0xff || got[1] != 4711>>8 {
		t.Errorf("the kernel wrote %v", got)
	}
	must(t, errors.Join(d.StreamDestroy(s), d.MemFree(p), d.ModuleUnload(m)))
	_, err = d.ModuleLoadData(&driver.Code{Name: "bad", PTX: []byte(store[:len(store)-3] +
		"no such instruction;\n}\n")})
	t.Log(err)
	var status *driver.Status
	if !errors.As(err, &status) || len(err.Error()) < 100 {
		t.Errorf("bad PTX: %v, want the compiler's words", err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestUnexportable makes the kinds of memory that CUDA IPC can't export.
func TestUnexportable(t *testing.T) {
	d := device(t)
	s, err := d.StreamCreateWithPriority(driver.Normal)
	must(t, err)
	pooled, err := d.MemAllocPooled(1<<20, s)
	must(t, err)
	segment, err := drivertest.NewSegment(d, 1, 1, 0)
	must(t, err)
	must(t, d.StreamSynchronize(s))
	for _, c := range []struct {
		name   string
		at     driver.Ptr
		pooled bool
	}{{"pooled", pooled, true}, {"mapped", segment.At, false}} {
		a, err := d.PointerGetAttributes(c.at)
		must(t, err)
		if !a.Device || a.LegacyIpcCapable || a.Pooled != c.pooled {
			t.Errorf("%s memory has %+v", c.name, a)
		}
		if _, err := d.IpcGetMemHandle(c.at); err == nil {
			t.Errorf("%s memory was exported", c.name)
		}
		must(t, d.MemcpyHtoD(c.at, []byte{1, 2, 3, 4}))
	}
	must(t, errors.Join(d.MemFree(pooled), segment.Close(), d.StreamDestroy(s)))
}

// TestForeignCapture makes, on another thread, every call that a watch, an abort or
// a tuning makes while this thread captures in the mode that forbids them.
func TestForeignCapture(t *testing.T) {
	const global = 0 // CU_STREAM_CAPTURE_MODE_GLOBAL
	d := device(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s, err := d.StreamCreateWithPriority(driver.Normal)
	must(t, err)
	other, err := d.StreamCreateWithPriority(driver.High)
	must(t, err)
	e, err := d.EventCreate(false)
	must(t, err)
	p, err := d.MemAlloc(64)
	must(t, err)
	must(t, d.beginCapture(s, global))
	must(t, d.MemsetD32Async(p, 5, 4, s))
	done := make(chan error)
	go func() { done <- bystander(d, p, other, e) }()
	must(t, <-done)
	g, err := d.StreamEndCapture(s)
	must(t, err)
	exec, err := d.GraphInstantiate(g)
	must(t, err)
	must(t, errors.Join(d.GraphLaunch(exec, s), d.StreamSynchronize(s)))
	got := make([]byte, 4)
	must(t, d.MemcpyDtoH(got, p))
	if got[0] != 5 {
		t.Errorf("the replay wrote %v", got)
	}
	must(t, errors.Join(d.GraphExecDestroy(exec), d.GraphDestroy(g), d.EventDestroy(e), d.MemFree(p),
		d.StreamDestroy(s), d.StreamDestroy(other)))
}

func bystander(d *Driver, p driver.Ptr, s driver.Stream, e driver.Event) error {
	q, err := d.MemAlloc(1 << 20)
	if err != nil {
		return err
	}
	m, err := d.MatmulCreate(driver.MatmulDesc{M: 72, K: 40, N: 56, Type: driver.FP16})
	if err != nil {
		return err
	}
	_, queried := d.EventQuery(e)
	_, drained := d.StreamQuery(s)
	page := make([]byte, 4)
	return errors.Join(queried, drained,
		d.MemsetD32Async(q, 1, 4, s), d.EventRecordWithFlags(e, s, 0), d.EventSynchronize(e), d.StreamSynchronize(s),
		d.MemcpyDtoH(page, q), d.MemFree(q), d.MatmulDestroy(m))
}

// TestThreads calls from threads that have never seen CUDA.
func TestThreads(t *testing.T) {
	d := device(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			runtime.LockOSThread() // and let the thread end with the goroutine
			p, err := d.MemAlloc(1 << 12)
			if err != nil {
				t.Error(err)
				return
			}
			if err := errors.Join(d.MemcpyHtoD(p, make([]byte, 1<<12)), d.MemFree(p)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// TestForeignContext uses a context that something else made.
func TestForeignContext(t *testing.T) {
	d := device(t)
	second, err := backend{}.Open(0, uintptr(d.ctx))
	must(t, err)
	p, err := second.MemAlloc(1 << 12)
	must(t, err)
	must(t, second.Close())
	must(t, d.MemFree(p))
}

// TestManyAtOnce multiplies on many threads with one product, each with its own bias.
func TestManyAtOnce(t *testing.T) {
	d := device(t)
	const n = 64
	m, err := d.MatmulCreate(driver.MatmulDesc{M: 8, K: 8, N: n, Type: driver.FP32, Bias: true})
	must(t, err)
	zero, err := d.MemAlloc(4 * 8 * n)
	must(t, err)
	must(t, d.MemcpyHtoD(zero, make([]byte, 4*8*n)))
	var wg sync.WaitGroup
	for i := range byte(8) {
		wg.Go(func() {
			if err := ownBias(d, m, zero, i, n); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	must(t, errors.Join(d.MemFree(zero), d.MatmulDestroy(m)))
}

func ownBias(d *Driver, m driver.Product, zero driver.Ptr, mark byte, n int64) error {
	memory, err := d.MemAlloc(driver.WorkspaceBytes + 4*9*n)
	if err != nil {
		return err
	}
	s, err := d.StreamCreateWithPriority(driver.Low)
	if err != nil {
		return err
	}
	bias := memory + driver.WorkspaceBytes
	c := bias + driver.Ptr(4*n)
	err = d.MemsetD32Async(bias, 0x3f800000+uint32(mark)<<16, n, s)
	for range 50 {
		err = errors.Join(err, d.Matmul(m, driver.Operands{C: c, A: zero, B: zero, Bias: bias, Workspace: memory}, s))
	}
	got := make([]byte, 4*8*n)
	err = errors.Join(err, d.StreamSynchronize(s), d.MemcpyDtoH(got, c))
	for i := 0; err == nil && i < len(got); i += 4 {
		if got[i+2] != 0x80+mark || got[i+3] != 0x3f {
			err = errors.New("another call's bias was added")
		}
	}
	return errors.Join(err, d.StreamDestroy(s), d.MemFree(memory))
}

func TestMisaligned(t *testing.T) {
	d := device(t)
	desc := driver.MatmulDesc{M: 16, K: 16, N: 16, Type: driver.BF16}
	m, err := d.MatmulCreate(desc)
	must(t, err)
	again, err := d.MatmulCreate(desc)
	must(t, err)
	if m != again {
		t.Error("an equal product was tuned again")
	}
	var status *driver.Status
	x := driver.Operands{C: 0x1002, A: 0x1000, B: 0x1000}
	if err := d.Matmul(m, x, 0); !errors.As(err, &status) || status.Code != 7 {
		t.Errorf("c at an odd place: %v", err)
	}
	must(t, errors.Join(d.MatmulDestroy(m), d.MatmulDestroy(m)))
	if err := d.MatmulDestroy(m); err == nil {
		t.Error("a product was destroyed more often than created")
	}
}

// two opens devices 0 and 1, or skips the test.
func two(t *testing.T) (pair [2]driver.Driver) {
	t.Helper()
	device(t)
	if n, err := (backend{}).Count(); err != nil || n < 2 {
		t.Skip("fewer than two GPUs here: ", err)
	}
	for i := range pair {
		var err error
		pair[i], err = backend{}.Open(i, 0)
		must(t, err)
	}
	return pair
}

func TestPeers(t *testing.T) {
	pair := two(t)
	drivertest.Peers(t, func(i int) driver.Driver { return pair[i] })
}

// TestPeersWait makes calls on device 1 while a stream of device 0, which has access to mapped memory of it, is
// blocked. None may wait for it. With access to all memory (cuCtxEnablePeerAccess) they may.
func TestPeersWait(t *testing.T) {
	pair := two(t)
	a, b := pair[0], pair[1]
	var shared [2]*drivertest.Segment
	for i, d := range pair {
		var err error
		shared[i], err = drivertest.NewSegment(d, 1, 1, 0)
		must(t, err)
		must(t, d.MemSetAccess(shared[i].At, shared[i].Bytes, pair[1-i].Properties().Ordinal))
	}
	word, err := a.MemAlloc(4)
	must(t, err)
	kept, err := b.MemAlloc(1 << 20)
	must(t, err)
	s, err := a.StreamCreateWithPriority(driver.Normal)
	must(t, err)
	opener, err := a.StreamCreateWithPriority(driver.High)
	must(t, err)
	capturing, err := b.StreamCreateWithPriority(driver.Normal)
	must(t, err)
	var spare driver.Ptr
	var m driver.Module
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"MemAlloc", func() (err error) { spare, err = b.MemAlloc(1 << 20); return err }},
		{"MemFree", func() error { return b.MemFree(spare) }},
		{"MatmulCreate", func() error {
			_, err := b.MatmulCreate(driver.MatmulDesc{M: 8, K: 8, N: 72, Type: driver.FP32})
			return err
		}},
		{"ModuleLoadData", func() (err error) {
			m, err = b.ModuleLoadData(&driver.Code{Name: "store", PTX: []byte(store)})
			return err
		}},
		{"ModuleUnload", func() error { return b.ModuleUnload(m) }},
		{"GraphInstantiate and GraphUpload", func() error { return instantiate(b, kept, capturing) }},
	} {
		must(t, a.MemsetD32Async(word, 0, 1, s))
		must(t, a.StreamBatchMemOp(s, []driver.MemOp{{Kind: driver.WaitEqual, Value: 1, Address: word}}))
		done := make(chan error, 1)
		go func() { done <- c.call() }()
		select {
		case err := <-done:
			must(t, err)
			t.Logf("%s does not wait", c.name)
			must(t, a.MemsetD32Async(word, 1, 1, opener))
		case <-time.After(500 * time.Millisecond):
			t.Errorf("%s waits for a stream of the peer", c.name)
			must(t, a.MemsetD32Async(word, 1, 1, opener))
			must(t, <-done)
		}
		must(t, a.StreamSynchronize(s))
	}
	must(t, errors.Join(a.StreamDestroy(s), a.StreamDestroy(opener), b.StreamDestroy(capturing), a.MemFree(word),
		b.MemFree(kept), shared[0].Close(), shared[1].Close(), a.Close(), b.Close()))
}

// instantiate makes a graph ready and destroys it.
func instantiate(d driver.Driver, at driver.Ptr, s driver.Stream) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := errors.Join(d.StreamBeginCapture(s), d.MemsetD32Async(at, 1, 1, s))
	g, ended := d.StreamEndCapture(s)
	exec, made := d.GraphInstantiate(g)
	return errors.Join(err, ended, made, d.GraphUpload(exec, s), d.GraphExecDestroy(exec), d.GraphDestroy(g))
}
