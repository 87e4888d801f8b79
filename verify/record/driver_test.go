package record

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
	"ovgen/verify/ops"
	"ovgen/verify/touch"
)

// still are the methods that take a stream and enqueue nothing.
var still = []string{"StreamDestroy", "StreamSynchronize", "StreamQuery", "StreamIsCapturing", "StreamBeginCapture",
	"StreamEndCapture", "GraphUpload"}

// Every method of driver.Driver, and of what a driver may have beside it, that takes a stream
// or copies is taken down. Whoever adds one to an interface has to give it to the recorder, and
// to say so here where it enqueues nothing. The recorder has no driver.Captures, which enqueue nothing either but
// change the order of a capture behind its back: the group orders captured runs by events then.
func TestEveryCallIsTakenDown(t *testing.T) {
	if _, has := driver.Optional[driver.Captures](New(0)); has {
		t.Error("the recorder has driver.Captures, whose changes of a graph it does not take down")
	}
	var all []reflect.Method
	for _, of := range []reflect.Type{reflect.TypeFor[driver.Driver](), reflect.TypeFor[driver.Collectives]()} {
		for i := range of.NumMethod() {
			all = append(all, of.Method(i))
		}
	}
	called := 0
	for _, m := range all {
		var args []reflect.Value
		enqueues := strings.HasPrefix(m.Name, "Memcpy") || strings.HasPrefix(m.Name, "Memset")
		for n := range m.Type.NumIn() {
			enqueues = enqueues || m.Type.In(n) == reflect.TypeFor[driver.Stream]()
			arg := reflect.Zero(m.Type.In(n))
			if arg.Type() == reflect.TypeFor[driver.CollectiveDesc]() { // of nothing is refused
				arg = reflect.ValueOf(driver.CollectiveDesc{Kind: driver.AllGather, Type: driver.FP32})
			}
			args = append(args, arg)
		}
		if !enqueues || slices.Contains(still, m.Name) {
			continue
		}
		called++
		d := New(0)
		d.Start()
		reflect.ValueOf(d).MethodByName(m.Name).Call(args)
		if len(d.calls) == 0 {
			t.Errorf("%s enqueues, and the recording has nothing of it", m.Name)
		}
	}
	if called == 0 {
		t.Error("no call of a driver enqueues")
	}
}

