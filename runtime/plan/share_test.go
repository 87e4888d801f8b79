package plan

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/ipc"
	"ovgen/verify/sim"
)

// Handles that are exchanged in the loop: the first run after a Bind opens them, each
// later one looks every handle up and sends nothing.
func TestShareInLoop(t *testing.T) {
	inWorld(t, 3, sim.Config{Seed: 4}, nil, func(w *world) {
		toys := w.toysOf(loopProgram)
		w.all(toys, func(t *toy) error {
			if c := t.counters(); c.Opens != 2 {
				return fmt.Errorf("%+v after Bind, want the arenas open and no a", c)
			}
			for i, want := range []ipc.Counters{
				{Messages: 2, Handles: 1, Opens: 2, Hits: 2}, // two steps meet; the second finds what the first opened
				{Hits: 2}, {Hits: 2},
			} {
				before := t.counters()
				if err := errors.Join(t.fill(uint64(i)), t.plan.Run(w.Context()), t.check(t.C, uint64(i))); err != nil {
					return fmt.Errorf("run %d: %w", i+1, err)
				}
				if i == 0 {
					before.Hits -= 2 // and the run itself looks two up
					want.Hits += 4
				}
				if got := delta(before, t.counters()); got != want {
					return fmt.Errorf("run %d: %+v, want %+v", i+1, got, want)
				}
			}
			old := t.A
			before := t.counters()
			err := errors.Join(replace(&t.A, t.driver), t.bind(w.Context()), old.Close(),
				t.fill(7), t.plan.Run(w.Context()), t.check(t.C, 7))
			if got := delta(before, t.counters()); err == nil && (got.Opens != 2 || got.Closes != 2) {
				return fmt.Errorf("bound to other memory: %+v, want the old a closed and the new opened", got)
			}
			return err
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
		if c := w.groups[0].Imports().Counters(); c.Opens-c.Closes != 2 {
			w.Errorf("%+v after Close, want the arenas open", c)
		}
	})
}

// Before the exchange a capture is refused, as it is for every eager program.
func TestShareIsNotCaptured(t *testing.T) {
	inWorld(t, 2, sim.Config{}, nil, func(w *world) {
		toys := w.toysOf(loopProgram)
		w.all(toys, func(t *toy) error {
			s, err := device.NewStream(t.driver, driver.Normal)
			if err != nil {
				return err
			}
			defer s.Close()
			_, err = device.Capture(t.driver, s.Handle(), func() error { return t.plan.Enqueue(s.Handle()) })
			if !errors.Is(err, ErrEager) {
				return fmt.Errorf("a capture gave %v", err)
			}
			return errors.Join(t.fill(1), t.plan.Run(w.Context()), t.check(t.C, 1), t.close(w.Context()))
		})
	})
}

// Memory that one rank can't export fails the run on every rank, and nothing hangs.
func TestShareFails(t *testing.T) {
	inWorld(t, 3, sim.Config{}, nil, func(w *world) {
		toys := w.toysOf(loopProgram)
		w.all(toys, func(t *toy) error {
			if t.rank == 1 {
				if err := t.A.Close(); err != nil {
					return err
				}
			}
			err := t.plan.Run(w.Context())
			if other := (*RankError)(nil); t.rank != 1 && (!errors.As(err, &other) || other.Rank != 1) || err == nil {
				return fmt.Errorf("rank %d: %v", t.rank, err)
			}
			if t.rank == 1 {
				if err := errors.Join(replaceGone(t), t.bind(w.Context())); err != nil {
					return err
				}
			} else if err := errors.Join(replace(&t.C, t.driver), t.bind(w.Context())); err != nil {
				return err
			}
			return errors.Join(t.fill(2), t.plan.Run(w.Context()), t.check(t.C, 2))
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}

func replaceGone(t *toy) (err error) {
	t.A, err = device.Alloc(t.driver, rows*inner*4)
	return err
}

// A rank that does not come to the exchange ends the group in time.
func TestShareAlone(t *testing.T) {
	inWorld(t, 2, sim.Config{}, nil, func(w *world) {
		toys := w.toysOf(loopProgram)
		start := time.Now()
		w.each(func(r int) {
			if r == 1 {
				return
			}
			ctx, cancel := context.WithTimeout(w.Context(), time.Second)
			defer cancel()
			if err := toys[r].plan.Run(ctx); err == nil {
				w.Error("a run without its peer succeeded")
			}
		})
		w.each(func(r int) { _ = toys[r].close(w.Context()) })
		if took := time.Since(start); took > 5*time.Second {
			w.Errorf("it took %v", took)
		}
	})
}

// Members of a set have words of their own, and a product of no rows is not enqueued.
func TestSetsAndEmptyProducts(t *testing.T) {
	inWorld(t, 2, sim.Config{}, nil, func(w *world) {
		w.each(func(r int) {
			b := Build(w.groups[r], toyProgram, "sets")
			sem, none := b.Semaphores("step", 3), b.Matmul(driver.MatmulDesc{K: 1, N: 1, Type: driver.FP32})
			root := b.Root(b.Shared("in", 64))
			to := 1 - r
			p, err := b.Finish(w.Context(), func(q *Queue) {
				for _, s := range sem {
					q.Post(q.Main(), s, to)
				}
				q.Matmul(q.Main(), none, 0, 0, 0, NoBias)
				for _, s := range sem {
					q.Wait(q.Main(), s, to)
				}
			})
			if err != nil {
				w.Errorf("rank %d: %v", r, err)
				return
			}
			var in driver.Ptr
			if r == 0 {
				in, err = w.groups[r].Driver().MemAlloc(64)
			}
			err = errors.Join(err, p.Bind(w.Context(), in), p.Run(w.Context()))
			if got := p.Steps()[1].Text; got != fmt.Sprintf("Post step[1][%d]", to) {
				w.Errorf("step 2 is %q", got)
			}
			if r == 1 && root.Peer(0, 0) == 0 {
				w.Error("rank 1 has no address of the root's buffer")
			}
			if err := errors.Join(err, p.Close(w.Context())); err != nil {
				w.Errorf("rank %d: %v", r, err)
			}
			if r == 0 {
				_ = w.groups[r].Driver().MemFree(in)
			}
		})
	})
}
