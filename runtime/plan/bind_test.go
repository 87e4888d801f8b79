package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/ipc"
	"ovgen/verify/drivertest"
	"ovgen/verify/sim"
)

func (t *toy) counters() ipc.Counters { return t.plan.Group().Imports().Counters() }

// delta is what one exchange cost.
func delta(before, after ipc.Counters) ipc.Counters {
	return ipc.Counters{Messages: after.Messages - before.Messages, Handles: after.Handles - before.Handles,
		Opens: after.Opens - before.Opens, Closes: after.Closes - before.Closes, Hits: after.Hits - before.Hits}
}

func TestBindAgain(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(t *toy) error
		want   ipc.Counters
	}{
		{"the same pointers", func(t *toy) error { return nil }, ipc.Counters{}},
		{"other local memory", func(t *toy) error { return replace(&t.C, t.driver) }, ipc.Counters{}},
		{"other shared memory", func(t *toy) error { return replace(&t.A, t.driver) },
			ipc.Counters{Messages: 1, Handles: 1, Opens: 2, Closes: 2}},
		{"all on one rank, a on the others", func(t *toy) error {
			if t.rank == 0 {
				return errors.Join(replace(&t.A, t.driver), replace(&t.B, t.driver), replace(&t.C, t.driver))
			}
			return replace(&t.A, t.driver)
		}, ipc.Counters{Messages: 1, Handles: 1, Opens: 2, Closes: 2}},
	} {
		t.Run(x.name, func(t *testing.T) {
			inWorld(t, 3, sim.Config{Seed: 1}, nil, func(w *world) {
				toys := w.toys()
				w.all(toys, func(t *toy) error {
					if c := t.counters(); c.Opens != 4 || c.Messages != 2 {
						return fmt.Errorf("%+v, want two opens a peer: its arena and its a", c)
					}
					before := t.counters()
					old := []*device.Buffer{t.A, t.B, t.C}
					if err := errors.Join(x.change(t), t.bind(w.Context())); err != nil {
						return err
					}
					got := delta(before, t.counters())
					if got != x.want {
						return fmt.Errorf("%+v, want %+v", got, x.want)
					}
					for i, b := range []*device.Buffer{t.A, t.B, t.C} {
						if b != old[i] {
							if err := old[i].Close(); err != nil { // free after Bind
								return err
							}
						}
					}
					return errors.Join(t.fill(3), t.plan.Run(w.Context()), t.check(t.C, 3))
				})
				w.all(toys, func(t *toy) error { return t.close(w.Context()) })
			})
		})
	}
}

// replace allocates other memory for a buffer and keeps the old.
func replace(at **device.Buffer, d driver.Driver) (err error) {
	*at, err = device.Alloc(d, (*at).Bytes())
	return err
}

// TestAddressUsedAgain frees a without the group's knowledge and gets its address again:
// the buffer id shows that the memory is another.
func TestAddressUsedAgain(t *testing.T) {
	inWorld(t, 2, sim.Config{Seed: 2}, nil, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			if err := t.A.Close(); !errors.Is(err, ipc.ErrInUse) {
				return fmt.Errorf("free a while peers have it: %v", err)
			}
			before, at := t.counters(), t.A.Ptr()
			if err := w.raw[t.rank].MemFree(at); err != nil {
				return err
			}
			if err := replace(&t.A, t.driver); err != nil {
				return err
			}
			if t.A.Ptr() != at {
				return fmt.Errorf("the simulator gave %#x, not %#x again: the test shows nothing", t.A.Ptr(), at)
			}
			if err := t.bind(w.Context()); err != nil {
				return err
			}
			if got := delta(before, t.counters()); got.Messages != 1 || got.Handles != 1 || got.Opens != 1 {
				return fmt.Errorf("%+v, want an exchange with a handle", got)
			}
			return errors.Join(t.fill(5), t.plan.Run(w.Context()), t.check(t.C, 5))
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}

func TestFreedBeforeClose(t *testing.T) {
	inWorld(t, 2, sim.Config{}, nil, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			if t.rank == 0 {
				if err := w.raw[0].MemFree(t.A.Ptr()); err != nil {
					return err
				}
				t.A = nil
			}
			if err := t.close(w.Context()); (t.rank == 0) != errors.Is(err, ipc.ErrFreed) {
				return fmt.Errorf("rank %d: %v", t.rank, err)
			}
			return nil
		})
	})
}

