package scenario

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// Ranks that can't map each other's memory are a group where Config.Apart says so: Choice says it,
// plans by NCCL run right and are aborted, and others are refused.
func TestApart(t *testing.T) {
	for _, aborts := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			world := sim.Config{Devices: 3, Seed: 4,
				PeerAccess: func(from, to int) bool { return from != 1 || to != 2 }}
			change := func(c *group.Config) { c.Apart = true }
			err := simtest.Run(t.Context(), simtest.Config{Config: world, Change: change},
				func(ctx context.Context, g *group.Group) error { return runApart(ctx, g, aborts) })
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func runApart(ctx context.Context, g *group.Group, aborts bool) error {
	const want = "plans by NCCL alone, since rank 1 can't map rank 2's memory"
	if !g.Apart() || !strings.HasSuffix(g.Choice(), want) {
		return fmt.Errorf("apart %t, choice %q", g.Apart(), g.Choice())
	}
	var refused *plan.ApartError
	if _, err := newLayer(ctx, copied, g, shape(g.Size())); !errors.As(err, &refused) {
		return fmt.Errorf("a plan that uses peers' memory: %w", err)
	}
	t, err := newTogether(ctx, g)
	for turn := 0; err == nil && turn < 3; turn++ {
		err = t.right(ctx, turn)
	}
	if !aborts {
		return err
	}
	if err == nil && g.Rank() == 0 {
		g.Abort(errReason)
	}
	if err == nil { // else the abort came sooner
		err = t.product.Run(ctx)
	}
	return aborted(err)
}

// Ranks of which each reaches its neighbours alone run rings, and a rank that aborts in place of a run ends the others'
// runs; a program that uses other peers' memory is refused.
func TestNeighbours(t *testing.T) {
	for seed := range uint64(3) {
		synctest.Test(t, func(t *testing.T) {
			world := sim.Config{Devices: 4, Seed: seed, NoRaces: true,
				PeerAccess: func(from, to int) bool { return (from+1)%4 == to || (to+1)%4 == from }}
			change := func(c *group.Config) { c.Apart = true }
			err := simtest.Run(t.Context(), simtest.Config{Config: world, Change: change}, runNeighbours)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func runNeighbours(ctx context.Context, g *group.Group) error {
	if !g.Apart() || !g.Ring() || g.Reaches((g.Rank()+2)%4) || !g.Reaches((g.Rank()+3)%4) {
		return fmt.Errorf("choice %q", g.Choice())
	}
	var refused *plan.ApartError
	if _, err := newLayer(ctx, copied, g, shape(g.Size())); !errors.As(err, &refused) || !refused.Ring {
		return fmt.Errorf("a plan that uses all peers' memory: %w", err)
	}
	l, err := newLayer(ctx, ringed, g, shape(g.Size()))
	for seed := 0; err == nil && seed < 3; seed++ {
		err = l.right(ctx, l.a.Ptr(), seed)
	}
	switch {
	case err != nil: // the abort came sooner
	case g.Rank() == 2: // its neighbours wait for it, and rank 0 for them
		g.Abort(errReason)
		<-g.Done()
		err = g.Err()
	default:
		err = l.Run(ctx)
	}
	var a *group.AbortError
	if !errors.As(err, &a) || a.By != 2 {
		return fmt.Errorf("not the abort of rank 2: %w", err)
	}
	return nil
}
