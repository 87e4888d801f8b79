package group

import (
	"context"
	"fmt"
	"sync"
	"time"

	"ovgen/runtime/driver"
)

// Run is one run of a plan between Begin and Wait: a small value.
type Run struct {
	plan      int
	seq       uint64
	main      driver.Stream
	capturing bool
	ctx       context.Context
	deadline  time.Time
	event     driver.Event
}

// flights is how many runs the watch follows one by one; when more are in
// flight, the youngest share an event and a deadline.
const flights = 64

// flight is one run, or the youngest few, that may not have drained.
type flight struct {
	plan     int
	seq      uint64 // the last run it stands for
	event    driver.Event
	ctx      context.Context // may be nil
	deadline time.Time       // may be zero
}

type runs struct {
	issue  chan struct{} // held from Begin to End
	order  driver.Event  // the last run's end as captured graphs see it
	mu     sync.Mutex
	shared bool         // a caller's graph holds order: all runs wait for and record it
	last   driver.Event // of the youngest run issued by the host
	seq    uint64
	events [flights]driver.Event
	ring   [flights]flight
	head   int
	n      int
}

// Begin opens a run of a registered plan whose operations will be enqueued on
// main and streams forked from it. It makes main wait for the group's last run,
// so that plans run in one sequence on whatever streams they are enqueued, and
// holds that sequence until End, which must follow. ctx bounds the run: when it
// ends before the run has drained, the group is aborted. A nil ctx means
// Config.Timeout from now.
//
// While the caller captures main into a graph, only the waiting and recording
// nodes are made: the host does not see the replays.
//
// A plan that replays its own graph calls Begin, GraphLaunch, End and Wait; that
// graph holds nothing of Begin and End.
func (g *Group) Begin(ctx context.Context, plan int, main driver.Stream) (Run, error) {
	r := Run{plan: plan, main: main, ctx: ctx}
	if ctx == nil {
		r.deadline = time.Now().Add(g.config.Timeout)
	} else if ctx.Err() != nil {
		g.abortWith(runCause(ctx, plan, g))
	}
	if err := g.alive(); err != nil {
		return r, err
	}
	select {
	case g.runs.issue <- struct{}{}:
	case <-g.done:
		return r, g.alive()
	}
	if err := g.open(&r); err != nil {
		<-g.runs.issue
		return r, fmt.Errorf("begin a run of %s: %w", g.planName(plan), err)
	}
	return r, nil
}

// End closes the run that Begin opened: it records the group's last event and
// hands the run to the watch. Call it also when issuing failed, and then Abort,
// since the peers may wait for what was not enqueued.
func (g *Group) End(r *Run) error {
	defer func() { <-g.runs.issue }()
	if err := g.shut(r); err != nil {
		return fmt.Errorf("end a run of %s: %w", g.planName(r.plan), err)
	}
	return nil
}

// Wait returns when the run has drained: nil only if the abort word is 0 then,
// else an *AbortError.
func (g *Group) Wait(r *Run) error {
	if r.capturing {
		return fmt.Errorf("wait for %s: its run is being captured", g.planName(r.plan))
	}
	if err := g.drv.EventSynchronize(r.event); err != nil {
		g.Abort(fmt.Errorf("wait for %s: %w", g.planName(r.plan), err))
	} else {
		g.runs.drained(r.seq)
	}
	return g.Err()
}
