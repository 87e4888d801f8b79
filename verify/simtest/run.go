package simtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"ovgen/runtime/group"
	"ovgen/verify/sim"
)

// Config of a Run.
type Config struct {
	sim.Config // Devices: the ranks
	// Change changes a rank's Config; nil changes nothing.
	Change func(c *group.Config)
}

// Run joins a group in the simulator, runs f as each of its ranks at once and closes the
// group. It returns the errors of all ranks, and the races.
func Run(ctx context.Context, c Config, f func(ctx context.Context, g *group.Group) error) error {
	node := NewNode(c.Config)
	defer node.Close()
	ranks, err := node.Configs(0, c.Devices)
	if err != nil {
		return err
	}
	err = Each(len(ranks), func(r int) error {
		if c.Change != nil {
			c.Change(&ranks[r])
		}
		g, err := group.Join(ctx, ranks[r])
		if err == nil {
			err = errors.Join(f(ctx, g), g.Close(ctx))
		}
		if err != nil {
			return fmt.Errorf("seed %d, rank %d: %w", c.Seed, r, err)
		}
		return nil
	})
	errs := []error{err}
	for _, race := range node.Races() {
		errs = append(errs, fmt.Errorf("seed %d: %v", c.Seed, race))
	}
	return errors.Join(errs...)
}

// Ranks runs f as each of n ranks at once, in virtual time. A failure of a rank fails the
// test, and so does a race; f may call t.Error.
func Ranks(t *testing.T, n int, f func(ctx context.Context, g *group.Group) error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if err := Run(t.Context(), Config{Config: sim.Config{Devices: n}}, f); err != nil {
			t.Error(err)
		}
	})
}
