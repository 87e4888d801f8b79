//go:build cgo

package group_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/verify/sim"
)

// captured puts one run of each plan, in their order, into a graph of the caller's.
func captured(t *testing.T, g *group.Group, plans ...*toy) (driver.GraphExec, driver.Stream) {
	t.Helper()
	d := g.Driver()
	s, err := d.StreamCreateWithPriority(driver.Normal)
	errs := []error{err, d.StreamBeginCapture(s)}
	for _, p := range plans {
		_, err := p.enqueue(nil, s)
		errs = append(errs, err)
	}
	graph, err := d.StreamEndCapture(s)
	errs = append(errs, err)
	exec, err := d.GraphInstantiate(graph)
	if err := errors.Join(append(errs, err, d.GraphDestroy(graph))...); err != nil {
		t.Error(err)
	}
	return exec, s
}

type watchCase struct {
	name  string
	comes bool // the last rank launches too
	ctx   func(context.Context) (context.Context, context.CancelFunc)
	after time.Duration // until Watch returns, at most a second later
	is    error
	want  string // in the error; every rank's ends with the same diagnosis
}

var errWatch = errors.New("the caller's reason")

var watchCases = []watchCase{
	{"all come", true, context.WithCancel, 0, nil, ""},
	{"without a deadline", false, context.WithCancel, 3 * time.Second, context.DeadlineExceeded,
		"it did not drain within 3s (Config.RunTimeout)"},
	{"deadline", false, func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, 5*time.Second)
	}, 5 * time.Second, context.DeadlineExceeded, "watch stream "},
	{"cancelled", false, func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancelCause(ctx)
		time.AfterFunc(time.Second, func() { cancel(errWatch) })
		return ctx, func() { cancel(nil) }
	}, time.Second, context.Canceled, "the caller's reason"},
}

// TestWatch launches a graph of the caller's, whose replays the group does not see, on
// all ranks or on all but the last, and watches it.
func TestWatch(t *testing.T) {

	for _, x := range watchCases {
		t.Run(x.name, x.run)
	}
}

func (x watchCase) run(t *testing.T) {
	inWorld(t, sim.Config{Devices: 3, Seed: 2}, func(w *world) {
		groups := w.groups(0, 3)
		each(3, func(r int) {
			g := groups[r]
			p, q := newToy(g), newToy(g)
			exec, s := captured(t, g, p, q)
			defer func() {
				if err := errors.Join(g.Driver().GraphExecDestroy(exec),
					g.Driver().StreamDestroy(s)); err != nil {
					t.Error(err)
				}
				p.close()
				q.close()
			}()
			if r == 2 && !x.comes {
				<-g.Done()
				return
			}
			if err := g.Driver().GraphLaunch(exec, s); err != nil {
				t.Error(err)
			}
			ctx, cancel := x.ctx(w.Context())
			defer cancel()
			start := time.Now()
			err := g.Watch(ctx, s)
			if took := time.Since(start); took < x.after || took > x.after+time.Second {
				t.Errorf("rank %d: Watch returned after %v, want %v", r, took, x.after)
			}
			var a *group.AbortError
			if x.is == nil {
				if err != nil {
					t.Errorf("rank %d: %v", r, err)
				}
				return
			}
			if !errors.As(err, &a) || !errors.Is(err, x.is) ||
				!strings.Contains(err.Error(), x.want) {
				t.Fatalf("rank %d: %v, want %v with %q", r, err, x.is, x.want)
			}
			if !strings.Contains(err.Error(),
				"waited for rank 2 at plan 1 (toy), step 2 on copy: Wait ready[2]") {
				t.Errorf("rank %d does not say who waited for whom: %v", r, err)
			}
		})
		w.leave(groups)
	})
}

