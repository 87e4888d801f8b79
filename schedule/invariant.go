package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// checkInvariant refuses choices by which the bits of a row depend on the rows beside it, or on the way that brings it.
func (s Schedule) checkInvariant(v *validation) {
	if !s.Invariant {
		return
	}
	if len(s.Mesh) > 0 {
		v.add("Mesh", "leave it out, or Invariant",
			"partial results of several hosts meet by NCCL, whose order is its own")
	}
	travelling := WaysThat(func(f Facts) bool { return f.Advised && f.Travels })
	forSums := WaysThat(func(f Facts) bool { return f.Advised && f.Sums })
	for i, m := range s.Moves {
		path := fmt.Sprintf("Moves[%d].Way", i)
		way := FactsOf(m.Way)
		sums := slices.ContainsFunc(s.Ops, func(o Op) bool { return o.Out == m.Of && s.Partial(o) })
		switch {
		case sums && way.Unordered:
			v.add(path, "take one that adds in the order of ranks, such as "+forSums+", or leave Invariant out",
				"%s adds partial results in an order that the place of a row, or NCCL, decides", WayName(m.Way))
		case way.Multiplies && s.FewRows > 0:
			other := travelling
			if sums {
				other = forSums
			}
			v.add(path, "use "+other+", or leave FewRows out",
				"%s adds up the depth as the library does, and the kernels of few rows in an order of their own",
				WayName(m.Way))
		}
	}
	s.checkOneSum(v)
	for i, o := range s.Ops {
		if o.Call != "" && !o.Invariant {
			v.add(fmt.Sprintf("Ops[%d].Invariant", i),
				"write .AsInvariant() behind the call if so, or leave Invariant out of the schedule",
				"nobody says that a row which %s makes has the same bits beside any number of rows", o.Call)
		}
		c, err := s.Contraction(o)
		if err == nil && o.Call == "" && len(c.In) == 2 && strings.Contains(c.Summed(), c.In[0][:1]) {
			v.add(fmt.Sprintf("Ops[%d]", i), "leave Invariant out", "%s is a sum over the rows of %s", o.Out, o.In[0])
		}
	}
}

// checkOneSum refuses ways by which partial results that one sum could add up meet in two, and are rounded twice.
func (s Schedule) checkOneSum(v *validation) {
	free := s
	free.Moves = nil
	for _, o := range s.Ops {
		for j, f := range o.Then {
			if !free.joins(o, j) || s.joins(o, j) {
				continue
			}
			for i, m := range s.Moves {
				if m.Of == f.Adds() || m.Of == o.Out && FactsOf(m.Way).OneProduct {
					v.add(fmt.Sprintf("Moves[%d]", i), "leave it out, or leave Invariant out",
						"it has %s and %s meet apart, and other ways round their sum once", f.Adds(), o.Out)
				}
			}
		}
	}
}