// TestBindAlone gives one rank another a while the others bind what they have, or other memory of their
// own: every rank gets an error in time that names the rank and the buffer.
func TestBindAlone(t *testing.T) {
	for name, others := range map[string]func(t *toy) error{
		"the others bind the same":  func(*toy) error { return nil },
		"the others bind locally":   func(t *toy) error { return replace(&t.B, t.driver) },
		"one of them binds locally": func(t *toy) error { return onRank(t, 2, &t.C) },
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, 3, sim.Config{Seed: 4}, nil, func(w *world) {
				toys := w.toys()
				start := time.Now()
				w.each(func(r int) {
					t := toys[r]
					if r == 1 {
						w.must(replace(&t.A, t.driver))
					} else {
						w.must(others(t))
					}
					err := t.bind(w.Context())
					for err == nil {
						err = t.plan.Run(w.Context())
					}
					var aborted *group.AbortError
					if !errors.As(err, &aborted) || !strings.Contains(err.Error(), "rank 1 has new memory for a") {
						w.Errorf("rank %d: %v", r, err)
					}
				})
				if took := time.Since(start); took > timeout+time.Second {
					w.Errorf("it took %v", took)
				}
			})
		})
	}
}

// onRank replaces a buffer on one rank.
func onRank(t *toy, rank int, at **device.Buffer) error {
	if t.rank != rank {
		return nil
	}
	return replace(at, t.driver)
}

type bindCase struct {
	name string
	addr func(w *world, t *toy, addr []driver.Ptr) []driver.Ptr
	want string
	is   error
}

const badRank = 1

func pooled(w *world) driver.Ptr { return w.special((*sim.Context).MemAllocPooled) }

// mapped is memory that reaches no other process.
func mapped(c *sim.Context, _ int64) (driver.Ptr, error) {
	s, err := drivertest.NewSegment(c, 1, 1, 0)
	return s.At, err
}

var bindCases = []bindCase{
	{"pooled", at(0, pooled), "a: export", driver.ErrNotExportable},
	{"pooled, the reason", at(0, pooled), "stream-ordered pool", nil},
	{"mapped", at(0, func(w *world) driver.Ptr { return w.special(mapped) }), "made for no process but this one",
		driver.ErrNotExportable},
	{"mapped, too small", at(0, func(w *world) driver.Ptr { return w.special(mapped) + 64<<10 - 16 }),
		"allocations hold 16 from there", nil},
	{"absent", at(2, func(*world) driver.Ptr { return 0 }), "bias: no address", nil},
	{"nowhere", at(1, func(*world) driver.Ptr { return 4096 }), "b: look at 0x1000", nil},
	{"not aligned", at(3, func(*world) driver.Ptr { return 4097 }),
		"c: address 0x1001 is not a multiple of 16", nil},
	{"too small", func(w *world, t *toy, addr []driver.Ptr) []driver.Ptr {
		addr[0] += 16
		return addr
	}, "a: 128 bytes wanted", nil},
	{"c begins in a", packed(3, 112), "overlaps a at [", nil},
	{"c ends in a", packed(3, 2048-768+16), "overlaps a at [", nil},
	{"c is a", packed(3, 0), "and runs write c (bind each to memory of its own", nil},
	{"c lies around b", packed(1, 2048+128), "overlaps b at [", nil},
	{"a lies in the arena", at(0, func(w *world) driver.Ptr { return w.groups[1].Arena().Base(1) + 512 }),
		"overlaps the arena of rank 1 at [", nil},
	{"bias lies in a peer's arena", at(2, func(w *world) driver.Ptr {
		return w.groups[1].Arena().Base(2) + 1<<20 - 64
	}), "bias at [", nil},
	{"too few", func(w *world, t *toy, addr []driver.Ptr) []driver.Ptr { return addr[:3] },
		"3 addresses for 4 buffers", nil},
}

