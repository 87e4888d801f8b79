package main

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"ovgen/runtime/group"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// TestRaces runs steps of every kind under the simulator's seeded scheduler, which finds accesses that nothing orders:
// also of the decoder's own kernels, which say what they read and write.
func TestRaces(t *testing.T) {
	dir, _ := tiny(t, Tiny)
	c, tensors, needs, err := Spec{Model: dir, Ranks: 2, Options: small}.open()
	if err != nil {
		t.Fatal(err)
	}
	defer tensors.Close()
	for seed := range uint64(3) {
		o := small
		o.NCCL = seed == 2
		synctest.Test(t, func(t *testing.T) {
			world := simtest.Config{Config: sim.Config{Devices: 2, Seed: seed},
				Change: func(c *group.Config) { c.Arena = needs.Arena() }}
			if err := simtest.Run(t.Context(), world, func(ctx context.Context, g *group.Group) error {
				return steps(ctx, g, c, tensors, o)
			}); err != nil {
				t.Error(err)
			}
		})
	}
}

func steps(ctx context.Context, g *group.Group, c Config, tensors *Tensors, o Options) error {
	r, err := NewRank(ctx, g, c, tensors, o)
	if err != nil {
		return err
	}
	whole, part, both := Batch{Prompt: true}, Batch{Prompt: true}, Batch{}
	for p := range 10 {
		whole.Add(p, 0, p)
	}
	for p := range 3 {
		part.Add(p, 1, p)
	}
	both.Add(7, 0, 10)
	both.Add(7, 1, 3)
	for _, b := range []Batch{whole, part, both, both} {
		next, err := r.Step(ctx, b)
		if err != nil {
			return err
		}
		if len(next) == 0 || next[0].Token < 0 || int(next[0].Token) >= c.Vocabulary {
			return fmt.Errorf("the next tokens are %v", next)
		}
	}
	return r.Close(ctx)
}
