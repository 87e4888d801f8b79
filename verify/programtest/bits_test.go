//go:build cgo && amd64

package programtest

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"ovgen/generated/programs"
	"ovgen/runtime/group"
	"ovgen/schedule"
	"ovgen/verify/harness"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// TestBits holds the bits that each program with functions makes of real numbers against a golden file, where a review
// sees that one rounds otherwise than it did. Programs of one computation and placement have the same bits where their
// ways add in the order of ranks. Processors of other kinds add a product of the simulator in another order.
func TestBits(t *testing.T) {
	var got bytes.Buffer
	first, equal := map[string]string{}, 0
	for _, p := range programs.All {
		if !slices.ContainsFunc(p.Schedule.Ops, func(o schedule.Op) bool { return len(o.Then) > 0 }) {
			continue
		}
		what, bits := bitsOf(t, &p)
		fmt.Fprintf(&got, "%s  %s:  %s\n", p.Name, what, bits)
		if of := what + computed(p.Schedule); !p.Schedule.Ordered() {
			continue
		} else if was, seen := first[of]; !seen {
			first[of] = bits
		} else if equal++; was != bits {
			t.Errorf("%s makes %s, and another program of its computation %s", p.Name, bits, was)
		}
	}
	if equal < 20 {
		t.Errorf("%d programs make what others make", equal)
	}
	const file = "testdata/bits.txt"
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("results have other bits (where that is meant, run it with -update, and say why):\n%s", diff)
	}
}

// computed is what a schedule computes, of which parts on each rank.
func computed(s schedule.Schedule) string {
	text := fmt.Sprint(s.Ops)
	for _, x := range s.Tensors {
		axis, split, spread := x.Sharded()
		text += fmt.Sprint(x.Name, axis, split, spread)
	}
	return text
}

// bitsOf is a shape of a program, and of each result a hash of all ranks' bits.
func bitsOf(t *testing.T, p *harness.Program) (what, bits string) {
	t.Helper()
	ranks, typ := p.TestRanks()[0], p.Types[0]
	s := p.TestShapes(typ, ranks)[0]
	made := make([]map[string][]byte, ranks)
	synctest.Test(t, func(t *testing.T) {
		c := simtest.Config{Config: sim.Config{Devices: ranks, Seed: 1}, Change: func(c *group.Config) {
			c.Arena = p.Arena(s, ranks)
		}}
		err := simtest.Run(t.Context(), c, func(ctx context.Context, g *group.Group) (err error) {
			made[g.Rank()], err = harness.Bits(ctx, g, p, s, 1)
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	})
	var list []string
	for _, name := range slices.Sorted(maps.Keys(made[0])) {
		h := fnv.New64a()
		for _, of := range made {
			h.Write(of[name])
		}
		list = append(list, fmt.Sprintf("%s %016x", name, h.Sum64()))
	}
	return fmt.Sprintf("%d ranks, %s %s", ranks, s, typ), strings.Join(list, "  ")
}
