package plan

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
)

type newCase struct {
	name string
	make func(w *world, r int) error
	want string
	is   func(r int, err error) bool
}

const oddRank = 1

var newCases = []newCase{
	{"other shapes", func(w *world, r int) error {
		shape := "m=4"
		if r == oddRank {
			shape = "m=8"
		}
		_, err := newToy(w.Context(), w.groups[r], toyProgram, shape)
		return err
	}, "the ranks disagree on the shape: ranks 0, 2 have m=4; rank 1 has m=8 " +
		"(call New with the same shape on all ranks)", disagrees},
	{"other programs", func(w *world, r int) error {
		p := *toyProgram
		if r == oddRank {
			p.Hash = "beef"
		}
		_, err := newToy(w.Context(), w.groups[r], &p, "small")
		return err
	}, "the ranks disagree on the program: ranks 0, 2 have toy c0ffee; rank 1 has toy beef (run the same binary",
		disagrees},
	{"PTX of another source on one rank", func(w *world, r int) error {
		p := *toyProgram
		if r == oddRank {
			p.Code = &driver.Code{Name: "ring", Source: "12ab",
				PTX: []byte("// source sha256 34cd\n//\n.version 8.4\n")}
		}
		_, err := newToy(w.Context(), w.groups[r], &p, "small")
		return err
	}, "load kernels of ring: the PTX of ring was compiled from another .cu " +
		"(generate the package again: ovgen gen)", func(r int, err error) bool {
		if r != oddRank {
			return errors.As(err, new(*RankError))
		}
		return errors.As(err, new(*driver.StaleError))
	}},
	{"other layouts", func(w *world, r int) error {
		if r == oddRank {
			if _, err := w.groups[r].Arena().Words(1); err != nil {
				return err
			}
		}
		_, err := newToy(w.Context(), w.groups[r], toyProgram, "small")
		return err
	}, "the ranks disagree on the layout", disagrees},
	{"unproven size", func(w *world, r int) error {
		p := *toyProgram
		p.Ranks = []int{2, 4}
		_, err := newToy(w.Context(), w.groups[r], &p, "small")
		return err
	}, "toy is proven for groups of 2, 4 ranks, not of 3 " +
		"(prove and emit it for them too: ovgen gen -ranks 2..4 PACKAGE)",
		func(_ int, err error) bool { return errors.As(err, new(*RanksError)) }},
	{"no proof", func(w *world, r int) error {
		p := *toyProgram
		p.Proof = "unproven"
		_, err := newToy(w.Context(), w.groups[r], &p, "small")
		return err
	}, "toy is not proven (emit it by ovgen gen PACKAGE, which proves it)",
		func(_ int, err error) bool { return errors.As(err, new(*UnprovenError)) }},
	{"proven for no size", func(w *world, r int) error {
		p := *toyProgram
		p.Ranks = nil
		_, err := newToy(w.Context(), w.groups[r], &p, "small")
		return err
	}, "toy is not proven", func(_ int, err error) bool { return errors.As(err, new(*UnprovenError)) }},
	{"too large", func(w *world, r int) error {
		b := Build(w.groups[r], toyProgram, "large")
		b.Allocate("gathered", 1<<20)
		_, err := b.Finish(w.Context(), func(*Queue) {})
		return err
	}, "are missing (set Config.Arena to at least",
		func(_ int, err error) bool { return errors.As(err, new(*group.ArenaError)) }},
	{"a call that can't be made", func(w *world, r int) error {
		b := Build(w.groups[r], toyProgram, "small")
		_, err := b.Finish(w.Context(), func(q *Queue) { q.Fail(errors.New("there is no such kernel")) })
		return err
	}, "number the steps of a run: there is no such kernel", func(int, error) bool { return true }},
	{"a mistake on one rank", func(w *world, r int) error {
		b := Build(w.groups[r], toyProgram, "small")
		if r == oddRank {
			b.Kernel("none")
			b.Caller("empty", 0)
		}
		_, err := b.Finish(w.Context(), func(*Queue) {})
		return err
	}, "kernel none: the program has no code\nbuffer empty has 0 bytes", func(r int, err error) bool {
		return r == oddRank || errors.As(err, new(*RankError))
	}},
	{"too many steps", func(w *world, r int) error {
		b := Build(w.groups[r], toyProgram, "small")
		s := b.Semaphore("s")
		_, err := b.Finish(w.Context(), func(q *Queue) {
			for range 1 << 16 {
				q.Post(q.Main(), s)
			}
		})
		return err
	}, "65536, and a step word holds 65535", nil},
}

