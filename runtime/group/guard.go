package group

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ovgen/runtime/driver"
)

// Watch waits on the host until a stream has drained, and so bounds the caller's work on it. Call it after the launch
// of a graph that holds runs, whose replays the group does not see, or after Enqueue. It enqueues nothing itself.
//
// When ctx ends first, Watch aborts the group, since the peers must not wait for ever. If ctx has no deadline, Watch
// aborts the group after Config.RunTimeout from now. It then returns an *AbortError that says who waited for whom; it
// does the same when another rank aborts. It returns nil only if the stream has drained and the abort word is 0. A
// stream that is still blocked 3 s after an abort waits for something outside of the group: the error says so, and
// Watch returns.
func (g *Group) Watch(ctx context.Context, s driver.Stream) (err error) {
	what := fmt.Sprintf("watch stream %#x", uintptr(s))
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
	}()
	if err := g.Alive(); err != nil {
		return err
	}
	switch capturing, err := g.drv.StreamIsCapturing(s); {
	case err != nil:
		return err
	case capturing:
		return errors.New("it is being captured (watch the stream that its graph is launched on)")
	}
	if done, err := g.drv.StreamQuery(s); done || err != nil {
		return g.drained(err)
	}
	var late <-chan time.Time
	if _, bounded := ctx.Deadline(); !bounded {
		timer := time.NewTimer(g.config.RunTimeout)
		defer timer.Stop()
		late = timer.C
	}
	drained := make(chan error, 1)
	go func() { drained <- g.drv.StreamSynchronize(s) }()
	select {
	case err := <-drained:
		return g.drained(err)
	case <-ctx.Done():
		g.Abort(runCause(ctx, what))
	case <-late:
		g.Abort(g.tooLong(what))
	case <-g.done:
	}
	select {
	case <-drained:
		return g.Alive()
	case <-time.After(drainTimeout):
		return fmt.Errorf("%w (the stream is blocked still, by something outside of the group)", g.Alive())
	}
}

// drained returns the error of a stream that is no longer busy.
func (g *Group) drained(err error) error {
	if err != nil {
		g.Abort(err)
	}
	return g.aborted()
}
