package simtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

func TestRanks(t *testing.T) {
	var came [3]bool
	simtest.Ranks(t, 3, func(ctx context.Context, g *group.Group) error {
		came[g.Rank()] = true
		all, err := g.Gather(ctx, "meet", fmt.Append(nil, g.Rank()))
		if err == nil && len(all) != 3 {
			err = fmt.Errorf("%d ranks", len(all))
		}
		return err
	})
	if came != [3]bool{true, true, true} {
		t.Errorf("%v", came)
	}
}

// TestRun returns what fails: of a rank, of the join, and a race.
func TestRun(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(*group.Config)
		f      func(ctx context.Context, g *group.Group) error
		want   string
	}{
		{"nothing", nil, nil, ""},
		{"a rank", nil, func(_ context.Context, g *group.Group) error {
			if g.Rank() == 1 {
				return errors.New("no such tensor")
			}
			return nil
		}, "seed 7, rank 1: no such tensor"},
		{"the join", func(c *group.Config) { c.Arena = 100 }, nil, "an arena of 100 bytes"},
		{"a race", nil, race, "race on bytes"},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := x.f
				if f == nil {
					f = func(context.Context, *group.Group) error { return nil }
				}
				c := simtest.Config{Config: sim.Config{Devices: 2, Seed: 7}, Change: x.change}
				err := simtest.Run(t.Context(), c, f)
				if (err == nil) != (x.want == "") || err != nil &&
					!strings.Contains(err.Error(), x.want) {
					t.Errorf("%v, want %q", err, x.want)
				}
			})
		})
	}
}

// race writes the same bytes on two streams.
func race(_ context.Context, g *group.Group) error {
	d := g.Driver()
	at, err := d.MemAlloc(3 << 10)
	if err != nil {
		return err
	}
	var streams [2]driver.Stream
	var errs []error
	for i := range streams {
		streams[i], err = d.StreamCreateWithPriority(driver.Normal)
		errs = append(errs, err)
	}
	for i, s := range streams {
		errs = append(errs, d.MemcpyDtoDAsync(at, at+driver.Ptr(i+1)<<10, 1<<10, s))
	}
	for _, s := range streams {
		errs = append(errs, d.StreamSynchronize(s))
	}
	return errors.Join(errs...)
}