// TestWatchAnyStream watches streams without a graph.
func TestWatchAnyStream(t *testing.T) {
	inWorld(t, sim.Config{Devices: 2, Seed: 1}, func(w *world) {
		groups := w.groups(0, 2)
		each(2, func(r int) {
			g := groups[r]
			d := g.Driver()
			p := newToy(g)
			defer p.close()
			s, err := d.StreamCreateWithPriority(driver.Normal)
			if err != nil {
				t.Fatal(err)
			}
			defer d.StreamDestroy(s)
			_, err = p.enqueue(nil, s)
			if err := errors.Join(err, g.Watch(w.Context(), s)); err != nil {
				t.Errorf("rank %d: an enqueued run: %v", r, err)
			}
			if err := d.StreamBeginCapture(s); err != nil {
				t.Error(err)
			}
			if err := g.Watch(w.Context(), s); err == nil ||
				!strings.Contains(err.Error(), "being captured") {
				t.Errorf("rank %d: a stream that is being captured: %v", r, err)
			}
			graph, err := d.StreamEndCapture(s)
			if err := errors.Join(err, d.GraphDestroy(graph)); err != nil {
				t.Error(err)
			}
			if err := g.Watch(w.Context(), 12345); err == nil || g.Err() != nil {
				t.Errorf("rank %d: a handle that is no stream: %v, the group's error is %v", r, err,
					g.Err())
			}
			_, err = g.Gather(w.Context(), "watched", nil)
			if err != nil || r != 0 {
				return
			}
			mine, err := d.MemAlloc(4) // a word that nobody writes
			if err := errors.Join(err, d.MemsetD32Async(mine, 0, 1, s),
				d.StreamBatchMemOp(s,
					[]driver.MemOp{{Kind: driver.WaitEqual, Value: 1,
						Address: mine}})); err != nil {
				t.Error(err)
			}
			start := time.Now()
			err = g.Watch(w.Context(), s)
			if took := time.Since(start); err == nil ||
				!strings.Contains(err.Error(), "outside of the group") ||
				took > 3*time.Second+group.DrainTimeout+time.Second {
				t.Errorf("a stream blocked by its owner: %v after %v", err, took)
			}
			if err := errors.Join(d.MemcpyHtoD(mine, []byte{1, 0, 0, 0}), d.StreamSynchronize(s),
				d.MemFree(mine)); err != nil {
				t.Error(err)
			}
		})
		w.leave(groups)
		if err := groups[0].Watch(w.Context(), 0); !errors.As(err, new(*group.AbortError)) {
			t.Errorf("watch in a dead group: %v", err)
		}
	})
}

// TestDiagnoseReplay picks the plan that a replay of several waits in.
func TestDiagnoseReplay(t *testing.T) {
	inWorld(t, sim.Config{Devices: 1}, func(w *world) {
		groups := w.groups(0, 1)
		g := groups[0]
		a, b, c := newToy(g), newToy(g), newToy(g)
		for _, x := range []struct {
			copy uint32
			plan int
			step int
			sure bool
		}{
			{0, 1, 2, false},
			{group.StepValue(1, 2), 1, 4, true},
			{group.StepValue(1, 4), 2, 2, false}, // a is through, so b comes
			{group.StepValue(2, 2), 2, 4, true},
			{group.StepValue(3, 4), 1, 2, false}, // the next replay
			{group.StepValue(9, 9), 1, 2, false},
		} {
			plan, step, sure := g.DiagnoseReplay([]int{1, 2, 3}, x.copy)
			if plan != x.plan || step != x.step || sure != x.sure {
				t.Errorf("the word %#x: plan %d, step %d, sure %v; want %d, %d, %v",
					x.copy, plan, step, sure, x.plan, x.step, x.sure)
			}
		}
		a.close()
		b.close()
		c.close()
		w.leave(groups)
	})
}

// TestTimeouts gives each bound a time of its own.
func TestTimeouts(t *testing.T) {
	bounds := func(c *group.Config) {
		c.Timeout, c.JoinTimeout, c.CallTimeout, c.RunTimeout = time.Hour, 20*time.Second, 7*time.Second,
			11*time.Second
	}
	took := func(t *testing.T, f func() error, want time.Duration, text string) {
		t.Helper()
		start := time.Now()
		err := f()
		if got := time.Since(start); err == nil || got < want || got > want+2*time.Second ||
			!strings.Contains(err.Error(), text) {
			t.Errorf("%v after %v, want %q after %v", err, got, text, want)
		}
	}
	t.Run("join", func(t *testing.T) {
		inWorld(t, sim.Config{Devices: 3}, func(w *world) {
			cs := w.configs(0, 3)
			each(2, func(r int) {
				bounds(&cs[r])
				took(t, func() error { _, err := group.Join(w.Context(), cs[r]); return err },
					20*time.Second, "rank 2 of 3 did not come within 20s")
			})
		})
	})
	for _, x := range []struct {
		name string
		wait func(w *world, p *toy) error
		want time.Duration
		text string
	}{
		{"call", func(w *world, p *toy) error { _, err := p.g.Gather(w.Context(), "meet", nil); return err },
			7 * time.Second, "did not within 7s"},
		{"run", func(w *world, p *toy) error { return p.run(w.Context()) }, 11 * time.Second,
			"it did not drain within 11s"},
	} {
		t.Run(x.name, func(t *testing.T) {
			inWorld(t, sim.Config{Devices: 2}, func(w *world) {
				cs := w.configs(0, 2)
				bounds(&cs[0])
				bounds(&cs[1])
				groups, errs := w.join(cs)
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
				each(2, func(r int) {
					p := newToy(groups[r])
					defer p.close()
					if r == 1 {
						<-p.g.Done()
						return
					}
					took(t, func() error { return x.wait(w, p) }, x.want, x.text)
				})
				w.leave(groups)
			})
		})
	}
}

