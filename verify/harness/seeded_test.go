package harness

import (
	"context"

	"ovgen/runtime/group"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// testShape checks a program on simulated ranks, as package programtest does.
func testShape(ctx context.Context, p *Program, s Shape, ranks int, seed uint64) error {
	meters := make([]*Meter, ranks)
	c := simtest.Config{Config: sim.Config{Devices: ranks, Seed: seed}, Change: func(c *group.Config) {
		meters[c.Rank] = NewMeter(c.Driver)
		c.Driver, c.Arena = meters[c.Rank], p.Arena(s, ranks)
	}}
	return simtest.Run(ctx, c, func(ctx context.Context, g *group.Group) error {
		return Check(ctx, g, meters[g.Rank()].Metered(p), s, uint32(seed))
	})
}
