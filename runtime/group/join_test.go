//go:build cgo

package group_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/verify/sim"
)

func TestRunsOnManyStreams(t *testing.T) {
	for seed := range uint64(5) {
		inWorld(t, sim.Config{Devices: 4, Seed: seed}, func(w *world) {
			groups := w.groups(0, 4)
			each(4, func(r int) {
				g := groups[r]
				if g.Rank() != r || g.Size() != 4 || !strings.Contains(g.Choice(), "sim") {
					t.Errorf("rank %d of %d, driver %s", g.Rank(), g.Size(), g.Choice())
				}
				a, b := newToy(g), newToy(g)
				other, err := g.Driver().StreamCreateWithPriority(driver.Low)
				if err != nil {
					t.Error(err)
				}
				for i := range 30 {
					switch i % 3 {
					case 0:
						err = a.run(w.Context())
					case 1:
						_, err = a.enqueue(nil, other)
					case 2:
						_, err = b.enqueue(nil, b.main.Handle)
					}
					if err != nil {
						t.Errorf("rank %d, run %d: %v", r, i, err)
					}
				}
				if err := errors.Join(g.Driver().StreamSynchronize(other), g.Err(),
					g.Driver().StreamDestroy(other)); err != nil {
					t.Error(err)
				}
				a.close()
				b.close()
			})
			w.leave(groups)
			w.leave(groups) // again
			if races := w.Races(); len(races) > 0 {
				t.Errorf("races: %v", races)
			}
			if _, err := groups[0].Begin(nil, 1, 0); !errors.Is(err, group.ErrClosed) {
				t.Errorf("begin after close: %v", err)
			}
			if err := groups[0].Err(); err != nil {
				t.Errorf("a clean close leaves %v", err)
			}
		})
	}
}

// TestOneSequence writes the same memory by runs on several streams: only the
// group orders them.
func TestOneSequence(t *testing.T) {
	for seed := range uint64(10) {
		inWorld(t, sim.Config{Devices: 1, Seed: seed}, func(w *world) {
			groups := w.groups(0, 1)
			g := groups[0]
			id, err := g.Register(&toy{g: g})
			if err != nil {
				t.Fatal(err)
			}
			at := g.Arena().Base(0) + driver.Ptr(group.StagingOf(g.Arena().Bytes()))
			for i := range 12 {
				s, err := g.Stream("work", i%3, driver.Low)
				if err != nil {
					t.Fatal(err)
				}
				r, err := g.Begin(nil, id, s.Handle)
				if err := errors.Join(err, g.Driver().MemsetD32Async(at, uint32(i), 512, s.Handle),
					g.End(&r)); err != nil {
					t.Fatal(err)
				}
				if i == 11 {
					err = g.Wait(&r)
				}
				if err != nil {
					t.Error(err)
				}
			}
			word := make([]byte, 4)
			if err := g.Driver().MemcpyDtoH(word, at); err != nil || word[0] != 11 {
				t.Errorf("seed %d: %v, %v", seed, word, err)
			}
			if races := w.Races(); len(races) > 0 {
				t.Errorf("seed %d: %v", seed, races)
			}
			w.leave(groups)
		})
	}
}

// TestImportersCloseFirst closes ranks at different times: no arena is freed
// while a peer has it mapped.
func TestImportersCloseFirst(t *testing.T) {
	inWorld(t, sim.Config{Devices: 3}, func(w *world) {
		var open atomic.Int64
		w.wrap = func(rank int, d driver.Driver) driver.Driver {
			return &ordered{Driver: d, t: t, rank: rank, open: &open}
		}
		groups := w.groups(0, 3)
		want := int64(6)
		if w.local {
			want = 0 // addresses serve as they are
		}
		if n := open.Load(); n != want {
			t.Errorf("%d imports, want %d", n, want)
		}
		w.leave(groups)
	})
}

