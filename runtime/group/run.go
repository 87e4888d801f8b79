package group

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ovgen/runtime/driver"
)

// Run is one run of a plan between Begin and Wait: a small value.
type Run struct {
	main      driver.Stream
	capturing bool
	empty     bool // the run of Drain
	flight
}

// Capturing reports whether the run went into a graph of the caller.
func (r *Run) Capturing() bool { return r.capturing }

// Begin opens a run of a registered plan whose operations will be enqueued on main and on streams forked from it. It
// makes main wait for the group's last run, so that all plans run in one sequence, whichever streams their runs are
// enqueued on. It holds that sequence until End, which must follow. ctx bounds the run: the group is aborted when ctx
// ends before the run has drained, or has ended before Begin, since the peers can't be left waiting. Where ctx is nil
// or has no deadline, the group is aborted if the run has not drained within Config.RunTimeout.
//
// While the caller captures main into a graph, Begin and End make only the nodes that wait and record, one of each for
// all runs of a capture: the host does not see the replays.
//
// A plan that replays its own graph calls Begin, GraphLaunch, End and Wait; that graph holds no node of Begin or End.
func (g *Group) Begin(ctx context.Context, plan int, main driver.Stream) (Run, error) {
	return g.begin(ctx, Run{main: main, flight: flight{plan: plan, ctx: ctx}})
}

// Drain returns when all runs of the group have drained on this rank. It is an empty run of a plan on main, which does
// not appear in the group's history.
func (g *Group) Drain(ctx context.Context, plan int, main driver.Stream) error {
	r, err := g.begin(ctx, Run{main: main, empty: true, flight: flight{plan: plan, ctx: ctx}})
	if err == nil {
		err = g.End(&r)
	}
	if err == nil {
		err = g.Wait(&r)
	}
	return err
}

func (g *Group) begin(ctx context.Context, r Run) (Run, error) {
	plan := r.plan
	bounded := false
	if ctx != nil {
		if _, bounded = ctx.Deadline(); ctx.Err() != nil {
			g.Abort(runCause(ctx, "run "+g.planName(plan)))
		}
	}
	if !bounded {
		r.deadline = time.Now().Add(g.config.RunTimeout)
	}
	if err := g.Alive(); err != nil {
		return r, err
	}
	select {
	case g.runs.issue <- struct{}{}:
	case <-g.done:
		return r, g.Alive()
	}
	err := g.open(&r)
	if err == nil && g.config.Check && !r.capturing && !r.empty {
		err = checker(ctx, g, g.plan(plan), r.main)
	}
	if err != nil {
		<-g.runs.issue
		return r, fmt.Errorf("begin a run of %s: %w", g.planName(plan), err)
	}
	return r, nil
}

// End closes the run that Begin opened: it records the group's last event and hands the run to the watch. After a
// failure to issue the run, call End and then Abort, since the peers may wait for work that was not enqueued.
func (g *Group) End(r *Run) error {
	defer func() { <-g.runs.issue }()
	if err := g.shut(r); err != nil {
		return fmt.Errorf("end a run of %s: %w", g.planName(r.plan), err)
	}
	return nil
}

// Wait returns when the run has drained. It returns nil only if the abort word is 0 at that time, else an *AbortError.
func (g *Group) Wait(r *Run) error {
	if r.capturing {
		return fmt.Errorf("wait for %s: its run is being captured", g.planName(r.plan))
	}
	if err := g.drv.EventSynchronize(r.event); err != nil {
		g.Abort(fmt.Errorf("wait for %s: %w", g.planName(r.plan), err))
	} else {
		g.runs.drained(r.seq)
	}
	return g.aborted()
}

// open orders main after everything the group has run.
func (g *Group) open(r *Run) (err error) {
	if r.capturing, err = g.drv.StreamIsCapturing(r.main); err != nil {
		return err
	}
	s := &g.runs
	if r.capturing {
		if err := g.share(r.plan); err != nil {
			return err
		}
		return g.openCaptured(r)
	}
	if s.last != 0 {
		if err := g.drv.StreamWaitEvent(r.main, s.last, 0); err != nil {
			return err
		}
	}
	if s.shared {
		if err := g.drv.StreamWaitEvent(r.main, s.order, 0); err != nil {
			return err
		}
	}
	if !r.empty {
		g.page.begun(r.plan)
	}
	return nil
}

// shut records the run's end for later runs and for the watch.
func (g *Group) shut(r *Run) error {
	s := &g.runs
	if r.capturing {
		return g.shutCaptured(r)
	}
	r.event = s.next()
	if err := g.drv.EventRecordWithFlags(r.event, r.main, 0); err != nil {
		return err
	}
	if s.shared {
		if err := g.drv.EventRecordWithFlags(s.order, r.main, 0); err != nil {
			return err
		}
	}
	s.last = r.event
	s.seq++
	r.seq = s.seq
	s.push(r.flight)
	return nil
}

// share makes the event that orders captured runs, when the first run is captured. A graph can only name a fixed event;
// until a graph names it, runs need not record it.
func (g *Group) share(plan int) error {
	s := &g.runs
	s.mu.Lock()
	if !slices.Contains(s.captured, plan) {
		s.captured = append(s.captured, plan)
	}
	s.mu.Unlock()
	if s.shared {
		return nil
	}
	e, err := g.drv.EventCreate(false)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.order = e
	s.mu.Unlock()
	if s.last != 0 {
		if err := g.drv.StreamWaitEvent(s.side, s.last, 0); err != nil {
			return err
		}
		if err := g.drv.EventRecordWithFlags(s.order, s.side, 0); err != nil {
			return err
		}
	}
	s.shared = true
	return nil
}
