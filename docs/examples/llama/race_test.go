package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"ovgen/runtime/group"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// TestRaces runs steps of every kind under the simulator's seeded scheduler, which finds accesses that nothing orders:
// also in the decoder's kernels, which declare the memory that they read and write. Those of wide heads are others.
func TestRaces(t *testing.T) {
	wide := tinyOf("qwen3")
	wide.HeadSize = 136
	for seed, c := range []Config{Tiny, Tiny, wide, Tiny} {
		if seed == 3 {
			t.Setenv(envNCCL, "1")
		}
		dir, _ := tiny(t, c)
		m, err := small.in(dir).Open()
		if err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			world := simtest.Config{Config: sim.Config{Devices: 2, Seed: uint64(seed)},
				Change: func(c *group.Config) { c.Arena = m.Needs.Arena() }}
			if err := simtest.Run(t.Context(), world, func(ctx context.Context, g *group.Group) error {
				return steps(ctx, g, m)
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

func steps(ctx context.Context, g *group.Group, m Model) error {
	r, err := m.load(ctx, g)
	if err != nil {
		return err
	}
	whole, part, both := Batch{Prompt: true}, Batch{Prompt: true}, Batch{}
	for p := range 10 {
		whole.add(p, 0, p)
	}
	for p := range 3 {
		part.add(p, 1, p)
	}
	both.add(7, 0, 10)
	both.add(7, 1, 3)
	for _, b := range []Batch{whole, part, both, both} {
		var next []Best
		if err := errors.Join(r.Launch(b, nil), r.Wait(true, &next)); err != nil {
			return err
		}
		if !b.Prompt && (len(next) == 0 || next[0].Token < 0 || int(next[0].Token) >= m.Vocabulary) {
			return fmt.Errorf("the next tokens are %v", next)
		}
	}
	var next, last []Best // of steps that are both on their way
	ahead := Batch{Rows: []Row{{Choice(r.launched, 0), 0, 12}, {Choice(r.launched, 1), 1, 5}}}
	both.Rows[0].Position, both.Rows[1].Position = 11, 4
	err = errors.Join(r.Launch(both, nil), r.Launch(ahead, nil), r.Wait(true, &next), r.Wait(true, &last))
	return errors.Join(err, r.Close(ctx))
}
