package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
)

// within bounds how long any abort may take to be learnt.
const within = 5 * time.Second

// aborted returns err unless it is the typed error of an abort.
func aborted(err error) error {
	var a *group.AbortError
	if errors.As(err, &a) {
		return nil
	}
	return fmt.Errorf("not an abort: %w", err)
}

var errReason = errors.New("a reason of my own")

// hang is a way to end runs in which rank 1 does not take part.
type hang struct {
	run  func(e *env, l *layer) error // on the ranks that run
	away func(e *env, l *layer) error // on rank 1
	want string                       // in every error
	dies bool                         // rank 1
	// limit of a run, where less than timeout is enough: kernels that wait in the simulator spin
	limit time.Duration
}

func waitDone(e *env, l *layer) error {
	<-l.g.Done()
	return l.g.Err()
}

func killed(e *env, l *layer) error {
	time.Sleep(10 * time.Millisecond)
	e.kill()
	<-l.g.Done()
	return nil
}

func runOnce(e *env, l *layer) error { return l.Run(e) }

var hangs = map[string]hang{
	"cancelled": {run: func(e *env, l *layer) error {
		ctx, cancel := context.WithCancel(e)
		defer cancel()
		if e.rank == 0 {
			time.AfterFunc(20*time.Millisecond, cancel)
		}
		return l.Run(ctx)
	}, away: waitDone, want: "context canceled"},
	"deadline": {run: func(e *env, l *layer) error {
		ctx, cancel := context.WithTimeout(e, 50*time.Millisecond)
		defer cancel()
		return l.Run(ctx)
	}, away: waitDone, want: "Wait ready[1]"},
	"eager timeout": {run: func(e *env, l *layer) error {
		s, err := device.NewStream(l.d, driver.Normal)
		if err != nil {
			return err
		}
		if err := l.Enqueue(s.Handle()); err != nil {
			return err
		}
		<-l.g.Done()
		return errors.Join(l.g.Err(), s.Synchronize(), s.Close())
	}, away: waitDone, want: "did not drain"},
	"no deadline": {run: func(e *env, l *layer) error { return l.Run(context.Background()) }, away: waitDone,
		want: "did not drain"},
	"watched graph": {run: watchGraph, away: waitDone, want: "Config.RunTimeout", limit: 300 * time.Millisecond},
	"asked for": {run: runOnce, away: func(e *env, l *layer) error {
		time.Sleep(10 * time.Millisecond)
		l.g.Abort(errReason)
		return waitDone(e, l)
	}, want: errReason.Error()},
	"killed":                   {run: runOnce, away: killed, want: "rank 1 is gone", dies: true},
	"killed in a graph":        {run: watchGraph, away: killed, want: "rank 1 is gone", dies: true},
	"killed as it hands files": {run: bindMapped, away: bindMapped, want: "rank 1 is gone", dies: true},
	"left": {run: runOnce, away: func(e *env, l *layer) error {
		return errors.Join(l.Close(e), l.g.Err()) // a Close that the peers don't join
	}, want: "close"},
}

// watchGraph launches a graph of the caller's that holds two runs, and watches it.
func watchGraph(e *env, l *layer) error {
	s, err := device.NewStream(l.d, driver.Normal)
	if err != nil {
		return err
	}
	graph, err := device.Capture(l.d, s.Handle(), func() error {
		return errors.Join(l.Enqueue(s.Handle()), l.Enqueue(s.Handle()))
	})
	if err != nil {
		return errors.Join(err, s.Close())
	}
	err = graph.Launch(s.Handle())
	if err == nil {
		err = l.g.Watch(context.Background(), s.Handle())
	}
	return errors.Join(err, s.Synchronize(), graph.Close(), s.Close())
}

