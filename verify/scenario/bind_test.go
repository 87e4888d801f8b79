package scenario

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/ipc"
	"ovgen/runtime/plan"
	"ovgen/verify/drivertest"
)

// since is the difference between two counts of a cache.
func since(g *group.Group, before ipc.Counters) ipc.Counters {
	c := g.Imports().Counters()
	return ipc.Counters{Messages: c.Messages - before.Messages, Bytes: c.Bytes - before.Bytes,
		Handles: c.Handles - before.Handles, Files: c.Files - before.Files,
		Opens: c.Opens - before.Opens, Closes: c.Closes - before.Closes, Hits: c.Hits - before.Hits}
}

// bindAgain binds to the same, to other, to neighbouring and to reborn memory.
func bindAgain(e *env) error {
	return e.with("", func(g *group.Group, l *layer) (err error) {
		d, rows := g.Driver(), l.a.Bytes()
		if c := g.Imports().Counters(); c.Opens != 2*(g.Size()-1) {
			return fmt.Errorf("a plan opened %d handles, want 2 a peer", c.Opens)
		}
		two, err := device.Alloc(d, 2*(rows+256))
		if err == nil {
			err = made(e, g)
		}
		if err != nil {
			return err
		}
		half := two.Ptr() + driver.Ptr(two.Bytes()/2)
		peers := g.Size() - 1
		for i, x := range []struct {
			what string
			a    driver.Ptr
			want ipc.Counters // Bytes is not compared
		}{
			{"the same", l.a.Ptr(), ipc.Counters{}},
			{"another allocation", two.Ptr(),
				ipc.Counters{Messages: 1, Handles: 1, Opens: peers, Closes: peers}},
			{"another place in it", half, ipc.Counters{Messages: 1, Hits: peers}},
			{"the same again", half, ipc.Counters{}},
		} {
			before := g.Imports().Counters()
			if err := l.bind(e, x.a); err != nil {
				return fmt.Errorf("%s: %w", x.what, err)
			}
			if err := l.right(e, x.a, i); err != nil {
				return fmt.Errorf("%s: %w", x.what, err)
			}
			got := since(g, before)
			got.Bytes = 0
			if got != x.want {
				return fmt.Errorf("bind to %s: %+v, want %+v", x.what, got, x.want)
			}
		}
		if err := l.bind(e, l.a.Ptr()); err != nil {
			return err
		}
		if err := errors.Join(two.Close(), made(e, g)); err != nil {
			return err
		}
		return reborn(e, g, l)
	})
}

// reborn binds to memory that was freed and allocated again, if it can be had at
// the same address.
func reborn(e *env, g *group.Group, l *layer) error {
	d, old := g.Driver(), l.a.Ptr()
	if err := l.right(e, old, 5); err != nil {
		return err
	}
	// The peers have the memory open until they are bound elsewhere.
	park, err := device.Alloc(d, l.a.Bytes())
	if err != nil {
		return err
	}
	if err := l.bind(e, park.Ptr()); err != nil {
		return err
	}
	if err := l.a.Close(); err != nil {
		return err
	}
	if l.a, err = device.Alloc(d, l.a.Bytes()); err != nil {
		return err
	}
	before := g.Imports().Counters()
	if err := l.bind(e, l.a.Ptr()); err != nil {
		return err
	}
	if got := since(g, before); got.Handles != 1 || got.Opens != g.Size()-1 {
		return fmt.Errorf("memory allocated again (%#x, was %#x) was taken for the old one: %+v", l.a.Ptr(),
			old, got)
	}
	return errors.Join(l.right(e, l.a.Ptr(), 6), park.Close())
}

