package group

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/ipc"
)

// Bounds of a Close after an abort.
const (
	drainTimeout = 3 * time.Second // for the group's streams, once released
	leaveTimeout = 2 * time.Second // for the peers to close their imports
)

// Close leaves the group and frees its resources. It is collective while the group is whole, and aborts the group where
// a peer does not come or ctx ends. It is bounded in any case; a second call returns the error of the first. Close
// closes open plans first, in the order in which they were made; a later Close of such a plan returns the same error.
// Err, not Close, returns the error of an earlier abort.
func (g *Group) Close(ctx context.Context) error {
	g.closeOnce.Do(func() { g.closeErr = g.leave(ctx) })
	return g.closeErr
}

func (g *Group) leave(ctx context.Context) error {
	aborted := g.failure() != nil
	if aborted {
		g.communicator.disconnect(true)
	}
	left := g.closePlans(ctx, aborted)
	aborted = g.failure() != nil
	g.closing.Store(true)
	stop := sync.OnceFunc(func() {
		close(g.watch.stop)
		g.watch.wg.Wait()
	})
	var refused error
	if !aborted {
		if refused = g.part(ctx); refused == nil {
			stop()
		}
	}
	g.communicator.disconnect(aborted)
	err := g.settle()
	stop()
	select {
	case <-g.done:
	default:
		close(g.done)
	}
	if err != nil {
		return errors.Join(left, refused, fmt.Errorf("close the group: its streams did not drain, "+
			"its device memory stays until the process ends: %w", err), g.client.Close())
	}
	return errors.Join(left, refused, g.freed(leaveTimeout), g.teardown())
}

// closePlans closes the plans that are still open. It drops the AbortErrors of a group that was aborted before.
func (g *Group) closePlans(ctx context.Context, aborted bool) error {
	var errs []error
	for _, t := range g.plans.open() {
		c, ok := t.(Closer)
		if !ok {
			continue
		}
		if err := c.Close(ctx); err != nil && !(aborted && errors.As(err, new(*AbortError))) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// settle waits for a run that is being issued, and for the runs in flight.
func (g *Group) settle() error {
	select {
	case g.runs.issue <- struct{}{}:
	case <-time.After(drainTimeout):
		return errors.New("a run is still being issued")
	}
	err := g.idle(context.Background(), drainTimeout)
	if why := g.symmetric.unabortable; err != nil && why != "" {
		err = fmt.Errorf("%w: %s (end the process)", err, why)
	}
	return err
}

// part drains this rank's runs and meets the peers.
func (g *Group) part(ctx context.Context) error {
	if err := g.idle(ctx, 0); err != nil {
		g.Abort(fmt.Errorf("close the group: %w", err))
		<-g.done
		return g.aborted()
	}
	select {
	case g.collective <- struct{}{}:
	case <-g.done:
		return g.aborted()
	}
	g.leaving.Store(true)
	_, err := g.gather(ctx, "close the group", nil)
	if err != nil && g.failure() == nil { // the peers make another call
		g.Abort(err)
		<-g.done
	}
	return err
}

// idle returns when nothing of the group is in flight. No limit means until ctx ends or the group is aborted.
func (g *Group) idle(ctx context.Context, limit time.Duration) error {
	for end := time.Now().Add(limit); ; time.Sleep(pollEvery) {
		busy, err := g.busy()
		if err != nil || !busy {
			return err
		}
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case limit > 0 && time.Now().After(end):
			return fmt.Errorf("wait for the streams: %w", context.DeadlineExceeded)
		case limit == 0 && g.page.aborted():
			return g.aborted()
		}
	}
}

// busy reports whether an event of the last runs or a pooled stream is not done.
func (g *Group) busy() (bool, error) {
	events := append([]driver.Event(nil), g.runs.events[:]...)
	g.runs.mu.Lock()
	if g.runs.order != 0 {
		events = append(events, g.runs.order)
	}
	g.runs.mu.Unlock()
	for _, e := range events {
		if done, err := g.drv.EventQuery(e); err != nil || !done {
			return true, err
		}
	}
	g.pool.mu.Lock()
	streams := append([]*Stream(nil), g.pool.streams...)
	g.pool.mu.Unlock()
	for _, s := range streams {
		if done, err := g.drv.StreamQuery(s.Handle); err != nil || !done {
			return true, err
		}
	}
	if s := g.symmetric.stream; s != 0 {
		done, err := g.drv.StreamQuery(s)
		return !done, err
	}
	return false, nil
}

// teardown frees the resources of Join, last first, and skips the parts that Join did not reach. All ranks close their
// imports before an exporter frees its memory.
func (g *Group) teardown() error {
	var errs []error
	if g.drv != nil {
		errs = append(errs, g.pool.close(g.drv))
		for _, e := range append(g.runs.events[:], g.runs.order) {
			if e != 0 {
				errs = append(errs, g.drv.EventDestroy(e))
			}
		}
		for _, s := range []driver.Stream{g.runs.side, g.abort.stream} {
			if s != 0 {
				errs = append(errs, g.drv.StreamDestroy(s))
			}
		}
	}
	if g.drv != nil {
		errs = append(errs, g.symmetric.free(g.drv, g.communicator.gone()))
	}
	errs = append(errs, g.freeArena())
	if g.page != nil {
		errs = append(errs, g.page.close())
	}
	errs = append(errs, g.client.Close(), g.closeDriver())
	if err := driver.Fold(nil, errs...); err != nil {
		return fmt.Errorf("close the group: %w", err)
	}
	return nil
}

// freeArena closes the imports, waits a bounded time until the peers have closed theirs, and frees the arena.
func (g *Group) freeArena() error {
	a := g.arena
	if a == nil {
		return nil
	}
	errs := []error{ipc.CloseImports(a.peers)}
	if g.page != nil {
		g.page.own(sectionClosed).Store(1)
	}
	if a.export != nil {
		g.await(sectionClosed, leaveTimeout, g.PerHost())
		errs = append(errs, a.export.Close())
	}
	if p := a.bases[g.Rank()]; p != 0 {
		errs = append(errs, g.Driver().MemFree(p))
	}
	return errors.Join(errs...)
}