// TestBindRefuses gives all ranks another a, and one rank memory that won't do. All ranks get an error
// that says so, nothing is opened, and binding again to what will do works.
func TestBindRefuses(t *testing.T) {

	for _, x := range bindCases {
		t.Run(x.name, x.run)
	}
}

func (x bindCase) run(t *testing.T) {
	inWorld(t, 3, sim.Config{}, nil, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			good := []driver.Ptr{t.A.Ptr(), t.B.Ptr(), t.Bias.Ptr(), t.C.Ptr()}
			old := []*device.Buffer{t.A, t.C}
			if err := errors.Join(replace(&t.A, t.driver), replace(&t.C, t.driver)); err != nil {
				return err
			}
			addr := []driver.Ptr{t.A.Ptr(), good[1], good[2], t.C.Ptr()}
			if t.rank == badRank {
				addr = x.addr(w, t, addr)
			}
			opens := t.counters().Opens
			err := t.plan.Bind(w.Context(), addr...)
			var other *RankError
			switch {
			case err == nil || !strings.Contains(err.Error(), x.want):
				return fmt.Errorf("rank %d: %v, want %q", t.rank, err, x.want)
			case t.rank == badRank && x.is != nil && !errors.Is(err, x.is):
				return fmt.Errorf("%v is not %v", err, x.is)
			case t.rank != badRank && (!errors.As(err, &other) || other.Rank != badRank):
				return fmt.Errorf("rank %d: %v does not name rank %d", t.rank, err, badRank)
			case t.counters().Opens != opens:
				return errors.New("something was opened")
			}
			if err := t.plan.Enqueue(0); !errors.Is(err, ErrNotBound) {
				return fmt.Errorf("enqueue after a failed bind: %v", err)
			}
			if err := t.bind(w.Context()); err != nil {
				return err
			}
			return errors.Join(old[0].Close(), old[1].Close(), t.fill(1), t.plan.Run(w.Context()),
				t.check(t.C, 1))
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}

// at puts another address in place i.
func at(i int, p func(w *world) driver.Ptr) func(*world, *toy, []driver.Ptr) []driver.Ptr {
	return func(w *world, t *toy, addr []driver.Ptr) []driver.Ptr {
		addr[i] = p(w)
		return addr
	}
}

// packed binds all buffers to one allocation, with buffer i at an offset of its own: of the
// others, which take 128, 512, 64 and 768 bytes, c begins at 2048, and b and bias follow it.
func packed(i int, offset driver.Ptr) func(*world, *toy, []driver.Ptr) []driver.Ptr {
	return func(w *world, _ *toy, addr []driver.Ptr) []driver.Ptr {
		base := w.special((*sim.Context).MemAlloc)
		for j, at := range []driver.Ptr{0, 2816, 3328, 2048} {
			addr[j] = base + at
		}
		if addr[i] = base + offset; i == 3 && offset > 128 {
			addr[0] = base + 2048
		}
		return addr
	}
}

// TestBindPacked binds buffers that lie side by side, and two that runs only read to the
// same memory.
func TestBindPacked(t *testing.T) {
	inWorld(t, 2, sim.Config{Seed: 6}, nil, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			block, err := device.Alloc(t.driver, 4096)
			if err != nil {
				return err
			}
			a, c, b := block.Ptr(), block.Ptr()+128, block.Ptr()+128+512 // bias is a
			if err := errors.Join(t.plan.Bind(w.Context(), a, b, a, c), t.plan.Run(w.Context())); err != nil {
				return err
			}
			return errors.Join(t.bind(w.Context()), block.Close(), t.fill(1), t.plan.Run(w.Context()), t.check(t.C, 1))
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}

// special is 4 KiB on rank 1 of memory that is not like that of cuMemAlloc.
func (w *world) special(alloc func(*sim.Context, int64) (driver.Ptr, error)) driver.Ptr {
	p, err := alloc(w.raw[1].(*sim.Context), 4096)
	if err != nil {
		panic(err)
	}
	return p
}
