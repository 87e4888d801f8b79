package plan

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/verify/sim"
)

func TestRun(t *testing.T) {
	for d := 1; d <= 4; d++ {
		for seed := range uint64(5) {
			t.Run(fmt.Sprintf("%d ranks, seed %d", d, seed), func(t *testing.T) {
				inWorld(t, d, sim.Config{Seed: seed}, nil, func(w *world) {
					toys := w.toys()
					w.all(toys, func(t *toy) error { return t.eachWay(w) })
					w.all(toys, func(t *toy) error { return t.close(w.Context()) })
				})
			})
		}
	}
}

// eachWay runs the plan eagerly, replayed on a stream, and by Run, over and over.
func (t *toy) eachWay(w *world) error {
	s, err := device.NewStream(t.driver, driver.Normal)
	if err != nil {
		return err
	}
	defer s.Close()
	ways := []func() error{
		func() error { return errors.Join(t.plan.Enqueue(s.Handle()), s.Synchronize()) },
		func() error { return errors.Join(t.plan.Replay(s.Handle()), s.Synchronize()) },
		func() error { return t.plan.Run(w.Context()) },
	}
	for i := range uint64(6) {
		if err := t.fill(i); err != nil {
			return err
		}
		if err := ways[i%3](); err != nil {
			return err
		}
		if err := errors.Join(t.plan.Group().Err(), t.check(t.C, i)); err != nil {
			return fmt.Errorf("way %d: %w", i%3, err)
		}
	}
	return nil
}

// caller is what a user does around a plan: inputs come by a slow copy before it,
// and the output is taken away after it, all on streams.
type caller struct {
	*toy
	inputs, outputs []*device.Buffer // a stage for each run
}

func (c *caller) stage(runs int) error {
	for i := range uint64(runs) {
		in, err := device.Alloc(c.driver, c.chunkA)
		if err != nil {
			return err
		}
		out, err := device.Alloc(c.driver, c.C.Bytes())
		if err != nil {
			return err
		}
		c.inputs, c.outputs = append(c.inputs, in), append(c.outputs, out)
		if err := in.Set(bytesOf(inputs(i, uint64(c.rank)+1, rows*inner))); err != nil {
			return err
		}
	}
	return c.fill(0)
}

// enqueue puts one run between its copies.
func (c *caller) enqueue(s *device.Stream, i int) error {
	return errors.Join(
		s.Copy(c.A.Ptr(), c.inputs[i].Ptr(), c.chunkA),
		c.plan.Enqueue(s.Handle()),
		s.Copy(c.outputs[i].Ptr(), c.C.Ptr(), c.C.Bytes()))
}

// verify compares each run's output; A is of seed i, B and bias of seed 0.
func (c *caller) verify() error {
	for i, out := range c.outputs {
		if err := c.compare(out, uint64(i), 0); err != nil {
			return fmt.Errorf("run %d: %w", i, err)
		}
	}
	return nil
}

func (c *caller) free() {
	for _, b := range append(c.inputs, c.outputs...) {
		b.Close()
	}
}

// slow makes plain copies take long, so that a missing order shows.
func slow(o sim.Op) time.Duration {
	if o.Kind == "copy" {
		return 50 * time.Microsecond
	}
	return 0
}

