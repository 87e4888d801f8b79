package group

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"ovgen/runtime/driver"
	"ovgen/runtime/fabric"
	"ovgen/runtime/group/store"
	"ovgen/runtime/ipc"
)

// Group is one rank's membership in a group of ranks. Its methods may be called from any goroutine, except that
// collective ones (Gather, Close and the calls of plans that are collective) are made in the same order on all ranks.
type Group struct {
	config       Config
	choice       string
	drv          driver.Driver
	owned        bool // Join opened the driver, so Close closes it
	client       *store.Client
	pids         []int // of the ranks' processes
	place        place
	fabric       fabric.Fabric
	apart        bool // some ranks can't reach each other's memory
	arena        *Arena
	imports      *ipc.Cache
	page         *page
	pool         pool
	plans        plans
	runs         runs
	abort        abort
	watch        watch
	communicator communicator
	symmetric    symmetric
	reported     atomic.Bool // a caller has got the whole reason why the group was aborted

	collective chan struct{} // one collective call at a time
	done       chan struct{} // closed by the abort, else by Close
	closing    atomic.Bool
	leaving    atomic.Bool // Close meets the peers; after that each peer may go
	closeOnce  sync.Once
	closeErr   error
}

// Rank of this process in the group, from 0.
func (g *Group) Rank() int { return g.config.Rank }

// Size is the number of ranks.
func (g *Group) Size() int { return g.config.Size }

// Driver is the device that this rank runs on. It refuses to free memory that peers may have open.
func (g *Group) Driver() driver.Driver { return g.imports.Driver() }

// Choice names the driver and the reason for it, for a program to print.
func (g *Group) Choice() string { return g.choice }

// Side is the stream on which the group orders its runs where it must not use a caller's stream. Verifiers use it to
// tell that an event on this stream is no part of a run.
func (g *Group) Side() driver.Stream { return g.runs.side }

// CallTimeout is Config.CallTimeout: the bound of collective calls.
func (g *Group) CallTimeout() time.Duration { return g.config.CallTimeout }

// Graphs is Config.Graphs: the number of graphs that each plan keeps.
func (g *Group) Graphs() int { return g.config.Graphs }

// Arena is the device memory of all ranks that every peer maps.
func (g *Group) Arena() *Arena { return g.arena }

// Imports is the cache of the memory that this rank's plans have exported to peers and of the peers' memory that they
// have opened. Each plan closes its exports and imports before the group closes.
func (g *Group) Imports() *ipc.Cache { return g.imports }

// Done is closed when the group has been aborted, and when it is closed.
func (g *Group) Done() <-chan struct{} { return g.done }

// Err is nil while the group is whole and after a clean Close, else an *AbortError. It reads the abort word itself:
// once the caller has synchronised with its enqueued work, nil means that every result is right. Err always returns the
// full diagnosis.
func (g *Group) Err() error {
	err := g.failure()
	if err != nil {
		g.reported.Store(true)
	}
	return err
}

// failure is the cause of the abort.
func (g *Group) failure() error {
	if g.page.aborted() {
		g.watch.poke()
		<-g.done
	}
	return g.abort.failure()
}

// aborted is failure; the first caller gets the whole diagnosis, later callers an error that only refers to it.
func (g *Group) aborted() error {
	err := g.failure()
	if err != nil && g.reported.Swap(true) {
		return &reportedError{err}
	}
	return err
}

// Alive is nil while the group can be used. Otherwise it is ErrClosed or the group's *AbortError, and calls of plans
// fail with it. The error tells the whole story unless an earlier call or Err has told it; then it refers to that.
func (g *Group) Alive() error {
	if err := g.aborted(); err != nil {
		return err
	}
	select {
	case <-g.done:
		return ErrClosed
	default:
	}
	if g.closing.Load() {
		return ErrClosed
	}
	return nil
}

// ErrClosed is returned by calls on a group that has been closed.
var ErrClosed = errors.New("group is closed")

// Gather is the group's one collective primitive: it returns every rank's blob, by rank. The argument what names this
// rank's action ("bind plan 3 (allgatherlinear)"), and errors quote it. If the parts of the names before a semicolon
// differ, all ranks get a *store.MismatchError and may go on. Any other failure (a rank does not come in time, is gone,
// or its ctx ends) aborts the group. A blob has at most store.MaxBlob bytes.
func (g *Group) Gather(ctx context.Context, what string, mine []byte) ([][]byte, error) {
	select {
	case g.collective <- struct{}{}:
		defer func() { <-g.collective }()
	case <-g.done:
	}
	if err := g.Alive(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return g.gather(ctx, what, mine)
}

// gather is Gather for callers that hold the group's collective turn.
func (g *Group) gather(ctx context.Context, what string, mine []byte) ([][]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // an abort ends the wait
		select {
		case <-g.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	all, err := g.client.Gather(ctx, what, mine)
	var mismatch *store.MismatchError
	if err == nil || errors.As(err, &mismatch) {
		return all, err
	}
	g.Abort(err)
	<-g.done
	return nil, fmt.Errorf("%s: %w", what, g.aborted())
}
