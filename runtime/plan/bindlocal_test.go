package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/ipc"
	"ovgen/verify/sim"
)

type bindLocalCase struct {
	name string
	addr func(w *world, t *toy, addr []driver.Ptr) []driver.Ptr
	want string
}

func peersA(w *world, t *toy, addr []driver.Ptr) []driver.Ptr {
	addr[3] = t.a.Peer(2, 0) // a of rank 2, as mapped here
	return addr
}

var bindLocalCases = []bindLocalCase{
	{"absent", at(2, func(*world) driver.Ptr { return 0 }), "bias: no address"},
	{"nowhere", at(1, func(*world) driver.Ptr { return 4096 }), "b: look at 0x1000"},
	{"not aligned", at(3, func(*world) driver.Ptr { return 4097 }), "c: address 0x1001 is not a multiple of 16"},
	{"too small", func(w *world, t *toy, addr []driver.Ptr) []driver.Ptr {
		addr[1] += 16
		return addr
	}, "b: 512 bytes wanted, and the allocation of"},
	{"c is b", func(w *world, t *toy, addr []driver.Ptr) []driver.Ptr {
		addr[1] = addr[3]
		return addr
	}, "and runs write c (bind each to memory of its own"},
	{"bias lies in c", func(w *world, t *toy, addr []driver.Ptr) []driver.Ptr {
		big := w.special((*sim.Context).MemAlloc)
		addr[3] = big
		addr[2] = big + 64
		return addr
	}, "c at ["},
	{"c is a of a peer", peersA, "a of rank 2 at ["},
	{"c lies in the arena", at(3, func(w *world) driver.Ptr { return w.groups[1].Arena().Base(1) + 512 }),
		"overlaps the arena of rank 1 at ["},
	{"bias lies in a peer's arena", at(2, func(w *world) driver.Ptr {
		return w.groups[1].Arena().Base(2) + 1<<20 - 64
	}), "bias at ["},
	{"too few", func(w *world, t *toy, addr []driver.Ptr) []driver.Ptr { return addr[:3] },
		"3 addresses for 4 buffers"},
}

// TestBindLocalRefuses gives one rank memory of its own that won't do, while the others bind theirs: it
// alone gets an error, its plan is not bound, and the group goes on once it has bound what will do.
func TestBindLocalRefuses(t *testing.T) {

	for _, x := range bindLocalCases {
		t.Run(x.name, x.run)
	}
}

func (x bindLocalCase) run(t *testing.T) {
	inWorld(t, 3, sim.Config{}, nil, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			old, before := t.C, t.counters()
			if err := replace(&t.C, t.driver); err != nil {
				return err
			}
			if t.rank == badRank {
				addr := x.addr(w, t, []driver.Ptr{t.A.Ptr(), t.B.Ptr(), t.Bias.Ptr(), t.C.Ptr()})
				err := t.plan.Bind(w.Context(), addr...)
				if err == nil || !strings.Contains(err.Error(), x.want) {
					return fmt.Errorf("%v, want %q", err, x.want)
				}
				if err := t.plan.Enqueue(0); !errors.Is(err, ErrNotBound) {
					return fmt.Errorf("enqueue after a failed bind: %v", err)
				}
				if err := t.plan.Run(w.Context()); !errors.Is(err, ErrNotBound) {
					return fmt.Errorf("run after a failed bind: %v", err)
				}
			}
			err := errors.Join(t.bind(w.Context()), t.fill(1), t.plan.Run(w.Context()), t.check(t.C, 1))
			if err != nil {
				return err
			}
			if got := delta(before, t.counters()); got != (ipc.Counters{}) {
				return fmt.Errorf("%+v were exchanged", got)
			}
			return old.Close()
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}

// TestForeignMemory binds layers in memory that the group's driver did not allocate: Bind asks CUDA
// about it, and still meets nobody. New memory that peers use is recognised by its buffer id.
func TestForeignMemory(t *testing.T) {
	inWorld(t, 2, sim.Config{Seed: 9}, nil, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			own, raw := t.A, w.raw[t.rank]
			a, err := raw.MemAlloc(t.chunkA)
			if err != nil {
				return err
			}
			for _, seed := range []uint64{1, 2} {
				c, err := raw.MemAlloc(2 * t.chunkC)
				if err != nil {
					return err
				}
				before := t.counters()
				if err := t.plan.Bind(w.Context(), a, t.B.Ptr(), t.Bias.Ptr(), c); err != nil {
					return err
				}
				if got := delta(before, t.counters()).Messages; got != 2-int(seed) {
					return fmt.Errorf("bind %d: %d messages", seed, got)
				}
				x := inputs(seed, uint64(t.rank)+1, rows*inner)
				err = errors.Join(t.fill(seed), raw.MemcpyHtoD(a, bytesOf(x)), t.plan.Run(w.Context()))
				if err != nil {
					return err
				}
				got := make([]byte, 2*t.chunkC)
				if err := raw.MemcpyDtoH(got, c); err != nil {
					return err
				}
				if want := bytesOf(t.want(seed, seed)); string(got) != string(want) {
					return fmt.Errorf("bind %d: another result", seed)
				}
			}
			if err := raw.MemFree(a); err != nil { // and its address again, on both ranks
				return err
			}
			again, err := raw.MemAlloc(t.chunkA)
			if err != nil || again != a {
				return fmt.Errorf("%#x, not %#x again: %w", again, a, err)
			}
			before := t.counters()
			if err := replace(&t.C, t.driver); err != nil {
				return err
			}
			if err := t.plan.Bind(w.Context(), a, t.B.Ptr(), t.Bias.Ptr(), t.C.Ptr()); err != nil {
				return err
			}
			if got := delta(before, t.counters()); got.Messages != 1 || got.Opens != 1 {
				return fmt.Errorf("an address used again: %+v", got)
			}
			t.A = own
			return nil
		})
		w.all(toys, func(t *toy) error { return t.plan.Close(w.Context()) })
	})
}