// ordered watches the imports of all ranks; rank 2 is slow to close its own.
type ordered struct {
	driver.Driver
	t    *testing.T
	rank int
	open *atomic.Int64
}

func (o *ordered) IpcOpenMemHandle(h driver.IpcMemHandle) (driver.Ptr, error) {
	o.open.Add(1)
	return o.Driver.IpcOpenMemHandle(h)
}

func (o *ordered) IpcCloseMemHandle(p driver.Ptr) error {
	if o.rank == 2 {
		time.Sleep(300 * time.Millisecond)
	}
	o.open.Add(-1)
	return o.Driver.IpcCloseMemHandle(p)
}

func (o *ordered) MemFree(p driver.Ptr) error {
	if n := o.open.Load(); n > 0 {
		o.t.Errorf("rank %d freed while %d imports were open", o.rank, n)
	}
	return o.Driver.MemFree(p)
}

// TestCallersGraph captures runs into a graph of the caller's and mixes its
// replays with eager runs on another stream.
func TestCallersGraph(t *testing.T) {
	inWorld(t, sim.Config{Devices: 2, Seed: 3}, func(w *world) {
		groups := w.groups(0, 2)
		each(2, func(r int) {
			g := groups[r]
			d := g.Driver()
			must := func(err error) {
				if err != nil {
					panic(err)
				}
			}
			p := newToy(g)
			must(p.run(w.Context()))
			s, err := d.StreamCreateWithPriority(driver.Normal)
			must(err)
			must(d.StreamBeginCapture(s))
			run, err := p.enqueue(nil, s)
			must(err)
			if err := g.Wait(&run); err == nil {
				t.Error("waited for a run that is captured")
			}
			graph, err := d.StreamEndCapture(s)
			must(err)
			exec, err := d.GraphInstantiate(graph)
			must(err)
			for range 10 {
				must(d.GraphLaunch(exec, s))
				_, err := p.enqueue(nil, p.main.Handle)
				must(err)
				must(d.GraphLaunch(exec, s))
				must(p.run(w.Context()))
			}
			must(d.StreamSynchronize(s))
			must(g.Err())
			_, err = g.Gather(w.Context(), "the last replay", nil)
			must(err)
			if r == 1 { // leaves the other alone with its replay
				must(d.GraphLaunch(exec, s))
				time.Sleep(time.Second)
				g.Abort(errReason)
			}
			<-g.Done()
			must(d.StreamSynchronize(s))
			if err := g.Err(); !strings.Contains(err.Error(),
				"rank 1 probably waited for rank 0 at plan 1 (toy), step 2") {
				t.Errorf("rank %d: %v", r, err)
			}
			must(errors.Join(d.GraphExecDestroy(exec), d.GraphDestroy(graph), d.StreamDestroy(s)))
			p.close()
		})
		w.leave(groups)
	})
}

func TestGroupOfOne(t *testing.T) {
	inWorld(t, sim.Config{Devices: 1}, func(w *world) {
		groups := w.groups(0, 1)
		p := newToy(groups[0])
		for range 5 {
			if err := p.run(w.Context()); err != nil {
				t.Error(err)
			}
		}
		p.close()
		w.leave(groups)
	})
}