// hanging makes a scenario of each hang: every rank gets a typed error in time that says
// why; memory stays usable, and the ranks that live join again.
func hanging(name string) func(e *env) error {
	h := hangs[name]
	return func(e *env) error {
		e.config.RunTimeout = h.limit
		err := e.with("", func(g *group.Group, l *layer) error {
			if err := l.right(e, l.a.Ptr(), 1); err != nil {
				return err
			}
			err := made(e, g) // or the end already, of a rank that has come further
			began, do := time.Now(), h.run
			if e.rank == 1 {
				do = h.away
			}
			if err == nil {
				err = do(e, l)
			}
			if e.dead.Load() {
				return nil
			}
			if took := time.Since(began); took > within {
				return fmt.Errorf("an error after %v: %w", took, err)
			}
			if failed := aborted(err); failed != nil {
				return failed
			}
			// a rank killed in the simulator still says something
			if !strings.Contains(err.Error(), h.want) && !(h.dies && e.seeded) {
				return fmt.Errorf("the error does not say %q: %w", h.want, err)
			}
			if awaits := e.awaits(); name == "watched graph" && !strings.Contains(err.Error(), awaits) {
				return fmt.Errorf("the error does not say %q: %w", awaits, err)
			}
			if err := l.Run(e); aborted(err) != nil {
				return fmt.Errorf("run in a dead group: %w", err)
			}
			return usable(l)
		})
		if err != nil || e.dead.Load() {
			return err
		}
		return e.again(1, h.dies)
	}
}

// awaited is the post of rank 1 that a kernel of each program awaits first, of those whose words say which is missing.
var awaited = map[*program]string{tiles: "ready[1]", scatter: "free[1]", packets: "arrived[1]"}

// awaits is what an error says of it: beside others that are there, or alone.
func (e *env) awaits() string {
	if post := awaited[e.of]; post != "" && e.size > 2 {
		return ", for " + post
	}
	return awaited[e.of]
}

// usable writes and reads the caller's memory after an abort.
func usable(l *layer) error {
	if err := l.d.CtxSynchronize(); err != nil {
		return fmt.Errorf("the context after an abort: %w", err)
	}
	if err := l.put(l.a.Ptr(), 9); err != nil {
		return fmt.Errorf("the caller's memory after an abort: %w", err)
	}
	return nil
}

// again joins a new group, without a rank that died, and runs.
func (e *env) again(victim int, dead bool) error {
	ranks := e.all()
	if dead {
		ranks = append(ranks[:victim], ranks[victim+1:]...)
	}
	g, err := e.joinSome("again", ranks)
	if err != nil {
		return err
	}
	l, err := newLayer(e, e.of, g, e.of.shape(len(ranks)))
	if err == nil {
		err = errors.Join(l.right(e, l.a.Ptr(), 3), l.free(e))
	}
	return errors.Join(err, g.Close(e))
}

// otherOrder lets rank 0 run another plan than the others.
func otherOrder(e *env) error {
	return e.with("", func(g *group.Group, l *layer) (err error) {
		other, err := newLayer(e, e.of, g, e.of.shape(g.Size()))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, other.free(e)) }()
		if err := errors.Join(l.right(e, l.a.Ptr(), 1), other.right(e, other.a.Ptr(), 2)); err != nil {
			return err
		}
		mine := l
		if e.rank == 0 {
			mine = other
		}
		ctx, cancel := context.WithTimeout(e, 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		err = mine.Run(ctx)
		if took := time.Since(began); took > within {
			return fmt.Errorf("an error after %v: %w", took, err)
		}
		if failed := aborted(err); failed != nil {
			return failed
		}
		for _, part := range []string{"plan 1 (allgatherlinear)", "plan 2 (allgatherlinear)", "rank 0"} {
			if !strings.Contains(err.Error(), part) {
				return fmt.Errorf("the error does not name %q: %w", part, err)
			}
		}
		return nil
	})
}