// TestNewRefuses makes plans on which the ranks disagree, or that can't be; the
// group goes on, and the next plan works.
func TestNewRefuses(t *testing.T) {

	for _, x := range newCases {
		t.Run(x.name, x.run)
	}
}

func (x newCase) run(t *testing.T) {
	inWorld(t, 3, sim.Config{}, nil, func(w *world) {
		w.each(func(r int) {
			err := x.make(w, r)
			if err == nil || !strings.Contains(err.Error(), x.want) || x.is != nil && !x.is(r, err) {
				w.Errorf("rank %d: %v\nwant %s", r, err, x.want)
			}
		})
		if x.name == "other layouts" {
			w.groups[oddRank].Arena().FreeWords(firstWord)
		}
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			return errors.Join(t.fill(1), t.plan.Run(w.Context()), t.check(t.C, 1), t.close(w.Context()))
		})
	})
}

// One rank alone is a size of a group like others: New refuses it where it was not proven.
func TestNewRefusesOneRank(t *testing.T) {
	inWorld(t, 1, sim.Config{}, nil, func(w *world) {
		p := *toyProgram
		p.Ranks = []int{2, 4}
		_, err := newToy(w.Context(), w.groups[0], &p, "small")
		if refused := new(RanksError); !errors.As(err, &refused) ||
			!strings.Contains(err.Error(), "toy is proven for groups of 2, 4 ranks, not of 1 ") {
			t.Error(err)
		}
	})
}

// firstWord is where an arena's semaphores begin.
const firstWord = (1 + group.CountWords) * group.StepBytes

func disagrees(_ int, err error) bool { return errors.As(err, new(*DisagreementError)) }

func TestMisuse(t *testing.T) {
	inWorld(t, 2, sim.Config{}, nil, func(w *world) {
		w.each(func(r int) {
			t, err := newToy(w.Context(), w.groups[r], toyProgram, "small")
			if err != nil {
				w.Error(err)
				return
			}
			expect := func(what string, got, want error) {
				if !errors.Is(got, want) || !strings.Contains(got.Error(), what+" plan 1 (toy): ") {
					w.Errorf("rank %d: %v, want %s: %v", r, got, what, want)
				}
			}
			use := func(want error) {
				expect("enqueue", t.plan.Enqueue(0), want)
				expect("replay", t.plan.Replay(0), want)
				expect("run", t.plan.Run(w.Context()), want)
			}
			use(ErrNotBound)
			if err := errors.Join(t.allocate(), t.bind(w.Context())); err != nil {
				w.Error(err)
				return
			}
			t.plan.turn <- struct{}{} // as another goroutine in a call
			use(ErrBusy)
			expect("bind", t.bind(w.Context()), ErrBusy)
			ctx, cancel := context.WithTimeout(w.Context(), time.Millisecond)
			defer cancel()
			expect("close", t.plan.Close(ctx), ErrBusy)
			t.plan.leave()
			for range 2 {
				if err := t.close(w.Context()); err != nil {
					w.Errorf("rank %d: close: %v", r, err)
				}
			}
			use(ErrClosed)
			expect("bind", t.bind(w.Context()), ErrClosed)
		})
	})
}

// A plan that nobody uses is not busy, also where the context of its Close has ended.
func TestCloseEnded(t *testing.T) {
	for range 10 {
		inWorld(t, 1, sim.Config{}, nil, func(w *world) {
			t, err := newToy(w.Context(), w.groups[0], toyProgram, "small")
			if err != nil {
				w.Fatal(err)
			}
			ctx, cancel := context.WithCancel(w.Context())
			cancel()
			if err := t.plan.Close(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, ErrBusy) {
				w.Error(err)
			}
		})
	}
}

