//go:build cgo

package group_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

// TestJoinFailsAnywhere fails each driver call of one rank's Join in turn: every
// rank gets an error that names it, and nothing is left open.
func TestJoinFailsAnywhere(t *testing.T) {
	for n := int64(1); ; n++ {
		reached := true
		inWorld(t, sim.Config{Devices: 3, Seed: uint64(n)}, func(w *world) {
			var f *failing
			w.wrap = func(rank int, d driver.Driver) driver.Driver {
				if rank != 1 {
					return d
				}
				f = &failing{Driver: d, at: n}
				return f
			}
			start := time.Now()
			groups, errs := w.join(w.configs(0, 3))
			if f.calls.Load() < n {
				reached = false
				w.leave(groups)
				return
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("call %d: join took %v", n, took)
			}
			for r, err := range errs {
				if err == nil || !strings.Contains(err.Error(), "injected") || r != 1 &&
					!strings.Contains(err.Error(), "rank 1") {
					t.Errorf("call %d: rank %d: %v", n, r, err)
				}
			}
		})
		if !reached {
			if n < 10 {
				t.Errorf("only %d calls", n)
			}
			return
		}
	}
}

// failing fails one of the calls that Join makes.
type failing struct {
	driver.Driver
	at    int64
	calls atomic.Int64
}

func (f *failing) now() error {
	if f.calls.Add(1) == f.at {
		return errors.New("injected")
	}
	return nil
}

func (f *failing) MemAlloc(n int64) (driver.Ptr, error) {
	if err := f.now(); err != nil {
		return 0, err
	}
	return f.Driver.MemAlloc(n)
}

func (f *failing) MemHostRegister(p unsafe.Pointer, n int64) (driver.Ptr, error) {
	if err := f.now(); err != nil {
		return 0, err
	}
	return f.Driver.MemHostRegister(p, n)
}

func (f *failing) IpcGetMemHandle(p driver.Ptr) (driver.IpcMemHandle, error) {
	if err := f.now(); err != nil {
		return driver.IpcMemHandle{}, err
	}
	return f.Driver.IpcGetMemHandle(p)
}

func (f *failing) IpcOpenMemHandle(h driver.IpcMemHandle) (driver.Ptr, error) {
	if err := f.now(); err != nil {
		return 0, err
	}
	return f.Driver.IpcOpenMemHandle(h)
}

func (f *failing) StreamCreateWithPriority(p driver.Priority) (driver.Stream, error) {
	if err := f.now(); err != nil {
		return 0, err
	}
	return f.Driver.StreamCreateWithPriority(p)
}

func (f *failing) MemCreate(bytes int64, types driver.HandleType) (driver.Physical, error) {
	if err := f.now(); err != nil {
		return 0, err
	}
	return f.Driver.MemCreate(bytes, types)
}

func (f *failing) EventCreate(timing bool) (driver.Event, error) {
	if f.calls.Load() < f.at+3 { // not each of the many
		if err := f.now(); err != nil {
			return 0, err
		}
	}
	return f.Driver.EventCreate(timing)
}

func (f *failing) MemsetD32Async(p driver.Ptr, v uint32, n int64, s driver.Stream) error {
	if err := f.now(); err != nil {
		return err
	}
	return f.Driver.MemsetD32Async(p, v, n, s)
}

func (f *failing) StreamBatchMemOp(s driver.Stream, items []driver.MemOp) error {
	if err := f.now(); err != nil {
		return err
	}
	return f.Driver.StreamBatchMemOp(s, items)
}
