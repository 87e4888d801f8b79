package group

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"ovgen/runtime/group/store"
)

// How often the watch looks at the page and at the runs in flight.
const (
	watchBusy = 5 * time.Millisecond
	watchIdle = 20 * time.Millisecond
)

// watch is the goroutine that turns a cancelled or late run, a dead peer and
// another rank's abort into this rank's abort.
type watch struct {
	wake chan struct{} // holds one
	stop chan struct{} // closed by Close
	wg   sync.WaitGroup
}

// poke makes the watch look now.
func (w *watch) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// observe runs until the group is aborted or the watch is stopped.
func (g *Group) observe() {
	timer := time.NewTimer(watchIdle)
	defer timer.Stop()
	gone := g.client.Gone()
	for {
		cancelled, busy := g.runs.cancelled()
		if busy {
			timer.Reset(watchBusy)
		} else {
			timer.Reset(watchIdle)
		}
		select {
		case <-timer.C:
		case <-g.watch.wake:
		case <-cancelled:
		case m := <-g.told():
			g.hear(m)
		case <-gone:
			gone = nil
			if !g.leaving.Load() { // a peer may leave after Close's meeting; an earlier end fails the meeting
				g.Abort(g.client.Err())
			}
		case <-g.watch.stop:
			return
		}
		if !g.page.aborted() {
			g.inspect()
		}
		if g.page.aborted() {
			g.perform()
			return
		}
	}
}

// inspect drops the runs that have drained and aborts for the first one whose context has ended or whose time is up.
func (g *Group) inspect() {
	for {
		f, ok := g.runs.front()
		if !ok {
			return
		}
		done, err := g.drv.EventQuery(f.event)
		if err != nil {
			g.Abort(fmt.Errorf("watch %s: %w", g.planName(f.plan), err))
			return
		}
		if !done {
			break
		}
		g.runs.drained(f.seq)
	}
	f, ok := g.runs.expired(time.Now())
	if !ok {
		return
	}
	if done, err := g.drv.EventQuery(f.event); err == nil && done {
		return // it drained just in time; it leaves the ring when it is the oldest
	}
	g.Abort(g.lateness(f))
}

// lateness is the reason why a run is given up.
func (g *Group) lateness(f flight) error {
	what := "run " + g.planName(f.plan)
	if f.ctx != nil && f.ctx.Err() != nil {
		return runCause(f.ctx, what)
	}
	return g.tooLong(what)
}

// tooLong is the cause of the abort of a run whose context has no deadline.
func (g *Group) tooLong(what string) error {
	return fmt.Errorf("%s: it did not drain within %v (Config.RunTimeout): %w", what, g.config.RunTimeout,
		context.DeadlineExceeded)
}

// runCause is the error of the ended context of a run or of a watch.
func runCause(ctx context.Context, what string) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if !errors.Is(cause, err) {
		return fmt.Errorf("%s: %w: %w", what, err, cause)
	}
	return fmt.Errorf("%s: %w", what, cause)
}

// gone reports whether a rank's connection or process is known to have ended.
func (g *Group) gone(rank int) bool {
	var e *store.GoneError
	if errors.As(g.client.Err(), &e) && e.Rank == rank {
		return true
	}
	return rank < len(g.pids) && g.beside(rank) && errors.Is(unix.Kill(g.pids[rank], 0), unix.ESRCH)
}
