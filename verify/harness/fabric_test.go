package harness

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"ovgen/generated/linearreducescatter"
	"ovgen/generated/tuned"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

func never(a, b int) bool { return false }

// around joins the neighbours of four.
func around(a, b int) bool { return (a+1)%4 == b || (b+1)%4 == a }

// scattered is the tuned product and reduce-scatter as the harness drives it.
type scattered struct{ *tuned.LinearReduceScatter }

func (p scattered) Bind(ctx context.Context, b Buffers) error {
	return p.LinearReduceScatter.Bind(ctx, linearreducescatter.Buffers{A: b.At["A"], B: b.At["B"], C: b.At["C"]})
}

// TestFabrics: an operation that was not measured runs by the schedule that the fabric and the arena allow, right to
// the bit; Choice says which and why. Where none may, all ranks get an error that says why of each.
func TestFabrics(t *testing.T) {
	const (
		gather  = "allgatherlinear"
		scatter = "linearreducescatter"
		bare    = ", so programs that put and signal that by stream memory operations are refused"
		rings   = ", and rings come first where nothing was measured"
		puts    = "and linearreducescatter does not serve: linearreducescatter puts into peers' memory"
		apart   = "does not serve: allgatherlinear uses peers' memory, and ranks of this group can't map each other's"
	)
	small := group.ArenaBytes(256, 0)
	for _, x := range []struct {
		name              string
		world             sim.Config
		apart, fallBack   bool
		arena             int64
		gather, scatter   string
		why, whyScatter   string
		group             string // what the group's Choice says
		refuses, refuses2 string // instead
	}{
		{name: "full", gather: gather, scatter: scatter, group: "NVLink joins every pair"},
		{name: "switches", world: sim.Config{Switched: true}, gather: gather, scatter: scatter,
			group: "NVLink joins every pair, by switches"},
		{name: "PCIe", world: sim.Config{NVLink: never}, gather: gather, scatter: "linearreducescatterget",
			group:      "PCIe joins every pair" + bare,
			whyScatter: puts},
		{name: "neighbours and PCIe", world: sim.Config{NVLink: around}, gather: "allgatherlinearringbackward",
			scatter: "linearreducescatterring",
			group:   "NVLink joins neighbours alone" + bare + rings,
			why:     ", and NVLink joins neighbours alone", whyScatter: ", and NVLink joins neighbours alone"},
		{name: "neighbours", world: sim.Config{NVLink: around, PeerAccess: around}, apart: true,
			gather: "allgatherlinearringbackward", scatter: "linearreducescatterring",
			group: "NVLink joins neighbours alone" + rings + "; plans by NCCL and by rings alone, since rank 0 can't " +
				"map rank 2's memory"},
		{name: "neighbours by PCIe", world: sim.Config{NVLink: never, PeerAccess: around}, apart: true,
			gather: "allgatherlinearringget", scatter: "linearreducescatterring", why: apart,
			group: "; plans by NCCL and by rings alone, since rank 0"},
		{name: "two pairs and PCIe", world: sim.Config{NVLink: func(a, b int) bool { return a/2 == b/2 }},
			gather: gather, scatter: "linearreducescatterget", whyScatter: puts,
			group: "NVLink joins some pairs, and PCIe the others" + bare},
		{name: "none", world: sim.Config{PeerAccess: never}, apart: true, gather: "allgatherlinearnccl",
			scatter: "linearreducescatternccl", why: apart,
			group: "plans by NCCL alone, since rank 0 can't map rank 1's memory"},
		{name: "a small arena", arena: small, refuses: "set Config.Arena to at least",
			refuses2: "with Config.FallBack it takes memory of its own"},
		{name: "a small arena, and NCCL", arena: small, fallBack: true, gather: "allgatherlinearnccl",
			scatter: "linearreducescatternccl", group: "NVLink joins every pair",
			why:        "and allgatherlinear does not serve: lay out staging: the arena has",
			whyScatter: "missing (set Config.Arena to at least"},
	} {
		t.Run(x.name, func(t *testing.T) {
			if x.arena == 0 {
				x.arena = simtest.Arena
			}
			run := func(p *Program, s Shape) (said string, err error) {
				x.world.Devices = 4
				c := simtest.Config{Config: x.world, Change: func(c *group.Config) {
					c.Apart, c.FallBack, c.Arena = x.apart, x.fallBack, x.arena
				}}
				synctest.Test(t, func(t *testing.T) {
					err = simtest.Run(t.Context(), c, func(ctx context.Context, g *group.Group) error {
						if g.Rank() == 0 {
							said = g.Choice()
						}
						return Check(ctx, g, p, s, 1)
					})
				})
				return said, err
			}
			var mu sync.Mutex // the ranks are goroutines
			choices := map[string]bool{}
			seen := func(c plan.Choice) {
				mu.Lock()
				defer mu.Unlock()
				choices[c.String()] = true
			}
			shape := Shape{M: 16, K: 16, N: 24, Type: driver.BF16}
			for _, o := range []struct {
				program   *Program
				want, why string
			}{{untuned(seen), x.gather, x.why}, {untunedScatter(seen), x.scatter, x.whyScatter}} {
				clear(choices)
				said, err := run(o.program, shape)
				var none *plan.NoChoiceError
				if x.refuses != "" {
					if !errors.As(err, &none) || !strings.Contains(err.Error(), x.refuses) ||
						o.want == gather && !strings.Contains(err.Error(), x.refuses2) {
						t.Errorf("%v, want %q and %q", err, x.refuses, x.refuses2)
					}
					continue
				}
				if err != nil {
					t.Error(err)
				}
				if !strings.Contains(said, x.group) {
					t.Errorf("the group says %q, want %q", said, x.group)
				}
				for c := range choices {
					if len(choices) != 1 || !strings.HasPrefix(c, o.want+": ") || !strings.Contains(c, o.why) {
						t.Errorf("chosen: %s\nwant %s, %q", c, o.want, o.why)
					}
				}
			}
		})
	}
}

// untuned is the all-gather and product without a tuning.
func untuned(seen func(plan.Choice)) *Program {
	return tunedTo(seen, nil)
}

// untunedScatter is the product and reduce-scatter without a tuning.
func untunedScatter(seen func(plan.Choice)) *Program {
	return ofKindPtr("linear", Program{Name: "tuned", Types: []driver.Type{driver.BF16},
		Schedule: of(tensor("A", inM, columnsK), tensor("B", inN, columnsK), tensor("C", rows, inN)),
		New: func(ctx context.Context, g *group.Group, s Shape) (Plan, error) {
			p, err := tuned.NewLinearReduceScatter(ctx, g, nil, linearreducescatter.Shape{M: s.M, K: s.K, N: s.N,
				Type: s.Type})
			if err != nil {
				return nil, err
			}
			seen(p.Choice())
			return scattered{p}, nil
		}})
}
