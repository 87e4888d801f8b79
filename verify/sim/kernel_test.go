//go:build cgo

package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/verify/drivertest"
	"ovgen/verify/sim"
	"ovgen/verify/sim/internal/testkernel"
)

func (r *rank) kernel(name string) driver.Function {
	r.t.Helper()
	m, err := r.ModuleLoadData(testkernel.Code())
	must(r.t, err)
	f, err := r.ModuleGetFunction(m, name)
	must(r.t, err)
	return f
}

func (r *rank) launch(s driver.Stream, f driver.Function, params any) {
	r.t.Helper()
	var p unsafe.Pointer
	switch v := params.(type) {
	case testkernel.Fill:
		p = unsafe.Pointer(&v)
	case testkernel.Relay:
		p = unsafe.Pointer(&v)
	}
	must(r.t, r.LaunchKernel(f, driver.Dim3{X: 1, Y: 1, Z: 1}, driver.Dim3{X: 32, Y: 1, Z: 1}, s, p))
}

func TestKernel(t *testing.T) {
	bubble(t, sim.Config{Devices: 2, Costs: sim.Costs{Kernel: time.Millisecond}}, func(t *testing.T, w *sim.World) {
		r := pair(t, w)[0]
		drivertest.Room(t, r.Context, r.kernel("fill"))
		began := time.Now()
		r.launch(r.main, r.kernel("fill"), testkernel.Fill{Dst: r.buf, Words: 8, Value: 5})
		if n := sim.Live(); n != 0 {
			t.Errorf("%d launches began before the stream ran", n)
		}
		must(t, r.CtxSynchronize())
		if d := time.Since(began); d < time.Millisecond {
			t.Errorf("the kernel took %v, want at least its cost", d)
		}
		if got := r.get(r.buf, 36); got[0] != 5 || got[28] != 5 || got[32] != 0 {
			t.Errorf("the kernel wrote %v", got)
		}
		relay := r.kernel("relay")
		r.launch(r.main, relay, testkernel.Relay{})
		must(t, r.CtxSynchronize())
		r.launch(r.main, relay, testkernel.Relay{Wait: r.words, Post: r.words + 4, Dst: r.buf + 64,
			Src: r.buf, Words: 1})
		time.Sleep(time.Second)
		if done, _ := r.StreamQuery(r.main); done || sim.Live() != 1 {
			t.Errorf("the kernel did not wait: done %v, %d launches", done, sim.Live())
		}
		if lines := w.Waiting(); len(lines) != 1 ||
			lines[0] != "rank 0 stream 1 op 3 (relay): waits for word 0x0 of rank 0 to be 1, it is 0" {
			t.Errorf("waiting: %q", lines)
		}
		must(t, r.MemsetD32Async(r.words, 1, 1, r.copy))
		must(t, r.CtxSynchronize())
		if got := r.get(r.words, 8); got[0] != 0 || got[4] != 1 || sim.Live() != 0 {
			t.Errorf("words %v and %d launches after the wait", got, sim.Live())
		}
		at, err := r.MemAlloc(64)
		must(t, err)
		for _, p := range []driver.Ptr{0, at + 64, at + 1<<30} {
			r.launch(r.main, r.kernel("fill"), testkernel.Fill{Dst: p}) // of no bytes
		}
		must(t, r.CtxSynchronize())
		r.launch(r.main, relay, testkernel.Relay{Wait: r.words, Post: r.words, Dst: r.buf, Src: r.buf + 64, Words: 1})
		time.Sleep(time.Second)
		must(t, r.Close())
		if n := sim.Live(); n != 0 {
			t.Errorf("%d launches left after Close", n)
		}
	})
}

func TestKernelRefusals(t *testing.T) {
	bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
		r := pair(t, w)[0]
		code := testkernel.Code()
		code.Name = "other"
		_, err := r.ModuleLoadData(code)
		wants(t, "a code without host kernels", err, 209)
		if !strings.Contains(err.Error(), "of other: they are not compiled for the host (import package host") {
			t.Errorf("the error is %v", err)
		}
		m, err := r.ModuleLoadData(testkernel.Code())
		must(t, err)
		for _, name := range []string{"", "nothing", "absent"} {
			_, err = r.ModuleGetFunction(m, name)
			wants(t, "kernel "+name, err, 500)
		}
		f, err := r.ModuleGetFunction(m, "fill")
		must(t, err)
		one, p := driver.Dim3{X: 1, Y: 1, Z: 1}, testkernel.Fill{}
		wants(t, "an empty grid", r.LaunchKernel(f, driver.Dim3{}, one, r.main, unsafe.Pointer(&p)), 1)
		wants(t, "a large block", r.LaunchKernel(f, one, driver.Dim3{X: 1025, Y: 1, Z: 1}, r.main, unsafe.Pointer(&p)),
			1)
		wants(t, "no parameters", r.LaunchKernel(f, one, one, r.main, nil), 1)
		must(t, r.ModuleUnload(m))
		whole := testkernel.Code()
		whole.Kernels[0].Cluster = 2
		n, err := r.ModuleLoadData(whole)
		must(t, err)
		g, err := r.ModuleGetFunction(n, "fill")
		must(t, err)
		wants(t, "half a cluster", r.LaunchKernel(g, driver.Dim3{X: 3, Y: 1, Z: 1}, one, r.main, unsafe.Pointer(&p)), 1)
		must(t, r.LaunchKernel(g, driver.Dim3{X: 4, Y: 1, Z: 1}, one, r.main, unsafe.Pointer(&p)))
		must(t, r.CtxSynchronize())
		wants(t, "an unloaded kernel", r.LaunchKernel(f, one, one, r.main, unsafe.Pointer(&p)), 400)
		wants(t, "unload twice", r.ModuleUnload(m), 400)
	})
}

