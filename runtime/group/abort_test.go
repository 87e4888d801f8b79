//go:build cgo

package group_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
)

var errReason = errors.New("a reason of my own")

type abortCase struct {
	name string
	rank func(w *world, p, other *toy) error // what each rank does
	dead int                                 // a rank that gets no error, -1 for none
	by   int
	is   error
	want string // in every error
}

var abortCases = []abortCase{
	{"cancelled", func(w *world, p, _ *toy) error {
		if p.g.Rank() == 1 {
			<-p.g.Done()
			return p.g.Err()
		}
		ctx, cancel := context.WithCancel(w.Context())
		if p.g.Rank() == 2 {
			time.AfterFunc(100*time.Millisecond, cancel)
		}
		defer cancel()
		return p.runs(ctx)
	}, -1, 2, context.Canceled, "run plan 1 (toy): context canceled; "},
	{"deadline", func(w *world, p, _ *toy) error {
		if p.g.Rank() == 1 {
			<-p.g.Done()
			return p.g.Err()
		}
		ctx, cancel := context.WithTimeout(w.Context(), time.Duration(1+p.g.Rank())*time.Second)
		defer cancel()
		return p.runs(ctx)
	}, -1, 0, context.DeadlineExceeded,
		"rank 2 waited for rank 1 at plan 1 (toy), step 2 on copy: Wait ready[1]"},
	{"eager timeout", func(w *world, p, _ *toy) error {
		if p.g.Rank() != 1 {
			if _, err := p.enqueue(nil, p.main.Handle); err != nil {
				return err
			}
		}
		<-p.g.Done()
		return p.g.Err()
	}, -1, -1, context.DeadlineExceeded, "it did not drain within 3s"},
	{"asked for", func(w *world, p, _ *toy) error {
		if p.g.Rank() == 1 {
			time.Sleep(50 * time.Millisecond)
			p.g.Abort(errReason)
		}
		return p.runs(w.Context())
	}, -1, 1, nil, "rank 1 aborted the group: a reason of my own"},
	{"a peer is gone", func(w *world, p, _ *toy) error {
		if p.g.Rank() == 2 {
			time.Sleep(50 * time.Millisecond)
			kill(p.g)
			return nil
		}
		return p.runs(w.Context())
	}, 2, -1, group.ErrPeerGone, "rank 2 is gone"},
	{"rank 0 is gone", func(w *world, p, _ *toy) error {
		if p.g.Rank() == 0 {
			time.Sleep(50 * time.Millisecond)
			kill(p.g)
			return nil
		}
		return p.runs(w.Context())
	}, 0, -1, group.ErrPeerGone, "rank 0 is gone"},
	{"different sequences", func(w *world, p, other *toy) error {
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		for range 3 {
			if err := p.run(ctx); err != nil {
				return err
			}
		}
		if p.g.Rank() == 3 {
			p = other
		}
		return p.runs(ctx)
	}, -1, -1, context.DeadlineExceeded,
		"run 4 of the group was plan 1 (toy) on ranks 0, 1, 2; plan 2 (toy) on rank 3"},
	{"different sequences without a deadline", func(w *world, p, other *toy) error {
		if p.g.Rank() == 3 {
			p = other
		}
		return p.runs(context.Background())
	}, -1, -1, context.DeadlineExceeded,
		"run 1 of the group was plan 1 (toy) on ranks 0, 1, 2; plan 2 (toy) on rank 3"},
}

// TestAbort hangs a group of four in each way that an abort must end.
func TestAbort(t *testing.T) {
	for _, x := range abortCases {
		t.Run(x.name, x.run)
	}
}