// bindLocally gives each rank layers in an order of its own, late at random: no Bind meets anybody, and a
// caller's graphs outlive all of them.
func bindLocally(e *env) error {
	return e.with("", func(g *group.Group, l *layer) (err error) {
		s, err := device.NewStream(l.d, driver.Normal)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		var graphs []*device.Graph
		defer func() {
			for _, g := range graphs {
				err = errors.Join(err, g.Close())
			}
		}()
		before := g.Imports().Counters()
		for i := range layers {
			if err := l.turn(e, i); err != nil {
				return err
			}
			graph, err := device.Capture(l.d, s.Handle(), func() error { return l.Enqueue(s.Handle()) })
			if err != nil {
				return err
			}
			graphs = append(graphs, graph)
		}
		for i := range 8 * layers {
			time.Sleep(time.Duration(e.own.IntN(300)) * time.Microsecond)
			if err := l.turn(e, e.own.IntN(layers)); err != nil {
				return err
			}
			if i%2 == 0 {
				err = l.right(e, l.a.Ptr(), i)
			} else {
				err = errors.Join(l.put(l.a.Ptr(), i), graphs[l.which].Launch(s.Handle()), g.Watch(e, s.Handle()),
					l.check(l.c.Ptr(), i))
			}
			if err != nil {
				return fmt.Errorf("run %d, layer %d: %w", i, l.which, err)
			}
		}
		if got := since(g, before); got != (ipc.Counters{}) {
			return fmt.Errorf("local binds exchanged %+v", got)
		}
		return nil
	})
}

// bindAlone binds one rank to new memory while the others bind their own layers and run.
func bindAlone(e *env) error {
	odd := e.random.IntN(e.size)
	return e.with("", func(g *group.Group, l *layer) (err error) {
		if err := l.right(e, l.a.Ptr(), 1); err != nil {
			return err
		}
		other, err := device.Alloc(g.Driver(), l.a.Bytes())
		if err != nil {
			return err
		}
		if err := made(e, g); err != nil {
			return err
		}
		began := time.Now()
		if e.rank == odd {
			err = l.bind(e, other.Ptr())
		} else if err = l.turn(e, 1+e.rank); err == nil {
			err = l.Run(e)
		}
		if err == nil {
			return errors.New("a rank that changed a buffer alone went unnoticed")
		}
		if took := time.Since(began); took > timeout+2*time.Second {
			return fmt.Errorf("noticed after %v: %w", took, err)
		}
		for _, part := range []string{fmt.Sprintf("rank %d", odd), "new memory for A"} {
			if !strings.Contains(err.Error(), part) {
				return fmt.Errorf("the error does not name %q: %w", part, err)
			}
		}
		return errors.Join(aborted(err), other.Close())
	})
}

// refused binds to memory that can't be exported.
func refused(e *env) error {
	return e.with("", func(g *group.Group, l *layer) error {
		pool, err := pooled(e.raw, l.a.Bytes())
		if err != nil {
			return err
		}
		own, err := drivertest.NewSegment(l.d, 1, 1, 0)
		if err != nil {
			return err
		}
		for _, x := range []struct {
			at   driver.Ptr
			want string
		}{{pool, "cuMemAllocAsync"}, {own.At, "made for no process but this one"}} {
			if x.at == own.At && e.config.Local { // whose ranks need no more
				continue
			}
			err := l.bind(e, x.at)
			if err == nil || !errors.Is(err, driver.ErrNotExportable) ||
				!strings.Contains(err.Error(), x.want) {
				return fmt.Errorf("bind to memory of which is said %q: %w", x.want, err)
			}
		}
		if err := errors.Join(own.Close(), e.raw.MemFree(pool)); err != nil {
			return err
		}
		at, last := l.a.Ptr(), e.rank == e.size-1
		if last {
			at = l.c.Ptr()
		}
		err = l.bind(e, at)
		var other *plan.RankError
		told := last || errors.As(err, &other) && other.Rank == e.size-1
		if err == nil || !told || !strings.Contains(err.Error(), "C at [0x") ||
			!strings.Contains(err.Error(), "overlaps A at [0x") {
			return fmt.Errorf("bind A to C's memory on the last rank: %w", err)
		}
		if err := l.bind(e, l.a.Ptr()); err != nil { // a refusal ends nothing
			return err
		}
		return l.right(e, l.a.Ptr(), 3)
	})
}

// pooled allocates from a stream-ordered pool.
func pooled(d driver.Driver, bytes int64) (driver.Ptr, error) {
	switch d := d.(type) {
	case interface {
		MemAllocPooled(int64) (driver.Ptr, error)
	}:
		return d.MemAllocPooled(bytes)
	case interface {
		MemAllocPooled(int64, driver.Stream) (driver.Ptr, error)
	}:
		return d.MemAllocPooled(bytes, 0)
	}
	return 0, fmt.Errorf("driver %T has no pool", d)
}
