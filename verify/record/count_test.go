package record_test

import (
	"errors"
	"testing"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
	"ovgen/verify/prove"
	"ovgen/verify/record"
	"ovgen/verify/touch"
)

// move is the parameters of a kernel that copies and counts its blocks.
type move struct{ count, src, dst driver.Ptr }

func moveTouches(params unsafe.Pointer, to []touch.Touch) []touch.Touch {
	p := (*move)(params)
	count := touch.Touch{Kind: touch.Write, At: p.count, Bytes: 4}
	return append(to, count, touch.Touch{Kind: touch.Read, At: p.src, Bytes: 8},
		touch.Touch{Kind: touch.Write, At: p.dst, Bytes: 8}, count)
}

var getMove = driver.Kernel{Name: "get", Params: int(unsafe.Sizeof(move{})), Row: touch.Func(moveTouches)}

// Kernels on two streams that count their blocks in one word are recorded so, and
// refused by the prover.
func TestCountWords(t *testing.T) {
	const mainStream, copyStream = 1, 2
	names := record.Names{Streams: map[driver.Stream]string{mainStream: "main", copyStream: "copy"},
		Regions: []plan.Region{
			{Base: 0x100, Bytes: 8, Name: "A"}, {Base: 0x200, Bytes: 16, Name: "S"},
			{Base: 0x300, Bytes: 4, Name: "count[main]"}, {Base: 0x304, Bytes: 4, Name: "count[copy]"}}}
	model := prove.Model{Program: "counts", Buffers: []prove.Buffer{
		{Name: "A", Owner: hostir.Caller, Bytes: 8}, {Name: "S", Owner: hostir.Plan, Bytes: 16}}}
	for _, c := range []struct {
		name  string
		count driver.Ptr // of the kernel on copy
		safe  bool
	}{{"a word each", 0x304, true}, {"one for all streams", 0x300, false}} {
		t.Run(c.name, func(t *testing.T) {
			d := record.New(0)
			module, err := d.ModuleLoadData(&driver.Code{Name: "package",
				Kernels: []driver.Kernel{getMove}})
			if err != nil {
				t.Fatal(err)
			}
			get, err := d.ModuleGetFunction(module, "get")
			if err != nil {
				t.Fatal(err)
			}
			launch := func(s driver.Stream, p move) error {
				return d.LaunchKernel(get, driver.Dim3{X: 2, Y: 1, Z: 1}, driver.Dim3{X: 512, Y: 1, Z: 1},
					s, unsafe.Pointer(&p))
			}
			d.Start()
			if err := errors.Join(
				d.StreamWaitEvent(mainStream, 9, 0),
				d.EventRecordWithFlags(1, mainStream, 0), d.StreamWaitEvent(copyStream, 1, 0),
				launch(copyStream, move{c.count, 0x100, 0x200}), launch(mainStream, move{0x300, 0x100, 0x208}),
				d.EventRecordWithFlags(2, copyStream, 0), d.StreamWaitEvent(mainStream, 2, 0),
				d.EventRecordWithFlags(9, mainStream, 0)); err != nil {
				t.Fatal(err)
			}
			list, err := d.Stop(names)
			if err != nil {
				t.Fatal(err)
			}
			_, err = prove.Lists(t.Context(), model, [][]ops.Op{list}, 2)
			var wrong *prove.Counterexample
			if errors.As(err, &wrong); c.safe != (err == nil) || !c.safe &&
				(wrong == nil || wrong.Property != prove.Race) {
				t.Errorf("%v\n%s", err, ops.Lines(list))
			}
		})
	}
}

// TestLaunchAgain: a launch that a later run makes again is on that run's stream, and its addresses have the names that
// they have then.
func TestLaunchAgain(t *testing.T) {
	d := record.New(0)
	module, err := d.ModuleLoadData(&driver.Code{Name: "package",
		Kernels: []driver.Kernel{getMove}})
	if err != nil {
		t.Fatal(err)
	}
	get, err := d.ModuleGetFunction(module, "get")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ stream, buffer string }{{"main", "A"}, {"copy", "A"}, {"copy", "B"}} {
		d.Start()
		if err := d.LaunchKernel(get, driver.Dim3{X: 2, Y: 1, Z: 1}, driver.Dim3{X: 512, Y: 1, Z: 1}, 1,
			unsafe.Pointer(&move{0x300, 0x100, 0x200})); err != nil {
			t.Fatal(err)
		}
		list, err := d.Stop(record.Names{Streams: map[driver.Stream]string{1: c.stream}, Regions: []plan.Region{
			{Base: 0x100, Bytes: 8, Name: c.buffer}, {Base: 0x200, Bytes: 16, Name: "S"},
			{Base: 0x300, Bytes: 4, Name: "count[main]"}}})
		if err != nil || len(list) != 1 {
			t.Fatalf("%v: %v", list, err)
		}
		if o := list[0]; o.Stream != c.stream || o.Uses[0].At.Buffer != c.buffer {
			t.Errorf("on %s, of %s: %s", c.stream, c.buffer, o)
		}
	}
}