func (x abortCase) run(t *testing.T) {
	inWorld(t, sim.Config{Devices: 4, Seed: 1, NoRaces: true}, func(w *world) {
		if w.local && x.dead >= 0 {
			return // with one process all ranks die
		}
		groups := w.groups(0, 4)
		each(4, func(r int) {
			g := groups[r]
			p, other := newToy(g), newToy(g)
			if r != x.dead {
				defer p.close()
				defer other.close()
			}
			start := time.Now()
			err := x.rank(w, p, other)
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("rank %d: an error after %v", r, took)
			}
			if r == x.dead {
				return
			}
			var a *group.AbortError
			switch {
			case !errors.As(err, &a) || a.Rank != r:
				t.Errorf("rank %d: %v", r, err)
			case x.by >= 0 && a.By != x.by:
				t.Errorf("rank %d: aborted by %d, want %d", r, a.By, x.by)
			case x.is != nil && !errors.Is(err, x.is):
				t.Errorf("rank %d: %v is not %v", r, err, x.is)
			case !strings.Contains(err.Error(), x.want):
				t.Errorf("rank %d: %v\nwant %q", r, err, x.want)
			}
			if x.name == "asked for" && errors.Is(err, errReason) != (r == x.by) {
				t.Errorf("rank %d: %v is not the reason given", r, err)
			}
		})
		if x.dead >= 0 {
			groups = slices.Delete(groups, x.dead, x.dead+1)
		}
		w.leave(groups)
		again := w.groups(0, 3) // a new group, of the survivors
		each(3, func(r int) {
			p := newToy(again[r])
			defer p.close()
			if err := p.run(w.Context()); err != nil {
				t.Errorf("after a new join: %v", err)
			}
		})
		w.leave(again)
	})
}

// TestAbortNamesNoWaitWithItsPosts holds one rank's copy stream ahead of a wait whose post is there: the rank waits
// for no peer, and its peer waits for it.
func TestAbortNamesNoWaitWithItsPosts(t *testing.T) {
	inWorld(t, sim.Config{Devices: 2, Seed: 1}, func(w *world) {
		groups := w.groups(0, 2)
		each(2, func(r int) {
			p := newToy(groups[r])
			defer p.close()
			hold, err := groups[r].Arena().Words(1)
			if r == 1 {
				p.hold = hold
			}
			err = errors.Join(err, p.run(w.Context()))
			var a *group.AbortError
			if !errors.As(err, &a) || len(a.Waits) != 2 {
				t.Fatalf("rank %d: %v", r, err)
			}
			for _, want := range []string{
				"rank 0 waited for rank 1 at plan 1 (toy), step 4 on copy: Wait ack[1]",
				"rank 1 was at plan 1 (toy), before step 2 on copy: Wait ready[0], whose posts are there",
			} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %v", want, err)
				}
			}
			if x := a.Waits[1]; x.Rank != 1 || x.Peer != 1 || !x.Posted || !x.Sure || a.Waits[0].Posted {
				t.Errorf("%+v", a.Waits)
			}
		})
		w.leave(groups)
	})
}

// TestAbortAnywhere aborts at a random moment of a busy group. Every rank gets an
// error soon, or has finished everything.
func TestAbortAnywhere(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		inBubble(t, sim.Config{Devices: 3, Seed: seed, NoRaces: true}, seed%2 == 0, func(w *world) {
			random := rand.New(rand.NewPCG(seed, 1))
			groups := w.groups(0, 3)
			victim, after := random.IntN(3), time.Duration(random.IntN(400))*time.Microsecond
			kill := random.IntN(2) == 0
			each(3, func(r int) {
				g := groups[r]
				p := newToy(g)
				defer p.close()
				if r == victim {
					defer time.AfterFunc(after, func() {
						if kill {
							g.Disconnect()
						} else {
							g.Abort(errReason)
						}
					}).Stop()
				}
				var err error
				start := time.Now()
				for err == nil && time.Since(start) < 5*time.Second {
					err = p.run(w.Context())
				}
				var a *group.AbortError
				if !errors.As(err, &a) {
					t.Errorf("seed %d, rank %d: %v", seed, r, err)
				}
			})
			w.leave(groups)
		})
	}
}