// TestDecline has ranks whose Config is wrong by itself: they fail before the rendezvous,
// and the ranks that come get the error at once.
func TestDecline(t *testing.T) {
	for _, x := range []struct {
		name string
		bad  []int // ranks with the mistake
		come []int // ranks that come at all
	}{
		{"a peer", []int{2}, []int{0, 1, 2}},
		{"rank 0", []int{0}, []int{0, 1, 2}},
		{"all", []int{0, 1, 2}, []int{0, 1, 2}},
		{"alone", []int{1}, []int{1}},
		{"rank 0 alone", []int{0}, []int{0}},
	} {
		t.Run(x.name, func(t *testing.T) {
			inWorld(t, sim.Config{Devices: 3}, func(w *world) {
				cs := w.configs(0, 3)
				for _, r := range x.bad {
					cs[r].Driver, cs[r].Backend = nil, "rocm"
				}
				each(len(x.come), func(i int) {
					r := x.come[i]
					start := time.Now()
					g, err := group.Join(w.Context(), cs[r])
					if took := time.Since(start); took > 1500*time.Millisecond {
						t.Errorf("rank %d: an error after %v", r, took)
					}
					var peer *group.PeerError
					switch {
					case g != nil || err == nil ||
						!strings.Contains(err.Error(), `look up driver "rocm"`):
						t.Errorf("rank %d: %v", r, err)
					case slices.Contains(x.bad, r):
						if errors.As(err, &peer) {
							t.Errorf("rank %d does not tell its own mistake: %v", r, err)
						}
					case !errors.As(err, &peer) || peer.Rank != x.bad[0] ||
						!errors.As(err, new(*store.DeclinedError)):
						t.Errorf("rank %d: %v, want rank %d's", r, err, x.bad[0])
					}
				})
			})
		})
	}
}

// TestToldOnce asks again and again why a group was aborted.
func TestToldOnce(t *testing.T) {
	inWorld(t, sim.Config{Devices: 2}, func(w *world) {
		groups := w.groups(0, 2)
		each(2, func(r int) {
			p := newToy(groups[r])
			defer p.close()
			if r == 1 {
				<-p.g.Done()
				return
			}
			first := p.run(w.Context())
			full := p.g.Err().Error()
			if !strings.Contains(first.Error(), full) ||
				!strings.Contains(full, "waited for rank 1 at plan 1 (toy)") {
				t.Errorf("the first error is %q, Err is %q", first, full)
			}
			for range 2 {
				_, gather := p.g.Gather(w.Context(), "meet", nil)
				_, stream := p.g.Stream("another", 0, driver.Low)
				for _, err := range []error{p.run(w.Context()), gather, stream, p.g.Alive(),
					p.g.Watch(w.Context(), p.main.Handle)} {
					var a *group.AbortError
					if !errors.As(err, &a) || !errors.Is(err, context.DeadlineExceeded) ||
						a.Error() != full {
						t.Errorf("%v is not the same abort", err)
					}
					if len(err.Error()) > 150 {
						t.Errorf("a second report: %v", err)
					}
				}
				if p.g.Err().Error() != full {
					t.Errorf("Err is %v now", p.g.Err())
				}
			}
		})
		w.leave(groups)
	})
}

// idle is a plan that does nothing.
type idle struct{ name string }

func (i *idle) Name() string        { return i.name }
func (i *idle) Steps() []group.Step { return nil }

// TestRegister makes more plans than ids in a group's life, and as many as there are at
// once.
func TestRegister(t *testing.T) {
	g := &group.Group{}
	kept, err := g.Register(&idle{"kept"})
	if err != nil || kept != 1 {
		t.Fatal(kept, err)
	}
	for n := range 2 * group.MaxPlans {
		id, err := g.Register(&idle{"another"})
		if want := 2 + n%(group.MaxPlans-1); err != nil || id != want {
			t.Fatalf("plan %d got id %d, %v; want %d", n, id, err, want)
		}
		g.Unregister(id)
	}
	for n := range group.MaxPlans - 1 {
		if _, err := g.Register(&idle{"open"}); err != nil {
			t.Fatalf("%d open plans: %v", n+2, err)
		}
	}
	if _, err := g.Register(&idle{"one more"}); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprint(group.MaxPlans, " plans of the group are open")) {
		t.Errorf("one more: %v", err)
	}
}
