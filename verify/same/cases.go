package same

import (
	"maps"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/explore"
	"ovgen/verify/ops"
)

// Cases are meshes, on each division into hosts that a program takes, and shapes of it that two programs both fit: the
// smallest; primes times that, in two bytes an element; and where rows may be so few, one a rank.
func Cases(p, other *hostir.Program, ranks ...int) (list []ops.Case) {
	for _, d := range ranks {
		hosts := p.HostsOf(d)
		if !p.OverHosts() {
			hosts = []int{0}
		}
		for _, h := range hosts {
			small := explore.ShapeOf(p, d)
			small.Hosts = h
			for _, c := range []ops.Case{small, large(p, small), thin(p, small)} {
				for e := range p.Schedule.Constants() {
					delete(c.Extents, string(e))
				}
				divisible(p, c)
				divisible(other, c)
				if c.Fits(p) == nil && c.Fits(other) == nil {
					list = append(list, c)
				}
			}
		}
	}
	return list
}

// divisible makes extents multiples of what a program asks for.
func divisible(p *hostir.Program, c ops.Case) {
	for _, d := range p.Checks {
		by := d.Divisor(int64(c.Ranks), c.Env(p)["W"])
		if x := c.Extents[string(d.Extent)]; c.Counts == nil && by > 0 && x%by != 0 {
			c.Extents[string(d.Extent)] = x * by
		}
	}
}

// large is a case with each extent another prime times as large, M and P the same.
func large(p *hostir.Program, c ops.Case) ops.Case {
	c.Extents, c.Counts, c.ElementSize = maps.Clone(c.Extents), slices.Clone(c.Counts), 2
	for e, by := range map[string]int64{"M": 7, "P": 7, "K": 3, "N": 5, "F": 11} {
		c.Extents[e] *= by
	}
	for i := range c.Counts {
		c.Counts[i] *= 7
	}
	if _, balanced := p.Balanced(); balanced {
		c.Counts = nil // they follow from the extents
	}
	return c
}

// thin is a case of one row a rank; of balanced parts one rank has none. No other uneven parts fit it.
func thin(p *hostir.Program, c ops.Case) ops.Case {
	c.Extents = maps.Clone(c.Extents)
	c.Extents[string(schedule.M)] = int64(c.Ranks)
	switch _, balanced := p.Balanced(); {
	case balanced:
		c.Counts = nil
		c.Extents[string(schedule.M)] = int64(max(c.Ranks-1, 1))
	case c.Counts != nil:
		c.Extents[string(schedule.M)] = 0
	}
	return c
}
