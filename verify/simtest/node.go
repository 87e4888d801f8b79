package simtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"ovgen/runtime/group"
	"ovgen/runtime/group/store"
	"ovgen/verify/sim"
)

// Arena is the number of bytes of a rank's arena, if its Config does not set another.
const Arena = 1 << 20

// Node is a simulated host with a device for each rank, and the network on which the
// ranks meet.
type Node struct {
	*sim.World
	Network store.Network
	jobs    atomic.Int64
}

// NewNode starts a node; Close ends it with the devices that are still open.
func NewNode(c sim.Config) *Node { return &Node{World: sim.NewWorld(c), Network: store.Memory()} }

// Configs opens n devices, from the first on, and returns the Configs of the ranks of a new group on them.
func (n *Node) Configs(first, ranks int) ([]group.Config, error) {
	job := fmt.Sprint("job", n.jobs.Add(1))
	list := make([]group.Config, ranks)
	for r := range list {
		d, err := n.Open(first + r)
		if err != nil {
			return nil, err
		}
		list[r] = group.Config{Rank: r, Size: ranks, Job: job, Driver: d, Arena: Arena, Network: n.Network}
	}
	return list, nil
}

// Join joins the ranks of one group at once; a rank that fails has no group.
func Join(ctx context.Context, ranks []group.Config) ([]*group.Group, error) {
	groups := make([]*group.Group, len(ranks))
	err := Each(len(ranks), func(r int) (err error) {
		groups[r], err = group.Join(ctx, ranks[r])
		return err
	})
	return groups, err
}

// Each runs f for all of n ranks at once and joins their errors.
func Each(n int, f func(r int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for r := range n {
		all.Go(func() { errs[r] = f(r) })
	}
	all.Wait()
	return errors.Join(errs...)
}