// graphless fails to instantiate graphs once it is switched on.
type graphless struct {
	driver.Driver
	now bool
}

var errRefused = errors.New("refused by the test")

func (d *graphless) GraphInstantiate(g driver.Graph) (driver.GraphExec, error) {
	if d.now {
		return 0, errRefused
	}
	return d.Driver.GraphInstantiate(g)
}

// TestNoGraphForLayer lets one rank fail to make a layer's graph, for which no other waits: all get an
// error in time.
func TestNoGraphForLayer(t *testing.T) {
	const odd = 1
	var drivers []*graphless
	wrap := func(d driver.Driver) driver.Driver {
		drivers = append(drivers, &graphless{Driver: d})
		return drivers[len(drivers)-1]
	}
	inWorld(t, 3, sim.Config{Seed: 11}, wrap, func(w *world) {
		toys := w.toys()
		start := time.Now()
		w.each(func(r int) {
			t := toys[r]
			drivers[r].now = r == odd
			w.must(replace(&t.C, t.driver))
			w.must(t.bind(w.Context()))
			err := t.plan.Run(w.Context())
			if !strings.Contains(fmt.Sprint(err), errRefused.Error()) || (r == odd) != errors.Is(err, errRefused) {
				w.Errorf("rank %d: %v", r, err)
			}
		})
		if took := time.Since(start); took >= timeout {
			w.Errorf("it took %v", took)
		}
	})
}

// TestFirstReplayIntoCapture replays a layer without a graph on a stream that is being captured: refused, and
// the layer's next run is right.
func TestFirstReplayIntoCapture(t *testing.T) {
	inWorld(t, 2, sim.Config{Seed: 12}, nil, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			old := t.C
			if err := errors.Join(replace(&t.C, t.driver), t.bind(w.Context())); err != nil {
				return err
			}
			s, err := device.NewStream(t.driver, driver.Normal)
			if err != nil {
				return err
			}
			defer s.Close()
			_, err = device.Capture(t.driver, s.Handle(), func() error { return t.plan.Replay(s.Handle()) })
			if !errors.Is(err, errCapturing) {
				return fmt.Errorf("a replay into a capture: %v", err)
			}
			return errors.Join(old.Close(), t.fill(4), t.plan.Run(w.Context()), t.check(t.C, 4))
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}

// TestFirstBindAlone makes a plan of which no peer uses the caller's memory: no Bind meets anybody, not
// even the first, and none that is refused.
func TestFirstBindAlone(t *testing.T) {
	inWorld(t, 2, sim.Config{Seed: 13}, nil, func(w *world) {
		plans := make([]*Plan, 2)
		memory := make([]*device.Buffer, 2)
		w.each(func(r int) {
			b := Build(w.groups[r], toyProgram, "own")
			own := b.Written(b.Caller("own", 64))
			staged := b.Allocate("staged", 64)
			var err error
			plans[r], err = b.Finish(w.Context(), func(q *Queue) { q.Set(q.Main(), own.At(0), staged.At(0), 64) })
			w.must(err)
			memory[r], err = device.Alloc(w.groups[r].Driver(), 64)
			w.must(err)
		})
		if err := plans[1].Bind(w.Context(), 0); err == nil {
			w.Error("no address was accepted")
		}
		for r, p := range plans { // one after the other: none waits
			err := errors.Join(p.Bind(w.Context(), memory[r].Ptr()), p.Run(w.Context()), p.Replay(p.main.own))
			if err != nil {
				w.Errorf("rank %d: %v", r, err)
			}
		}
		w.each(func(r int) { w.must(errors.Join(plans[r].Close(w.Context()), memory[r].Close())) })
	})
}

// TestConflicts: memory is shared by two buffers if either is written, whichever comes first.
func TestConflicts(t *testing.T) {
	read := stretch{"a", false, 256, 512}
	written := stretch{"c", true, 384, 640}
	apart := stretch{"d", true, 640, 768}
	for _, x := range []struct {
		one, other stretch
		want       bool
	}{{read, written, true}, {written, read, true}, {written, written, true}, {read, read, false},
		{written, apart, false}, {apart, read, false}} {
		if got := x.one.conflicts(x.other); got != x.want {
			t.Errorf("%s and %s: %t", x.one, x.other, got)
		}
	}
}