// TestEarlyKernel: an early kernel whose PTX does not wait is refused.
func TestEarlyKernel(t *testing.T) {
	bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
		r := pair(t, w)[0]
		code := testkernel.Code()
		code.PTX, code.Kernels[0].Early = []byte(".entry fill(\n)\n{\nret;\n}\n"), true
		m, err := r.ModuleLoadData(code)
		must(t, err)
		if _, err := r.ModuleGetFunction(m, "fill"); err == nil || !strings.Contains(err.Error(), "does not wait") {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestFault: an illegal access makes every later call fail, as on a GPU.
func TestFault(t *testing.T) {
	bubble(t, sim.Config{Devices: 2}, func(t *testing.T, w *sim.World) {
		p := pair(t, w)
		r := p[0]
		f := r.kernel("fill")
		r.launch(r.main, f, testkernel.Fill{Dst: r.buf + 4096 - 16, Words: 8})
		wants(t, "a kernel that writes too far", r.StreamSynchronize(r.main), 700)
		_, err := r.MemAlloc(64)
		wants(t, "allocate after the fault", err, 700)
		must(t, p[1].CtxSynchronize())
		must(t, r.Close())
	})
}

// TestStray: a call that leaves one of its tensors ends, and the fault names it.
func TestStray(t *testing.T) {
	for seed := range uint64(4) {
		bubble(t, sim.Config{Devices: 2, Seed: seed}, func(t *testing.T, w *sim.World) {
			r := pair(t, w)[0]
			four := driver.Dim3{X: 4, Y: 1, Z: 1}
			must(t, r.LaunchKernel(r.kernel("stray"), four, four, r.main, nil))
			err := r.StreamSynchronize(r.main)
			wants(t, "a kernel that leaves its tensor", err, 700)
			if !strings.Contains(fmt.Sprint(err), "call Stray writes T at byte -4 of 8") {
				t.Errorf("the fault is %v", err)
			}
			must(t, r.Close())
			if n := sim.Live(); n != 0 {
				t.Errorf("%d launches left after Close", n)
			}
		})
	}
}

// TestLaunchAllocations: replays and launches allocate nothing in process mode.
func TestLaunchAllocations(t *testing.T) {
	r := &rank{Context: process(t).(*sim.Context), t: t}
	defer r.Close()
	r.main, r.copy, r.buf = r.stream(), r.stream(), r.alloc(4096)
	last, f := r.event(), r.kernel("fill")
	x := r.capture(func() {
		must(t, r.StreamWaitEvent(r.main, last, driver.External))
		must(t, r.MemcpyDtoDAsync(r.buf+64, r.buf, 64, r.main))
		must(t, r.EventRecordWithFlags(last, r.main, driver.External))
	})
	p := &testkernel.Fill{Dst: r.buf, Words: 4, Value: 1}
	one := driver.Dim3{X: 1, Y: 1, Z: 1}
	n := testing.AllocsPerRun(200, func() {
		must(t, r.LaunchKernel(f, one, one, r.main, unsafe.Pointer(p)))
		must(t, r.GraphLaunch(x, r.main))
		must(t, r.EventSynchronize(last))
	})
	if n != 0 {
		t.Errorf("%v allocations a run", n)
	}
}

// TestKernelEdges: a kernel that waits and posts orders copies as batches do.
func TestKernelEdges(t *testing.T) {
	for seed := range uint64(12) {
		bubble(t, sim.Config{Devices: 2, Seed: seed}, func(t *testing.T, w *sim.World) {
			p := pair(t, w)
			f := p[0].kernel("relay")
			p[0].launch(p[0].main, f, testkernel.Relay{
				Wait: p[0].words, Post: p[0].signs, Dst: p[0].buf, Src: p[0].peer, Words: 256,
			})
			must(t, p[1].MemsetD32Async(p[1].buf, 42, 256, p[1].main))
			p[1].post(p[1].main, p[1].signs)
			p[1].wait(p[1].main, p[1].words)
			must(t, p[1].MemsetD32Async(p[1].buf, 43, 256, p[1].main))
			must(t, p[0].CtxSynchronize())
			must(t, p[1].CtxSynchronize())
			if got := p[0].get(p[0].buf, 4); got[0] != 42 {
				t.Errorf("seed %d: the kernel copied %d, want 42", seed, got[0])
			}
			noRaces(t, w)
			// without the wait the second fill races with the kernel
			p[0].launch(p[0].main, f, testkernel.Relay{
				Wait: p[0].words, Post: p[0].signs, Dst: p[0].buf, Src: p[0].peer, Words: 256,
			})
			p[1].post(p[1].main, p[1].signs)
			must(t, p[1].MemsetD32Async(p[1].buf, 44, 256, p[1].main))
			must(t, p[0].CtxSynchronize())
			must(t, p[1].CtxSynchronize())
			if len(w.Races()) == 0 {
				t.Errorf("seed %d: no race was reported", seed)
			}
		})
	}
}