func TestGroupsSideBySide(t *testing.T) {
	inWorld(t, sim.Config{Devices: 4}, func(w *world) {
		left, right, whole := w.configs(0, 2), w.configs(2, 2), w.configs(0, 4)
		var groups [3][]*group.Group
		each(3, func(i int) {
			var errs []error
			groups[i], errs = w.join([][]group.Config{left, right, whole}[i])
			if err := errors.Join(errs...); err != nil {
				panic(err)
			}
			each(len(groups[i]), func(r int) {
				p := newToy(groups[i][r])
				defer p.close()
				for range 10 {
					if err := p.run(w.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		})
		groups[0][0].Abort(errors.New("only the left pair"))
		<-groups[0][1].Done()
		each(4, func(r int) {
			p := newToy(groups[2][r])
			defer p.close()
			if err := p.run(w.Context()); err != nil {
				t.Errorf("another group's abort: %v", err)
			}
		})
		for _, g := range groups {
			w.leave(g)
		}
	})
}

func TestGather(t *testing.T) {
	inWorld(t, sim.Config{Devices: 3}, func(w *world) {
		groups := w.groups(0, 3)
		each(3, func(r int) {
			all, err := groups[r].Gather(w.Context(), "new plan", []byte{byte(r)})
			if err != nil || len(all) != 3 || all[2][0] != 2 {
				t.Errorf("%v, %v", all, err)
			}
			_, err = groups[r].Gather(w.Context(), fmt.Sprint("step ", r%2), nil)
			var m *store.MismatchError
			if !errors.As(err, &m) || groups[r].Err() != nil {
				t.Errorf("%v; %v", err, groups[r].Err())
			}
			if r == 1 {
				_, err = groups[1].Gather(w.Context(), "bind plan 3 (toy) buffer A", nil)
			} else {
				<-groups[r].Done()
				err = groups[r].Err()
			}
			var a *group.AbortError
			if !errors.As(err, &a) || a.By != 1 ||
				!strings.Contains(err.Error(),
					"bind plan 3 (toy) buffer A: rank 1 came alone; ranks 0, 2 did not within 3s") {
				t.Errorf("rank %d: %v", r, err)
			}
		})
		w.leave(groups)
	})
}

func TestJoinRefuses(t *testing.T) {
	for _, x := range []struct {
		name  string
		world sim.Config
		spoil func(cs []group.Config)
		want  []string
		as    any
	}{
		{"unequal arena", sim.Config{}, func(cs []group.Config) { cs[1].Arena *= 2 },
			[]string{"check arena", "Config.Arena"}, new(*group.CheckError)},
		{"one device twice", sim.Config{}, func(cs []group.Config) { cs[2].Driver = cs[1].Driver },
			[]string{"check device", "ranks 1 and 2"}, new(*group.CheckError)},
		{"no peer access", sim.Config{PeerAccess: func(from, to int) bool { return from != 1 || to != 2 }},
			func([]group.Config) {}, []string{"check peer access", "rank 1 can't map rank 2's memory"},
			new(*group.CheckError)},
		{"one rank takes no peer access", sim.Config{}, func(cs []group.Config) { cs[1].Apart = true },
			[]string{"check peer access", "rank 0 has Config.Apart false, rank 1 true"}, new(*group.CheckError)},
		{"one hardware queue", sim.Config{Queues: 1}, func([]group.Config) {},
			[]string{"CUDA_DEVICE_MAX_CONNECTIONS"}, nil},
		{"one process for some", sim.Config{}, func(cs []group.Config) { cs[1].Local = !cs[1].Local },
			[]string{"check process", "Config.Local", "rank 1"}, new(*group.CheckError)},
		{"a rank does not come", sim.Config{}, func(cs []group.Config) { cs[1].Job = "elsewhere" },
			[]string{"did not come"}, new(*store.RendezvousError)},
		{"no memory", sim.Config{Memory: 1 << 19}, func([]group.Config) {}, []string{"allocate the arena"},
			nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.world.Devices = 3
			inWorld(t, x.world, func(w *world) {
				cs := w.configs(0, 3)
				x.spoil(cs)
				groups, errs := w.join(cs)
				for r, err := range errs {
					if err == nil || groups[r] != nil {
						t.Errorf("rank %d joined", r)
						continue
					}
					for _, want := range x.want {
						if !strings.Contains(err.Error(), want) {
							t.Errorf("rank %d: %v, want %q", r, err, want)
						}
					}
					if x.as != nil && !errors.As(err, x.as) {
						t.Errorf("rank %d: %v is not a %T", r, err, x.as)
					}
				}
			})
		})
	}
}
