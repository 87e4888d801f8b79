package group

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"ovgen/runtime/driver"
	"ovgen/runtime/group/store"
	"ovgen/runtime/launcher"
)

// Ranks are all ranks of a group that is in one process, by rank. Each rank may be used on its goroutine as if it were
// a process: only Join and the access to peers' memory differ.
type Ranks []*Group

// JoinAll makes a group whose ranks are all in this process, one for each of Config.Devices, or for the first
// Config.Size devices, or for all devices of the backend. Config.Rank, Driver and Context belong to one rank and must
// be zero; Job is not needed. Decorate is called by all ranks at once. Its errors are Join's.
//
// Buffers that peers read or write are memory of Group.Driver, which takes a multiple of 2 MiB for each buffer, or
// other mapped memory (cuMemMap); Bind refuses memory of cuMemAlloc. No device may have access to the whole memory of
// another device's context (cuCtxEnablePeerAccess, which PyTorch calls to copy between devices): allocations and new
// graphs may then wait for runs, and runs for ranks that allocate.
func JoinAll(ctx context.Context, c Config) (Ranks, error) {
	if err := c.spread(); err != nil {
		return nil, fmt.Errorf("join all ranks: %w", err)
	}
	all := make(Ranks, c.Size)
	err := Each(c.Size, func(r int) (err error) {
		c := c
		c.Rank = r
		all[r], err = Join(ctx, c)
		return err
	})
	if err == nil {
		return all, nil
	}
	return nil, all.giveUp(ctx, err)
}

// giveUp ends the ranks that have joined, where err has kept other ranks from joining: ctx may have ended between one
// rank's return from Join and another's. A rank that has not joined is nil.
func (all Ranks) giveUp(ctx context.Context, err error) error {
	return errors.Join(err, all.Each(func(g *Group) error {
		if g == nil {
			return nil
		}
		g.Abort(err)
		return g.Close(ctx)
	}))
}

// spread makes the Config of all ranks of one process.
func (c *Config) spread() error {
	if c.Rank != 0 || c.Driver != nil || c.Context != 0 {
		return errors.New("Config.Rank, Driver and Context belong to one rank (leave them zero, or call Join with " +
			"Config.Local for each rank)")
	}
	if c.Size < 0 {
		return fmt.Errorf("Config.Size is %d (leave it 0 for all devices)", c.Size)
	}
	if c.Size == 0 {
		c.Size = len(c.Devices)
	}
	if c.Size == 0 {
		n, err := c.devices()
		if err != nil {
			return err
		}
		c.Size = n
	}
	c.Local, c.Job = true, cmp.Or(c.Job, "of one process")
	if c.Network == nil {
		c.Network = store.Memory()
	}
	_, err := c.resolve() // returns the error once, and not for each rank
	return err
}

// devices returns the number of devices of the backend.
func (c *Config) devices() (n int, err error) {
	c.Backend = cmp.Or(c.Backend, os.Getenv(launcher.EnvDriver), "cuda")
	for _, name := range c.candidates() {
		var b driver.Backend
		if b, err = driver.Lookup(name); err != nil {
			continue
		}
		if n, err = b.Count(); err == nil && n > 0 {
			return n, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("%s has no devices: %w", c.Backend, driver.ErrUnavailable)
	}
	return 0, err
}

// Each runs f as every rank at once (see the function Each). A rank that gives up should abort the group.
func (all Ranks) Each(f func(g *Group) error) error {
	return Each(len(all), func(r int) error { return f(all[r]) })
}

// Close closes all ranks at once. It is bounded, and a second call returns the error of the first. The Close of one
// rank waits for the other ranks: called one after the other, the first would wait for Config.CallTimeout.
func (all Ranks) Close(ctx context.Context) error {
	return all.Each(func(g *Group) error { return g.Close(ctx) })
}

// Each runs f for n ranks at once, each on its own goroutine, and returns when all have returned. If all ranks return
// errors with the same text, Each returns one of them unchanged. Otherwise it joins the errors of the ranks that report
// theirs (see Reports), each after its rank; where no rank reports, it joins the errors of all ranks.
func Each(n int, f func(rank int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for r := range n {
		wg.Go(func() { errs[r] = f(r) })
	}
	wg.Wait()
	var reported []error
	same := n > 0
	for r, err := range errs {
		if err != nil && Reports(err, r) {
			reported = append(reported, fmt.Errorf("rank %d: %w", r, err))
		}
		same = same && err != nil && err.Error() == errs[0].Error()
	}
	switch {
	case same:
		return errs[0]
	case len(reported) == 0:
		return errors.Join(errs...)
	}
	return errors.Join(reported...)
}