// uses enqueue the runs of a caller on streams of its own.
var uses = map[string]func(c *caller, s [2]*device.Stream) error{
	"one stream": func(c *caller, s [2]*device.Stream) error {
		for i := range c.inputs {
			if err := c.enqueue(s[0], i); err != nil {
				return err
			}
		}
		return nil
	},
	"two streams in turn": func(c *caller, s [2]*device.Stream) error {
		var done [2]*device.Event
		for i := range done {
			e, err := device.NewEvent(c.driver, false)
			if err != nil {
				return err
			}
			defer e.Close()
			done[i] = e
		}
		for i := range c.inputs {
			// A and C are the caller's to order; the plan orders itself.
			if i > 0 {
				if err := s[i%2].Wait(done[(i+1)%2]); err != nil {
					return err
				}
			}
			if err := errors.Join(c.enqueue(s[i%2], i), done[i%2].Record(s[i%2])); err != nil {
				return err
			}
		}
		return nil
	},
	"the caller's graph": func(c *caller, s [2]*device.Stream) error {
		var graphs []*device.Graph
		for i := range c.inputs {
			g, err := device.Capture(c.driver, s[0].Handle(), func() error { return c.enqueue(s[0], i) })
			if err != nil {
				return err
			}
			defer g.Close()
			graphs = append(graphs, g)
		}
		for _, g := range graphs {
			if err := g.Launch(s[0].Handle()); err != nil {
				return err
			}
		}
		return s[0].Synchronize()
	},
	"a graph, an eager run and a replay": func(c *caller, s [2]*device.Stream) error {
		g, err := device.Capture(c.driver, s[0].Handle(), func() error { return c.enqueue(s[0], 1) })
		if err != nil {
			return err
		}
		defer g.Close()
		if err := errors.Join(c.enqueue(s[0], 0), g.Launch(s[0].Handle())); err != nil {
			return err
		}
		for i := 2; i < len(c.inputs); i++ {
			if err := errors.Join(s[0].Copy(c.A.Ptr(), c.inputs[i].Ptr(), c.chunkA), c.plan.Replay(s[0].Handle()),
				s[0].Copy(c.outputs[i].Ptr(), c.C.Ptr(), c.C.Bytes())); err != nil {
				return err
			}
		}
		return s[0].Synchronize()
	},
}

func TestEnqueueOnCallersStreams(t *testing.T) {
	for name, use := range uses {
		for seed := range uint64(6) {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				inWorld(t, 3, sim.Config{Seed: seed, Delay: slow}, nil, func(w *world) {
					toys := w.toys()
					w.all(toys, func(t *toy) error { return t.called(use) })
					w.all(toys, func(t *toy) error { return t.close(w.Context()) })
				})
			})
		}
	}
}

// The first capture of a group comes after the runs before it, also on another stream and
// where no call of the driver waits for the device.
func TestEagerThenGraphElsewhere(t *testing.T) {
	for seed := range uint64(6) {
		inWorld(t, 3, sim.Config{Seed: seed, Delay: slow, FreeCalls: true}, nil, func(w *world) {
			toys := w.toys()
			w.all(toys, func(t *toy) error { return errors.Join(t.fill(seed), t.eagerThenGraph(), t.check(t.C, seed)) })
			w.all(toys, func(t *toy) error { return t.close(w.Context()) })
		})
	}
}

// eagerThenGraph enqueues a run on one stream, and a captured one on another.
func (t *toy) eagerThenGraph() error {
	var s [2]*device.Stream
	for i := range s {
		var err error
		if s[i], err = device.NewStream(t.driver, driver.Normal); err != nil {
			return err
		}
		defer s[i].Close()
	}
	if err := t.plan.Enqueue(s[0].Handle()); err != nil {
		return err
	}
	g, err := device.Capture(t.driver, s[1].Handle(), func() error { return t.plan.Enqueue(s[1].Handle()) })
	if err != nil {
		return err
	}
	defer g.Close()
	return errors.Join(g.Launch(s[1].Handle()), s[1].Synchronize(), s[0].Synchronize(), t.plan.Group().Err())
}

func (t *toy) called(use func(c *caller, s [2]*device.Stream) error) error {
	c := &caller{toy: t}
	if err := c.stage(5); err != nil {
		return err
	}
	defer c.free()
	var s [2]*device.Stream
	for i := range s {
		var err error
		if s[i], err = device.NewStream(t.driver, driver.Normal); err != nil {
			return err
		}
		defer s[i].Close()
	}
	if err := use(c, s); err != nil {
		return err
	}
	return errors.Join(s[0].Synchronize(), s[1].Synchronize(), t.plan.Group().Err(), c.verify())
}

