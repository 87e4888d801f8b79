package programtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/launcher"
	"ovgen/verify/harness"
	"ovgen/verify/sampling"
	"ovgen/verify/sim"
	"ovgen/verify/simtest"
)

// Run runs a program in the seeded simulator, on the sizes from 2 to 4 ranks for which it is proven, in orders that the
// seed picks: eager, replayed and run, with fresh inputs. It compares every element and asks the simulator for races.
//
// The fewest ranks run every shape, the first in every type, and the others in one type each. More ranks run one shape
// in one type, in turn. If OVGEN_SOAK is set, all run every shape in every type. A program whose constants make it
// large runs only in its first type, at its plain shape and on the fewest ranks. Run skips tests that a build without
// cgo, or for another system than Linux, can't run.
func Run(t *testing.T, p harness.Program) {
	for i, ranks := range p.TestRanks() {
		for j, typ := range p.Types {
			shapes := p.TestShapes(typ, ranks)
			for n, s := range shapes {
				shown := i+n == 0 || (i+n)%len(p.Types) == j && (i == 0 || n == i%len(shapes))
				if p.Large(s, ranks) && i+j+n > 0 || !shown && !sampling.All() {
					t.Logf("not %d ranks, %s %s: it is large, or OVGEN_SOAK is not set", ranks, s, typ)
					continue
				}
				for _, hosts := range hostsOf(&p, ranks) {
					t.Run(fmt.Sprintf("%s, %s %s", placed(ranks, hosts), s, typ), func(t *testing.T) {
						for more := range seeds() {
							seed := uint64(10*ranks + n + 100*more)
							synctest.Test(t, func(t *testing.T) {
								switch err := runShape(t.Context(), &p, s, ranks, hosts, seed); {
								case sim.Missing() != nil &&
									errors.Is(err, driver.ErrUnavailable):
									t.Skip(err)
								case err != nil:
									t.Error(err)
								}
							})
						}
					})
				}
			}
		}
	}
}

// hostsOf are the numbers of hosts on which to run a program: the fewest above one or, if OVGEN_SOAK is set, all.
func hostsOf(p *harness.Program, ranks int) []int {
	if sampling.All() {
		return p.Schedule.HostsOf(ranks)
	}
	return []int{p.Schedule.FewestHosts(ranks)}
}

// placed is the number of ranks, and the number of hosts where there are several, as text.
func placed(ranks, hosts int) string {
	text := fmt.Sprintf("%d ranks", ranks)
	if hosts > 1 {
		text += fmt.Sprintf(" on %d hosts", hosts)
	}
	return text
}

// Each runs a test of every program, side by side; where OVGEN_SAMPLE is set, of one program in six.
func Each(t *testing.T, programs []harness.Program, test func(*testing.T, harness.Program)) {
	for i, p := range programs {
		t.Run(p.Name, func(t *testing.T) {
			sampling.Test(t, i, 6)
			t.Parallel()
			test(t, p)
		})
	}
}

// seeds is the number of seeds of each shape: one, or 50 if OVGEN_SOAK is set.
func seeds() int {
	if sampling.All() {
		return 50
	}
	return 1
}

// runShape returns the errors of all ranks, and the races.
func runShape(ctx context.Context, p *harness.Program, s harness.Shape, ranks, hosts int, seed uint64) error {
	meters := make([]*harness.Meter, ranks)
	each := ranks / hosts
	beside := func(from, to int) bool { return from/each == to/each }
	world := sim.Config{Devices: ranks, Seed: seed, PeerAccess: beside}
	c := simtest.Config{Config: world, Change: func(c *group.Config) {
		meters[c.Rank] = harness.NewMeter(c.Driver)
		c.Driver, c.Arena = meters[c.Rank], p.Arena(s, ranks)
		c.Host = launcher.PlayedHost(c.Rank, ranks, hosts)
	}}
	return simtest.Run(ctx, c, func(ctx context.Context, g *group.Group) error {
		return harness.Check(ctx, g, meters[g.Rank()].Metered(p), s, uint32(seed))
	})
}
