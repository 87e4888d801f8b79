package group

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"ovgen/runtime/driver"
)

// communicator is this rank's communicator of NCCL, in which the collectives of all plans run (see rail). The first
// plan with a collective makes it, and it lives as long as the group.
type communicator struct {
	mu      sync.Mutex // held during calls; settled unlocks it between two questions to NCCL
	library driver.Collectives
	comm    driver.Comm    // zero until it is made
	dead    bool           // given to CommAbort or CommDestroy
	window  driver.Windows // set once Group.Symmetric's memory is registered
	freed   chan struct{}
	err     error // of freeing, once freed is closed
}

// errDead is the error of a collective after an abort.
var errDead = errors.New("the communicator was aborted")

// Connected reports whether the group has a communicator.
func (g *Group) Connected() bool {
	g.communicator.mu.Lock()
	defer g.communicator.mu.Unlock()
	return g.communicator.comm != 0
}

// CommunicatorID loads NCCL and returns, on the first rank of each communicator, its id; on the other ranks it
// returns nothing.
func (g *Group) CommunicatorID() ([]byte, error) {
	c := &g.communicator
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	_, _, rank := g.rail()
	if c.library, err = driver.CollectivesOf(g.drv); err != nil || rank > 0 {
		return nil, err
	}
	id, err := c.library.CommGetUniqueID()
	return id[:], err
}

// Connect makes this rank's communicator, by the ids that all ranks have brought. It is collective: if it fails, it
// aborts the group, since the peers would wait.
func (g *Group) Connect(ctx context.Context, ids [][]byte) error {
	c := &g.communicator
	first, ranks, rank := g.rail()
	id := ids[first]
	if len(id) != len(driver.CommID{}) {
		return fmt.Errorf("connect: rank %d sent %d bytes for an id (run the same binary on all ranks)", first, len(id))
	}
	c.mu.Lock()
	var err error
	c.comm, err = c.library.CommInitRank(driver.CommID(id), ranks, rank)
	if errors.Is(err, driver.ErrInProgress) {
		err = nil
	}
	c.mu.Unlock()
	if err == nil {
		err = g.settled(ctx)
	}
	if err != nil {
		return g.broken(fmt.Errorf("connect %d ranks by NCCL: %w", ranks, err))
	}
	return nil
}

// broken aborts the group for an error that leaves the communicator useless.
func (g *Group) broken(err error) error {
	g.Abort(fmt.Errorf("rank %d: %w", g.Rank(), err))
	<-g.done
	return g.aborted()
}

// Collective enqueues a collective behind the stream's work. The n-th of each rank meets the n-th of
// every other rank; no two goroutines call it at once. It returns when NCCL has enqueued all of it.
func (g *Group) Collective(d driver.CollectiveDesc, recv, send driver.Ptr, s driver.Stream) error {
	x := &g.symmetric
	if !x.holds(recv) && !x.holds(send) {
		return g.enqueueCollective(d, recv, send, s)
	}
	if err := behind(g.drv, x.stream, s, x.events[0]); err != nil {
		return err
	}
	if err := g.enqueueCollective(d, recv, send, x.stream); err != nil {
		return err
	}
	return behind(g.drv, s, x.stream, x.events[1])
}

func (g *Group) enqueueCollective(d driver.CollectiveDesc, recv, send driver.Ptr, s driver.Stream) error {
	c := &g.communicator
	c.mu.Lock()
	if c.dead {
		c.mu.Unlock()
		return errDead
	}
	err := c.library.Collective(d, recv, send, c.comm, s)
	c.mu.Unlock()
	if !errors.Is(err, driver.ErrInProgress) {
		return err
	}
	return g.settled(nil)
}

// patience is the number of times that settled asks NCCL without a pause, before it sleeps between two questions.
const patience = 1000

// settled waits until NCCL has ended the last call; ctx may be nil.
func (g *Group) settled(ctx context.Context) error {
	c := &g.communicator
	for n := 0; ; n++ {
		c.mu.Lock()
		err := errDead
		if !c.dead {
			err = c.library.CommGetAsyncError(c.comm)
		}
		c.mu.Unlock()
		if !errors.Is(err, driver.ErrInProgress) {
			return err
		}
		if n < patience {
			runtime.Gosched()
			continue
		}
		time.Sleep(pollEvery)
		if ctx != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if g.page.aborted() {
			return errDead
		}
	}
}

// Rehearse runs each collective once: NCCL makes its connections now, and a run makes none. It is
// collective, and aborts the group if it fails.
func (g *Group) Rehearse(ctx context.Context, list []driver.CollectiveDesc, recv, send driver.Ptr,
	s driver.Stream) error {
	for _, d := range list {
		if err := g.Collective(d, recv, send, s); err != nil {
			return g.broken(fmt.Errorf("try %s of %d bytes by NCCL: %w", d.Kind, d.Bytes, err))
		}
	}
	for {
		done, err := g.drv.StreamQuery(s)
		switch {
		case err == nil && !done && ctx.Err() == nil && !g.page.aborted():
			time.Sleep(pollEvery)
			continue
		case err == nil && !done:
			err = cmp.Or(context.Cause(ctx), errDead)
		}
		if err != nil {
			return g.broken(fmt.Errorf("try NCCL's collectives: %w", err))
		}
		return nil
	}
}

// disconnect frees the communicator, once. After an abort it ends the enqueued collectives; otherwise it waits for
// them. NCCL's call waits for streams and for graphs, so it runs on a separate goroutine.
func (c *communicator) disconnect(abort bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.comm == 0 || c.dead {
		return
	}
	c.dead, c.freed = true, make(chan struct{})
	free := c.library.CommDestroy
	switch {
	case abort:
		free = c.library.CommAbort
	case c.window != nil:
		free = func(comm driver.Comm) error {
			return errors.Join(c.window.CommWindowDeregister(comm), c.library.CommDestroy(comm))
		}
	}
	go func() {
		c.err = free(c.comm)
		close(c.freed)
	}()
}

// gone reports whether no communicator was made, or it has been freed.
func (c *communicator) gone() bool {
	if c.freed == nil {
		return c.comm == 0
	}
	select {
	case <-c.freed:
		return true
	default:
		return false
	}
}

// freed waits until the communicator is freed. A caller's graph may keep it for ever.
func (g *Group) freed(limit time.Duration) error {
	c := &g.communicator
	if c.freed == nil {
		return nil
	}
	select {
	case <-c.freed:
		return c.err
	case <-time.After(limit):
	}
	if why := g.symmetric.unabortable; why != "" {
		return fmt.Errorf("free NCCL's communicator: it is not done after %v: %s (end the process)", limit, why)
	}
	return fmt.Errorf("free NCCL's communicator: it is not done after %v: graphs that the caller captured may hold it "+
		"(destroy them before the group is closed)", limit)
}