// TestTwoGoroutines runs one plan from two goroutines: one of them gets an error.
func TestTwoGoroutines(t *testing.T) {
	inWorld(t, 2, sim.Config{}, nil, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			first := make(chan error)
			go func() { first <- t.plan.Run(w.Context()) }()
			time.Sleep(time.Microsecond)
			if err := t.plan.Enqueue(0); !errors.Is(err, ErrBusy) {
				return errors.Join(errors.New("a second goroutine was let in"), err, <-first)
			}
			return <-first
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}

// TestReplayIntoCapture refuses a launch of the plan's graph into the caller's.
func TestReplayIntoCapture(t *testing.T) {
	inWorld(t, 2, sim.Config{}, nil, func(w *world) {
		toys := w.toys()
		w.all(toys, func(t *toy) error {
			s, err := device.NewStream(t.driver, driver.Normal)
			if err != nil {
				return err
			}
			defer s.Close()
			_, err = device.Capture(t.driver, s.Handle(), func() error { return t.plan.Replay(s.Handle()) })
			if err == nil ||
				!strings.Contains(err.Error(), "replay plan 1 (toy): the stream is being captured (use Enqueue)") {
				return fmt.Errorf("replay into a capture: %v", err)
			}
			return errors.Join(t.fill(2), t.plan.Run(w.Context()), t.check(t.C, 2))
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}

// TestCloseAlone closes a plan on one rank while the others bind theirs: all get
// an error, since the others still have that rank's memory.
func TestCloseAlone(t *testing.T) {
	inWorld(t, 3, sim.Config{}, nil, func(w *world) {
		toys := w.toys()
		w.each(func(r int) {
			var err error
			if r == 2 {
				err = toys[r].plan.Close(w.Context())
			} else {
				err = errors.Join(replace(&toys[r].A, toys[r].driver), toys[r].bind(w.Context()))
			}
			if err == nil || !strings.Contains(err.Error(), "the ranks do different things") {
				w.Errorf("rank %d: %v", r, err)
			}
		})
		w.each(func(r int) {
			<-w.groups[r].Done()
			if err := w.groups[r].Err(); err == nil || !strings.Contains(err.Error(), "rank 2: close plan 1 (toy)") {
				w.Errorf("rank %d: %v", r, err)
			}
		})
	})
}

// TestIssueFails lets one rank's driver refuse an operation of an eager run: the peers, who
// may wait for it, are released with an error that names the step.
func TestIssueFails(t *testing.T) {
	var to driver.Ptr
	inWorld(t, 2, sim.Config{}, func(d driver.Driver) driver.Driver { return &refusing{d, &to} }, func(w *world) {
		toys := w.toys()
		to = toys[1].gathered.At(0)
		w.each(func(r int) {
			err := toys[r].plan.Enqueue(toys[r].plan.main.own)
			if err == nil {
				<-w.groups[r].Done()
				err = w.groups[r].Err()
			}
			if err == nil || !strings.Contains(err.Error(), "step 6, Set on copy: refused") {
				w.Errorf("rank %d: %v", r, err)
			}
		})
	})
}

// refusing is a driver that refuses copies to an address.
type refusing struct {
	driver.Driver
	to *driver.Ptr
}

func (f *refusing) MemcpyDtoDAsync(dst, src driver.Ptr, bytes int64, s driver.Stream) error {
	if dst == *f.to {
		return errors.New("refused")
	}
	return f.Driver.MemcpyDtoDAsync(dst, src, bytes, s)
}

// TestUnmade uses a plan that no New has made, and New without a group: each is an error.
func TestUnmade(t *testing.T) {
	for _, p := range []*Plan{nil, {}} {
		for name, err := range map[string]error{"bind": p.Bind(t.Context()), "enqueue": p.Enqueue(0),
			"replay": p.Replay(0), "run": p.Run(t.Context())} {
			if want := name + " a plan: no New has made the plan"; !errors.Is(err, ErrUnmade) ||
				!strings.HasPrefix(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	_, err := Make(t.Context(), nil, toyProgram, Shape(nil), func(*Builder) *Plan { return nil })
	if err == nil || !strings.Contains(err.Error(), "toy: no group (group.Join makes one)") {
		t.Error(err)
	}
}

// TestCancelledBind: a Bind that needs no peer ends with its ctx as well.
func TestCancelledBind(t *testing.T) {
	inWorld(t, 3, sim.Config{}, nil, func(w *world) {
		toys := w.toys()
		ended, cancel := context.WithCancel(w.Context())
		cancel()
		w.all(toys, func(t *toy) error {
			old := t.C
			if err := replace(&t.C, t.driver); err != nil {
				return err
			}
			for _, what := range []string{"new memory", "the same"} {
				if err := t.bind(ended); !errors.Is(err, context.Canceled) {
					return fmt.Errorf("bind %s: %v", what, err)
				}
				if err := t.plan.Enqueue(0); !errors.Is(err, ErrNotBound) {
					return fmt.Errorf("enqueue behind it: %v", err)
				}
				if err := t.bind(w.Context()); err != nil {
					return err
				}
			}
			return errors.Join(t.fill(1), t.plan.Run(w.Context()), t.check(t.C, 1), old.Close())
		})
		w.all(toys, func(t *toy) error { return t.close(w.Context()) })
	})
}