// TestEarlyKernel: an early kernel whose PTX does not wait is refused.
func TestEarlyKernel(t *testing.T) {
	d := New(0)
	m, err := d.ModuleLoadData(&driver.Code{PTX: []byte(".entry k(\n)\n{\nret;\n}\n"),
		Kernels: []driver.Kernel{{Name: "k", Early: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.ModuleGetFunction(m, "k"); err == nil || !strings.Contains(err.Error(), "does not wait") {
		t.Errorf("the error is %v", err)
	}
}

type callCase struct {
	what string
	call func(d *Driver) error
	want string
}

const callStream = driver.Stream(7)

var callNames = Names{Streams: map[driver.Stream]string{callStream: "main"}, Type: driver.FP32,
	Regions: []plan.Region{{Name: "A", Base: 4096, Bytes: 64}, {Name: "ready", Base: 8192, Bytes: 8}}}

var callWord uint32

// callOperands are all at one place.
var callOperands = driver.Operands{C: 4096, A: 4096, B: 4096, Workspace: 4096}

var callCases = []callCase{
	{"memset", func(d *Driver) error { return d.MemsetD32Async(4096, 0, 1, callStream) },
		"MemsetD32Async is no operation"},
	{"copy to the device", func(d *Driver) error { return d.MemcpyHtoD(4096, []byte{1}) },
		"MemcpyHtoD is no operation"},
	{"copy to the host", func(d *Driver) error { return d.MemcpyDtoH(make([]byte, 1), 4096) },
		"MemcpyDtoH is no operation"},
	{"read of a word", func(d *Driver) error {
		return d.MemcpyDtoHAsync(unsafe.Pointer(&callWord), 4096, 4,
			callStream)
	},
		"MemcpyDtoHAsync is no operation"},
	{"unknown graph", func(d *Driver) error { return d.GraphLaunch(99, callStream) }, "not captured"},
	{"unknown kernel", func(d *Driver) error {
		return d.LaunchKernel(99, driver.Dim3{X: 1, Y: 1, Z: 1}, driver.Dim3{X: 1, Y: 1, Z: 1}, callStream, nil)
	}, "has no description"},
	{"unknown product", func(d *Driver) error { return d.Matmul(99, callOperands, callStream) },
		"was not made"},
	{"foreign memory", func(d *Driver) error { return d.MemcpyDtoDAsync(4096, 1<<40, 4, callStream) },
		"lies in no buffer"},
	{"rows that are no part of columns", func(d *Driver) error { // A has 64 bytes: 4 rows of 16
		return d.Memcpy2DAsync(driver.Memcpy2D{Dst: 4096 + 4, DstPitch: 16, Src: 4096, SrcPitch: 8, Width: 8,
			Height: 4}, callStream)
	}, "4 rows of 8 bytes from A@0+4 on, 16 bytes apart, are no part of its columns"},
	{"some rows of columns", func(d *Driver) error {
		return d.Memcpy2DAsync(driver.Memcpy2D{Dst: 4096, DstPitch: 8, Src: 4096 + 8, SrcPitch: 16, Width: 8,
			Height: 3}, callStream)
	}, "3 rows of 8 bytes from A@0+8 on, 16 bytes apart, are no part of its columns"},
	{"rows of foreign memory", func(d *Driver) error {
		return d.Memcpy2DAsync(driver.Memcpy2D{Dst: 1 << 40, DstPitch: 8, Src: 4096, SrcPitch: 8, Width: 8, Height: 2},
			callStream)
	}, "lies in no buffer"},
	{"foreign stream", func(d *Driver) error { return d.MemcpyDtoDAsync(4096, 4096, 4, 8) }, "is not the plan's"},
	{"record on a foreign stream", func(d *Driver) error { return d.EventRecordWithFlags(1, 8, 0) },
		"record of an event: stream 0x8 is not the plan's"},
	{"wait on a foreign stream", func(d *Driver) error { return d.StreamWaitEvent(8, 1, 0) },
		"of an event: stream 0x8 is not the plan's"},
	{"type of a product", func(d *Driver) error {
		m, _ := d.MatmulCreate(driver.MatmulDesc{M: 1, K: 1, N: 1, Type: driver.BF16})
		return d.Matmul(m, callOperands, callStream)
	}, "a product of bf16 in a plan of fp32"},
	{"kind of a product", func(d *Driver) error {
		m, _ := d.MatmulCreate(driver.MatmulDesc{M: 1, K: 1, N: 1, Type: driver.FP32,
			Transposed: true, TransposedA: true})
		return d.Matmul(m, callOperands, callStream)
	}, "no product of a host program"},
	{"scales of a product", func(d *Driver) error {
		m, _ := d.MatmulCreate(driver.MatmulDesc{M: 1, K: 16, N: 16, Type: driver.FP32, Of: driver.BF16,
			Transposed: true})
		return d.Matmul(m, callOperands, callStream)
	}, "no product of a host program"},
	{"scales that are missing", func(d *Driver) error {
		m, _ := d.MatmulCreate(driver.MatmulDesc{M: 1, K: 16, N: 16, Type: driver.FP32, Of: driver.E4M3,
			Transposed: true})
		return d.Matmul(m, callOperands, callStream)
	}, "address 0x0 lies in no buffer"},
	{"allocation", func(d *Driver) error {
		_, err := d.MemAlloc(64)
		return err
	}, "MemAlloc is no operation"},
	{"memory given up", func(d *Driver) error {
		d.list = []allocation{{base: 4096, bytes: 64}}
		return d.MemFree(4096)
	}, "MemFree is no operation"},
	{"wait for a stream", midst(func(d *Driver) error { return d.StreamSynchronize(callStream) }),
		"the host waits for the device"},
	{"wait for an event", midst(func(d *Driver) error { return d.EventSynchronize(1) }),
		"the host waits for the device"},
	{"wait for the context", midst((*Driver).CtxSynchronize), "the host waits for the device"},
	{"wait in a capture", func(d *Driver) error {
		_ = d.StreamBeginCapture(callStream)
		_ = midst((*Driver).CtxSynchronize)(d)
		g, _ := d.StreamEndCapture(callStream)
		e, _ := d.GraphInstantiate(g)
		d.Start()
		return d.GraphLaunch(e, callStream)
	}, "the host waits for the device"},
	{"graph in a capture", func(d *Driver) error {
		_ = d.StreamBeginCapture(callStream)
		g, _ := d.StreamEndCapture(callStream)
		e, _ := d.GraphInstantiate(g)
		_ = d.StreamBeginCapture(callStream)
		_ = d.GraphLaunch(e, callStream)
		g, _ = d.StreamEndCapture(callStream)
		e, _ = d.GraphInstantiate(g)
		return d.GraphLaunch(e, callStream)
	}, "in a capture"},
}

// A recording with a call that is no operation fails, and says which.
func TestCallsThatAreNoOperation(t *testing.T) {
	for _, x := range callCases {
		x.run(t)
	}
}

func (x callCase) run(t *testing.T) {
	d := New(0)
	d.Start()
	if err := x.call(d); err != nil {
		t.Errorf("%s: %v", x.what, err)
	}
	if list, err := d.Stop(callNames); err == nil || !strings.Contains(err.Error(), x.want) {
		t.Errorf("%s: recorded %q, %v; want %q", x.what, ops.Lines(list), err, x.want)
	}
}

// midst makes a call with a copy before it and one after.
func midst(call func(d *Driver) error) func(*Driver) error {
	return func(d *Driver) error {
		return errors.Join(d.MemcpyDtoDAsync(4112, 4096, 8, 7), call(d), d.MemcpyDtoDAsync(4112, 4096, 8, 7))
	}
}

// touched is a launch of the kernel NAME that touches the listed memory.
func touched(name string, grid, block driver.Dim3, list ...touch.Touch) *launch {
	return &launch{kernel: driver.Kernel{Name: name}, grid: grid, block: block, touches: list}
}

func TestLaunches(t *testing.T) {
	line := func(x uint32) driver.Dim3 { return driver.Dim3{X: x, Y: 1, Z: 1} }
	names := Names{Type: driver.FP16, Regions: []plan.Region{{Name: "A", Base: 4096, Bytes: 64},
		{Name: "ready", Base: 8192, Bytes: 8}}}
	posts := []touch.Touch{{Kind: touch.Post, At: 8192, Bytes: 4, Value: 1},
		{Kind: touch.Post, At: 8196, Bytes: 4, Value: 1}}
	waits := []touch.Touch{{Kind: touch.Wait, At: 8192, Bytes: 4, Value: 1},
		{Kind: touch.Write, At: 8192, Bytes: 4},
		{Kind: touch.Wait, At: 8196, Bytes: 4, Value: 1}, {Kind: touch.Write, At: 8196, Bytes: 4}}
	sum := []touch.Touch{{Kind: touch.Read, At: 4096, Bytes: 16, Type: driver.FP16},
		{Kind: touch.Write, At: 4112, Bytes: 16, Type: driver.FP16}}
	other := []touch.Touch{{Kind: touch.Read, At: 4096, Bytes: 16, Type: driver.BF16}}
	untyped := []touch.Touch{{Kind: touch.Read, At: 4096, Bytes: 16}}
	nothing := []touch.Touch{{Kind: touch.Read, At: 0}, {Kind: touch.Write, At: 0}}
	for _, x := range []struct {
		name, what  string
		grid, block driver.Dim3
		touches     []touch.Touch
		want        string // of the error; empty: it is right
	}{
		{"post", "a thread a word", line(1), line(2), posts, ""},
		{"post", "more threads", line(1), line(32), posts, ""},
		{"post", "two blocks", line(2), line(2), posts, "one block only"},
		{"post", "a thread too few", line(1), line(1), posts, "2 words"},
		{"wait", "a thread a word", line(1), line(2), waits, ""},
		{"wait", "two blocks", line(2), line(2), waits, "one block only"},
		{"wait", "a thread too few", line(1), line(1), waits, "2 words"},
		{"wait", "no reset", line(1), line(2), append(slices.Clone(waits[:1]), waits[2:]...),
			"waits for 2 words and resets 1"},
		{"reduce", "any grid", line(99), line(32), sum, ""},
		{"reduce", "two rows of blocks", driver.Dim3{X: 9, Y: 2, Z: 1}, line(32), sum, "one dimension"},
		{"reduce", "two rows of threads", line(9), driver.Dim3{X: 9, Y: 1, Z: 2}, sum, "one dimension"},
		{"reduce", "no block", line(0), line(32), sum, "a grid has a block"},
		{"reduce", "too many threads", line(1), line(2048), sum, "1 to 1024 threads"},
		{"reduce", "another type", line(1), line(32), other, "a sum of bf16 in a plan of fp16"},
		{"reduce", "no type", line(1), line(32), untyped, "a sum of no type in a plan of fp16"},
		{"reduce", "nothing", line(1), line(32), nothing, ""},
		{"shot", "a thread too few", line(9), line(1), append(slices.Clone(waits), sum...), "2 words"},
		{"shot", "posted by one thread", line(9), line(1), append(slices.Clone(sum), posts...), ""},
		{"magic", "unknown", line(1), line(1), nil, "the recorder does not know kernel magic"},
	} {
		_, err := touched(x.name, x.grid, x.block, x.touches...).operations(&names,
			ops.Op{Kind: ops.Signal, Stream: "main"})
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s, %s: %v, want %q", x.name, x.what, err, x.want)
		}
	}
}

// A captured run is recorded when its graph is launched, on any stream.
func TestGraphLaunchIsWhatWasCaptured(t *testing.T) {
	d := New(0)
	if err := d.StreamBeginCapture(1); err != nil {
		t.Fatal(err)
	}
	if err := d.MemcpyDtoDAsync(4112, 4096, 8, 1); err != nil {
		t.Fatal(err)
	}
	g, err := d.StreamEndCapture(1)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.GraphInstantiate(g)
	if err != nil {
		t.Fatal(err)
	}
	d.Start()
	for range 2 {
		if err := d.GraphLaunch(e, 2); err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.Stop(Names{Streams: map[driver.Stream]string{2: "main"},
		Regions: []plan.Region{{Name: "A", Base: 4096, Bytes: 64}}})
	const line = "main: copy: read A@0+0 8B, write A@0+16 8B\n"
	if err != nil || ops.Lines(got) != line+line {
		t.Errorf("recorded %q, %v", ops.Lines(got), err)
	}
}