// manyWaiting queues 2000 runs after a wait that nothing will end but an abort:
// more than a stream holds, so the enqueueing goroutine itself is blocked.
func manyWaiting(e *env) error {
	err := e.with("", func(g *group.Group, l *layer) error {
		if e.rank == 1 {
			time.Sleep(500 * time.Millisecond)
			g.Abort(errReason)
			return aborted(waitDone(e, l))
		}
		s, err := device.NewStream(l.d, driver.Normal)
		if err != nil {
			return err
		}
		n := 0
		for ; n < 2000 && err == nil; n++ {
			err = l.Enqueue(s.Handle())
		}
		if err == nil {
			<-g.Done()
			err = g.Err()
		}
		began := time.Now()
		if failed := errors.Join(aborted(err), s.Synchronize(), usable(l), s.Close()); failed != nil {
			return fmt.Errorf("%d runs queued: %w", n, failed)
		}
		if took := time.Since(began); took > within {
			return fmt.Errorf("%d queued runs drained after %v", n, took)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.again(1, false)
}

// captureThroughAbort captures a graph of the caller while the group is aborted:
// the graph stays whole.
func captureThroughAbort(e *env) error {
	return e.with("", func(g *group.Group, l *layer) (err error) {
		if e.rank == 1 {
			time.Sleep(20 * time.Millisecond)
			g.Abort(errReason)
			return aborted(waitDone(e, l))
		}
		mine, err := device.Alloc(l.d, 64)
		if err != nil {
			return err
		}
		s, err := device.NewStream(l.d, driver.Normal)
		if err != nil {
			return err
		}
		running := make(chan error, 1)
		go func() { running <- l.Run(e) }()
		graph, err := device.Capture(l.d, s.Handle(), func() error {
			first := l.d.MemsetD32Async(mine.Ptr(), 7, 8, s.Handle())
			<-g.Done()
			time.Sleep(20 * time.Millisecond) // the release goes on meanwhile
			return errors.Join(first, l.d.MemsetD32Async(mine.Ptr()+32, 8, 8, s.Handle()))
		})
		if failed := aborted(<-running); failed != nil || err != nil {
			return errors.Join(failed, err)
		}
		got := make([]byte, 64)
		if err := errors.Join(graph.Launch(s.Handle()), s.Synchronize(),
			l.d.MemcpyDtoH(got, mine.Ptr())); err != nil {
			return err
		}
		if got[0] != 7 || got[28] != 7 || got[32] != 8 || got[60] != 8 {
			return fmt.Errorf("the captured graph wrote %v", got)
		}
		return errors.Join(graph.Close(), s.Close(), mine.Close())
	})
}

// end kills the victim, or lets it abort the group, after so long; the function that it returns calls that off.
func (e *env) end(g *group.Group, victim int, after time.Duration, kills bool) (stop func()) {
	if e.rank != victim {
		return func() {}
	}
	timer := time.AfterFunc(after, func() {
		if kills {
			e.kill()
		} else {
			g.Abort(errReason)
		}
	})
	return func() { timer.Stop() }
}

// anywhere aborts, or kills a rank, at a random moment of a busy group: a run
// that reports success has the right bits, and everyone learns of the end.
func anywhere(e *env) error {
	_, err := e.busyUntil(e.random.IntN(2) == 0 && !e.config.Local)
	return err
}

// abortedRunning and killedRunning are anywhere with one end, after which the ranks that live join again and run.
func abortedRunning(e *env) error { return e.busyAgain(false) }
func killedRunning(e *env) error  { return e.busyAgain(true) }

func (e *env) busyAgain(kills bool) error {
	victim, err := e.busyUntil(kills)
	if err != nil {
		return err
	}
	return e.again(victim, kills)
}

// busyUntil runs until a victim aborts or is killed.
func (e *env) busyUntil(kills bool) (victim int, err error) {
	victim = e.random.IntN(e.size)
	after := time.Duration(e.random.IntN(2000)) * time.Microsecond
	return victim, e.with("", func(g *group.Group, l *layer) error {
		if err := made(e, g); err != nil {
			return aborted(err) // by a victim that has come further
		}
		defer e.end(g, victim, after, kills)()
		began := time.Now()
		for i := 0; ; i++ {
			err := l.turn(e, i)
			if err == nil {
				err = l.right(e, l.a.Ptr(), i)
			}
			switch {
			case e.dead.Load():
				<-g.Done()
				return nil
			case err != nil:
				return aborted(err)
			case time.Since(began) > within:
				return errors.New("runs go on after the end of the group")
			}
		}
	})
}
