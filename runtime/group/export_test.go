package group

import (
	"context"

	"ovgen/runtime/driver"
)

// DrainTimeout bounds how long an abort waits for the streams.
const DrainTimeout = drainTimeout

// StagingOf is where the staging of an arena begins.
func StagingOf(bytes int64) int64 { return stagingOf(bytes) }

// Part meets the peers as Close does.
func (g *Group) Part(ctx context.Context) error {
	defer func() { <-g.collective }()
	return g.part(ctx)
}

// Disconnect ends the rank's connection.
func (g *Group) Disconnect() { g.client.Close() }

// Unwatch ends what follows the peers.
func (g *Group) Unwatch() {
	close(g.watch.stop)
	g.watch.wg.Wait()
}

// DiagnoseReplay says in which plan and step a replay of plans waits whose second stream
// has written this step word, and whether that is sure; zeros if it can't.
func (g *Group) DiagnoseReplay(plans []int, word uint32) (plan, step int, sure bool) {
	words := make([]uint32, len(g.pool.streams))
	words[1] = word
	b, ok := g.diagnose(plans, words, make([]history, 1), nil)
	if !ok {
		return 0, 0, false
	}
	return b.Plan, b.Step, b.Sure
}

// Stub is a group whose collectives a library takes.
func Stub(c driver.Collectives) *Group {
	return &Group{communicator: communicator{library: c, comm: 1}}
}

// EnqueueCollective is Collective without a look at symmetric memory.
func (g *Group) EnqueueCollective(d driver.CollectiveDesc, recv, send driver.Ptr, s driver.Stream) error {
	return g.enqueueCollective(d, recv, send, s)
}

// Given is the driver as Join was given it.
func (g *Group) Given() driver.Driver { return g.drv }

// GiveUp ends the ranks of a JoinAll that fails.
func (all Ranks) GiveUp(ctx context.Context, err error) error { return all.giveUp(ctx, err) }