// TestAbortReleasesTheHost queues so many runs after a blocked wait that the
// enqueueing goroutine itself is blocked in the driver.
func TestAbortReleasesTheHost(t *testing.T) {
	inWorld(t, sim.Config{Devices: 2, NoRaces: true}, func(w *world) {
		groups := w.groups(0, 2)
		each(2, func(r int) {
			p := newToy(groups[r])
			defer p.close()
			if r == 1 {
				time.Sleep(time.Second)
				groups[1].Abort(errReason)
				<-groups[1].Done()
				return
			}
			var err error
			n := 0
			for ; n < 2000 && err == nil; n++ {
				_, err = p.enqueue(nil, p.main.Handle)
			}
			if n < 100 || n == 2000 {
				t.Errorf("%d runs were queued", n)
			}
			var a *group.AbortError
			if !errors.As(err, &a) {
				t.Errorf("run %d: %v", n, err)
			}
		})
		w.leave(groups)
	})
}

// TestAbortReleasesKept keeps memory for three plans, gives back the second's and takes it again. Streams that wait in
// the memory of the first and the third, at its first word and its last, go on once a peer has aborted.
func TestAbortReleasesKept(t *testing.T) {
	inWorld(t, sim.Config{Devices: 2, NoRaces: true}, func(w *world) {
		const bytes = 4096
		groups := w.groups(0, 2)
		each(2, func(r int) {
			g := groups[r]
			var at [3]int64
			for i := range at {
				var err error
				if at[i], err = g.Arena().Keep(bytes); err != nil {
					t.Error(err)
				}
			}
			g.Arena().FreeKept(at[1])
			if again, err := g.Arena().Keep(bytes); again != at[1] || err != nil {
				t.Errorf("kept at %d of %v again: %v", again, at, err)
			}
			if r == 1 {
				g.Abort(errReason)
			}
			<-g.Done()
			for _, word := range []int64{at[0], at[0] + bytes - 4, at[2], at[2] + bytes - 4} {
				s, err := g.Driver().StreamCreateWithPriority(driver.Normal)
				if err != nil {
					t.Error(err)
				}
				here := g.Arena().Base(r) + driver.Ptr(word)
				err = errors.Join(g.Driver().MemcpyHtoD(here, make([]byte, 4)),
					g.Driver().StreamBatchMemOp(s, []driver.MemOp{{Kind: driver.WaitEqual, Value: 1, Address: here}}))
				time.Sleep(time.Second)
				done, err2 := g.Driver().StreamQuery(s)
				if err := errors.Join(err, err2); !done || err != nil {
					t.Errorf("rank %d: the stream that waits at %d of %v has ended: %t, %v", r, word, at, done, err)
				}
				err = errors.Join(g.Driver().MemcpyHtoD(here, []byte{1, 0, 0, 0}), g.Driver().StreamDestroy(s))
				if err != nil {
					t.Error(err)
				}
			}
		})
		w.leave(groups)
	})
}

// TestAllAbortAtOnce gives each rank a reason: one of them wins everywhere.
func TestAllAbortAtOnce(t *testing.T) {
	inWorld(t, sim.Config{Devices: 4, NoRaces: true}, func(w *world) {
		groups := w.groups(0, 4)
		var errs [4]*group.AbortError
		each(4, func(r int) {
			groups[r].Abort(fmt.Errorf("reason of rank %d", r))
			groups[r].Abort(errReason) // too late
			<-groups[r].Done()
			if !errors.As(groups[r].Err(), &errs[r]) {
				t.Fatalf("rank %d: %v", r, groups[r].Err())
			}
		})
		for r, e := range errs {
			if want := fmt.Sprint("reason of rank ", e.By); e.By != errs[0].By || e.Cause.Error() != want ||
				e.Rank != r {
				t.Errorf("rank %d: by %d, %v; rank 0: by %d", r, e.By, e.Cause, errs[0].By)
			}
		}
		w.leave(groups)
	})
}