func TestManyPlansShareArenaAndStreams(t *testing.T) {
	inWorld(t, 2, sim.Config{Seed: 7}, nil, func(w *world) {
		const plans = 50
		all := make([][]*toy, plans)
		for i := range all {
			all[i] = w.toys()
			for r, t := range all[i] {
				first := all[0][r]
				if t.gathered.At(0) != first.gathered.At(0) || t.copy.own != first.copy.own {
					w.Errorf("plan %d of rank %d has its own staging or stream", i, r)
				}
				if i > 0 && t.ready.set.offset == first.ready.set.offset {
					w.Errorf("plan %d of rank %d shares the semaphores of the first", i, r)
				}
			}
		}
		if n := w.groups[0].Imports().Counters().Opens; n != 1+plans {
			w.Errorf("%d opens for the arena and %d allocations of a", n, plans)
		}
		for i, toys := range all {
			w.all(toys, func(t *toy) error {
				return errors.Join(t.fill(uint64(i)), t.plan.Run(w.Context()), t.check(t.C, uint64(i)))
			})
		}
		for _, toys := range all {
			w.all(toys, func(t *toy) error { return t.close(w.Context()) })
		}
		c := w.groups[0].Imports().Counters()
		if c.Opens-c.Closes != 1 {
			w.Errorf("after all plans closed %d imports are open, want the arena's", c.Opens-c.Closes)
		}
	})
}

func TestRunAfterPeerLeaves(t *testing.T) {
	inWorld(t, 3, sim.Config{Seed: 3}, nil, func(w *world) {
		toys := w.toys()
		start := time.Now()
		w.each(func(r int) {
			if r == 1 {
				return // never runs
			}
			ctx, cancel := context.WithTimeout(w.Context(), time.Second)
			defer cancel()
			err := toys[r].plan.Run(ctx)
			if !errors.Is(err, context.DeadlineExceeded) {
				w.Errorf("rank %d: %v", r, err)
			}
			if again := toys[r].plan.Enqueue(0); again == nil {
				w.Errorf("rank %d enqueued into a dead group", r)
			}
		})
		w.each(func(r int) {
			if err := toys[r].plan.Close(w.Context()); !errors.Is(err, context.DeadlineExceeded) {
				w.Errorf("rank %d: close: %v, want the group's error", r, err)
			}
			if err := toys[r].fill(1); err != nil {
				w.Errorf("rank %d: the caller's memory: %v", r, err)
			}
		})
		if took := time.Since(start); took > 5*time.Second {
			w.Errorf("it took %v", took)
		}
	})
}

// A program that is not serial-safe as a graph runs, but is never captured.
func TestEagerOnly(t *testing.T) {
	prog := *toyProgram
	prog.Eager = true
	inWorld(t, 2, sim.Config{}, nil, func(w *world) {
		toys := w.toysOf(&prog)
		w.all(toys, func(t *toy) error {
			if len(t.plan.graphs.list) != 0 {
				return errors.New("Bind captured a graph")
			}
			if err := errors.Join(t.fill(1), t.plan.Run(w.Context()), t.check(t.C, 1)); err != nil {
				return err
			}
			s, err := device.NewStream(t.driver, driver.Normal)
			if err != nil {
				return err
			}
			defer s.Close()
			if err := t.plan.Replay(s.Handle()); !errors.Is(err, ErrEager) {
				return fmt.Errorf("a replay gave %v", err)
			}
			_, err = device.Capture(t.driver, s.Handle(), func() error { return t.plan.Enqueue(s.Handle()) })
			if !errors.Is(err, ErrEager) {
				return fmt.Errorf("a capture gave %v", err)
			}
			return errors.Join(t.fill(2), t.plan.Enqueue(s.Handle()), s.Synchronize(), t.check(t.C, 2))
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}
