package group

import (
	"fmt"
	"os"
	"testing"
	"time"
	"unsafe"

	"ovgen/runtime/driver"
)

// still is a driver on which everything has completed.
type still struct{ driver.Driver }

func (still) MemHostRegister(p unsafe.Pointer, _ int64) (driver.Ptr, error)             { return 1, nil }
func (still) MemHostUnregister(unsafe.Pointer) error                                    { return nil }
func (still) StreamIsCapturing(driver.Stream) (bool, error)                             { return false, nil }
func (still) StreamWaitEvent(driver.Stream, driver.Event, driver.EventFlags) error      { return nil }
func (still) EventRecordWithFlags(driver.Event, driver.Stream, driver.EventFlags) error { return nil }
func (still) EventSynchronize(driver.Event) error                                       { return nil }
func (still) EventQuery(driver.Event) (bool, error)                                     { return true, nil }

// stillGroup is a group of one on such a driver.
func stillGroup(tb testing.TB) *Group {
	f, err := newPage(1)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	p, err := mapPage(fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()), 0, 1, 1, still{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { p.close() })
	return &Group{config: Config{Size: 1, RunTimeout: time.Minute}, drv: still{}, page: p,
		runs: runs{issue: make(chan struct{}, 1)}, done: make(chan struct{}),
		watch: watch{wake: make(chan struct{}, 1)}}
}

func TestRunAllocatesNothing(t *testing.T) {
	g := stillGroup(t)
	ctx := t.Context()
	for name, run := range map[string]func() error{
		"run": func() error {
			r, err := g.Begin(ctx, 1, 2)
			if err == nil {
				err = g.End(&r)
			}
			if err == nil {
				err = g.Wait(&r)
			}
			return err
		},
		"enqueue": func() error { // past the end of the ring
			r, err := g.Begin(nil, 1, 2)
			if err == nil {
				err = g.End(&r)
			}
			return err
		},
	} {
		if n := testing.AllocsPerRun(200, func() {
			if err := run(); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	g := stillGroup(b)
	b.ReportAllocs()
	for b.Loop() {
		r, err := g.Begin(nil, 1, 2)
		if err != nil {
			b.Fatal(err)
		}
		if err := g.End(&r); err != nil {
			b.Fatal(err)
		}
		if err := g.Wait(&r); err != nil {
			b.Fatal(err)
		}
	}
}
