package harness

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	_ "ovgen/generated/host"
	"ovgen/generated/linearreducescatter"
	"ovgen/generated/tuned"
	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/tuning"
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

// fabric is a world of four ranks, and what runs in it: the schedules of the all-gather and of the reduce-scatter, why,
// and what the group's Choice says; or, where none serves, what the errors of both say.
type fabric struct {
	name                          string
	world                         sim.Config
	apart, fallBack               bool
	arena                         int64
	gather, scatter               string
	why, whyScatter               string
	group                         string
	refusesGather, refusesScatter string
}

const (
	gathered = "allgatherlinear"
	summed   = "linearreducescatter"
	bare     = ", so programs that put and signal that by stream memory operations are refused"
	rings    = ", and rings come first where nothing was measured"
	puts     = "and linearreducescatter does not serve: linearreducescatter puts into peers' memory"
	apart    = "does not serve: allgatherlinear uses peers' memory, and ranks of this group can't map each other's"
)

var fabrics = []fabric{
	{name: "full", gather: gathered, scatter: summed, group: "NVLink joins every pair"},
	{name: "switches", world: sim.Config{Switched: true}, gather: gathered, scatter: summed,
		group: "NVLink joins every pair, by switches"},
	{name: "PCIe", world: sim.Config{NVLink: never}, gather: gathered, scatter: "linearreducescatterget",
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
		gather: gathered, scatter: "linearreducescatterget", whyScatter: puts,
		group: "NVLink joins some pairs, and PCIe the others" + bare},
	{name: "none", world: sim.Config{PeerAccess: never}, apart: true, gather: "allgatherlinearnccl",
		scatter: "linearreducescatternccl", why: apart,
		group: "plans by NCCL alone, since rank 0 can't map rank 1's memory"},
	{name: "a small arena", arena: small(), refusesGather: "with Config.FallBack it takes memory of its own",
		refusesScatter: "set Config.Arena to at least"},
	{name: "a small arena, and NCCL", arena: small(), fallBack: true, gather: "allgatherlinearnccl",
		scatter: "linearreducescatternccl", group: "NVLink joins every pair",
		why:        "and allgatherlinear does not serve: lay out staging: the arena has",
		whyScatter: "missing (set Config.Arena to at least"},
}

// small is an arena that has no room for staging.
func small() int64 { return group.ArenaBytes(256, 0) }

// TestFabrics: an operation that was not measured runs by the schedule that the fabric and the arena allow, right to
// the bit; Choice says which and why. Where none may, all ranks get an error that says why of each.
func TestFabrics(t *testing.T) {
	for _, x := range fabrics {
		t.Run(x.name, func(t *testing.T) {
			x.runs(t, untuned, x.gather, x.why, x.refusesGather)
			x.runs(t, untunedScatter, x.scatter, x.whyScatter, x.refusesScatter)
		})
	}
}

// runs holds one operation against what it should run by, or why it can't.
func (x fabric) runs(t *testing.T, operation func(seen func(tuning.Choice)) *Program, want, why, refuses string) {
	t.Helper()
	var mu sync.Mutex // the ranks are goroutines
	choices := map[string]bool{}
	said, err := x.run(t, operation(func(c tuning.Choice) {
		mu.Lock()
		defer mu.Unlock()
		choices[c.String()] = true
	}))
	if refuses != "" {
		if !errors.As(err, new(*tuning.NoChoiceError)) || !strings.Contains(err.Error(), refuses) || len(choices) > 0 {
			t.Errorf("%v, want %q; chosen: %v", err, refuses, choices)
		}
		return
	}
	if err != nil || len(choices) != 1 {
		t.Errorf("%v; chosen: %v", err, choices)
	}
	if !strings.Contains(said, x.group) {
		t.Errorf("the group says %q, want %q", said, x.group)
	}
	for c := range choices {
		if !strings.HasPrefix(c, want+": ") || !strings.Contains(c, why) {
			t.Errorf("chosen: %s\nwant %s, %q", c, want, why)
		}
	}
}

// run checks a program on the fabric, and returns what its group's Choice says.
func (x fabric) run(t *testing.T, p *Program) (said string, err error) {
	x.world.Devices = 4
	c := simtest.Config{Config: x.world, Change: func(c *group.Config) {
		c.Apart, c.FallBack, c.Arena = x.apart, x.fallBack, cmp.Or(x.arena, simtest.Arena)
	}}
	synctest.Test(t, func(t *testing.T) {
		err = simtest.Run(t.Context(), c, func(ctx context.Context, g *group.Group) error {
			if g.Rank() == 0 {
				said = g.Choice()
			}
			return Check(ctx, g, p, Shape{M: 16, K: 16, N: 24, Type: driver.BF16}, 1)
		})
	})
	return said, err
}

// untuned is the all-gather and product without a tuning.
func untuned(seen func(tuning.Choice)) *Program {
	return tunedTo(seen, nil, "")
}

// untunedScatter is the product and reduce-scatter without a tuning.
func untunedScatter(seen func(tuning.Choice)) *Program {
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