// TestPeersRelease aborts a group in which one rank's own release does nothing.
func TestPeersRelease(t *testing.T) {
	inWorld(t, sim.Config{Devices: 3, NoRaces: true}, func(w *world) {
		mute := &atomic.Bool{}
		w.wrap = func(rank int, d driver.Driver) driver.Driver {
			if rank == 1 {
				return &muted{d, mute}
			}
			return d
		}
		groups := w.groups(0, 3)
		each(3, func(r int) {
			p := newToy(groups[r])
			defer p.close()
			if r == 1 {
				mute.Store(true)
			}
			if r == 2 {
				time.Sleep(time.Second)
				groups[2].Abort(errReason)
			}
			var a *group.AbortError
			if err := p.runs(w.Context()); !errors.As(err, &a) {
				t.Errorf("rank %d: %v", r, err)
			}
		})
		w.leave(groups)
	})
}

// muted drops memsets while it is set.
type muted struct {
	driver.Driver
	on *atomic.Bool
}

func (m *muted) MemsetD32Async(p driver.Ptr, v uint32, n int64, s driver.Stream) error {
	if m.on.Load() {
		return nil
	}
	return m.Driver.MemsetD32Async(p, v, n, s)
}

// TestAbortLeavesACaptureWhole aborts while a graph is being captured.
func TestAbortLeavesACaptureWhole(t *testing.T) {
	inWorld(t, sim.Config{Devices: 2, NoRaces: true}, func(w *world) {
		groups := w.groups(0, 2)
		each(2, func(r int) {
			g := groups[r]
			d := g.Driver()
			p := newToy(g)
			defer p.close()
			s, err := d.StreamCreateWithPriority(driver.Normal)
			if err != nil {
				t.Error(err)
			}
			if r == 0 {
				_, err = p.enqueue(nil, p.main.Handle)
			}
			err = errors.Join(err, d.StreamBeginCapture(s))
			if r == 1 {
				time.Sleep(time.Millisecond)
				g.Abort(errReason)
			}
			<-g.Done()
			err = errors.Join(err,
				d.MemsetD32Async(g.Arena().Base(r)+driver.Ptr(group.StagingOf(g.Arena().Bytes())), 7, 1,
					s))
			graph, ended := d.StreamEndCapture(s)
			exec, made := d.GraphInstantiate(graph)
			if err := errors.Join(err, ended, made, d.GraphLaunch(exec, s),
				d.StreamSynchronize(s)); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
			word := make([]byte, 4)
			err = d.MemcpyDtoH(word, g.Arena().Base(r)+driver.Ptr(group.StagingOf(g.Arena().Bytes())))
			if err != nil || word[0] != 7 {
				t.Errorf("rank %d: the graph wrote %v, %v", r, word, err)
			}
			if err := errors.Join(d.GraphExecDestroy(exec), d.GraphDestroy(graph),
				d.StreamDestroy(s)); err != nil {
				t.Error(err)
			}
		})
		w.leave(groups)
	})
}

func TestErrorText(t *testing.T) {
	e := &group.AbortError{Rank: 0, By: 2, Cause: context.Canceled, Order: "runs begun: 2 on rank 0, 1 on rank 1",
		Waits: []group.Wait{
			{Rank: 0, Peer: 1, Text: "plan 3 (x), step 5 on copy: Wait ready[1]", Sure: true},
			{Rank: 1, Peer: 2, Text: "plan 3 (x), step 4 on copy: Wait ready[2]"}}}
	const want = "rank 2 aborted the group: context canceled; rank 0 waited for rank 1 at plan 3 (x), step 5 on " +
		"copy: Wait ready[1]; " +
		"rank 1 probably waited for rank 2 at plan 3 (x), step 4 on copy: Wait ready[2]; runs begun: 2 " +
		"on rank 0, 1 on rank 1"
	if got := fmt.Sprint(e); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
