// Package sums compares the bits of programs that sum by other ways.
package sums

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/user/generated/programs"
	"ovgen/runtime/group"
	"ovgen/verify/harness"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// TestSums: each rank has the same bits by each way, of real numbers in every type, and where the sum stays in fp32
// until a kernel of its own has applied the functions.
func TestSums(t *testing.T) {
	compared := 0
	first := programs.All[slices.IndexFunc(programs.All, func(p harness.Program) bool {
		return strings.HasPrefix(p.Name, "sums")
	})]
	for _, p := range programs.All {
		if !strings.HasPrefix(p.Name, "sums") {
			continue
		}
		for i, typ := range p.Types {
			for _, ranks := range []int{1, 3, 4} {
				for n, s := range first.TestShapes(typ, ranks) {
					want, got := bits(t, &first, s, ranks), bits(t, &p, s, ranks)
					if compared++; !maps.Equal(got, want) || len(want) == 0 {
						t.Errorf("%s, %d ranks, %s %s (%d, %d): other bits than %s", p.Name, ranks, s, typ, i, n,
							first.Name)
					}
				}
			}
		}
	}
	if compared < 3*2*3 {
		t.Errorf("%d programs and shapes", compared)
	}
}

// bits are those of C on each rank.
func bits(t *testing.T, p *harness.Program, s harness.Shape, ranks int) map[int]string {
	made := map[int]string{}
	all := make([]map[string][]byte, ranks)
	synctest.Test(t, func(t *testing.T) {
		c := simtest.Config{Config: sim.Config{Devices: ranks, Seed: 1}, Change: func(c *group.Config) {
			c.Arena = p.Arena(s, ranks)
		}}
		err := simtest.Run(t.Context(), c, func(ctx context.Context, g *group.Group) (err error) {
			all[g.Rank()], err = harness.Bits(ctx, g, p, s, 1)
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	})
	for rank, of := range all {
		if c := of["C"]; len(bytes.Trim(c, "\x00")) > 0 {
			made[rank] = string(c)
		}
	}
	return made
}
