package plan

import (
	"context"
	"errors"
	"testing"
	"time"
	"unsafe"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// null is a device that enqueues nothing once it is switched off, so that only the
// runtime's own work is measured.
type null struct {
	driver.Driver
	off bool
}

func (n *null) StreamBatchMemOp(s driver.Stream, items []driver.MemOp) error {
	if n.off {
		return nil
	}
	return n.Driver.StreamBatchMemOp(s, items)
}

func (n *null) MemcpyDtoDAsync(dst, src driver.Ptr, bytes int64, s driver.Stream) error {
	if n.off {
		return nil
	}
	return n.Driver.MemcpyDtoDAsync(dst, src, bytes, s)
}

func (n *null) Matmul(m driver.Product, x driver.Operands, s driver.Stream) error {
	if n.off {
		return nil
	}
	return n.Driver.Matmul(m, x, s)
}

func (n *null) EventRecordWithFlags(e driver.Event, s driver.Stream, f driver.EventFlags) error {
	if n.off {
		return nil
	}
	return n.Driver.EventRecordWithFlags(e, s, f)
}

func (n *null) StreamWaitEvent(s driver.Stream, e driver.Event, f driver.EventFlags) error {
	if n.off {
		return nil
	}
	return n.Driver.StreamWaitEvent(s, e, f)
}

func (n *null) GraphLaunch(g driver.GraphExec, s driver.Stream) error {
	if n.off {
		return nil
	}
	return n.Driver.GraphLaunch(g, s)
}

func (n *null) LaunchKernel(f driver.Function, grid, block driver.Dim3, s driver.Stream, params unsafe.Pointer) error {
	return nil
}

// steady calls f with a bound plan of two ranks whose devices do nothing; time
// is real.
func steady(t testing.TB, f func(t *toy)) {
	node := simtest.NewNode(sim.Config{Devices: 2})
	defer node.Close()
	ranks, err := node.Configs(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	nulls, toys := make([]*null, 2), make([]*toy, 2)
	for r := range ranks {
		nulls[r] = &null{Driver: ranks[r].Driver}
		ranks[r].Driver, ranks[r].Timeout = nulls[r], time.Minute
	}
	groups, err := simtest.Join(t.Context(), ranks)
	if err != nil {
		t.Fatal(err)
	}
	if err := simtest.Each(2, func(r int) (err error) {
		if toys[r], err = newToy(t.Context(), groups[r], toyProgram, "small"); err != nil {
			return err
		}
		two := toys[r]
		if err := errors.Join(two.allocate(), two.bind(t.Context())); err != nil {
			return err
		}
		two.other = layer{B: two.B, C: two.C}
		if err := errors.Join(replace(&two.other.B, two.driver), replace(&two.other.C, two.driver)); err != nil {
			return err
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	nulls[0].off = true
	f(toys[0])
	nulls[0].off = false
	if err := simtest.Each(2, func(r int) error {
		return errors.Join(toys[r].close(context.Background()), toys[r].other.B.Close(), toys[r].other.C.Close(),
			groups[r].Close(context.Background()))
	}); err != nil {
		t.Error(err)
	}
}

// ways of running a plan in steady state.
func (t *toy) ways(ctx context.Context, s driver.Stream) map[string]func() error {
	return map[string]func() error{
		"Enqueue":        func() error { return t.plan.Enqueue(s) },
		"Replay":         func() error { return t.plan.Replay(s) },
		"Run":            func() error { return t.plan.Run(ctx) },
		"Bind, the same": func() error { return t.bind(ctx) },
		"Bind, layer by layer": func() error {
			t.B, t.other.B = t.other.B, t.B
			t.C, t.other.C = t.other.C, t.C
			return t.bind(ctx)
		},
	}
}

func TestSteadyStateMakesNoAllocation(t *testing.T) {
	steady(t, func(p *toy) {
		s, err := device.NewStream(p.driver, driver.Normal)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ways := p.ways(ctx, s.Handle())
		for name, run := range ways {
			n := testing.AllocsPerRun(300, func() {
				if err := run(); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("%s makes %v allocations a call", name, n)
			}
		}
	})
}

// BenchmarkHost is the host's own time for a run of two ranks: all but the
// driver calls.
func BenchmarkHost(b *testing.B) {
	steady(b, func(p *toy) {
		for name, run := range p.ways(b.Context(), p.plan.main.own) {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}
