package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// LinearPartial is Linear of operands whose K is spread over the ranks, before the ranks' results are added: Out
// [D,M,N] has the summand of each rank. It is memory of the plan, from which a Copy with Quantise makes codes for a
// Sum.
func LinearPartial(out, a, b string) Op {
	return Op{Out: out, In: []string{a, b}, Index: "mk,nk->dmn"}
}

// OfPartials reports whether the operation is a LinearPartial: only the result has the index of ranks.
func (o Op) OfPartials() bool {
	in, out, _ := strings.Cut(o.Index, "->")
	ranks := string(ranksLetter)
	return o.Call == "" && len(o.In) == 2 && strings.HasPrefix(out, ranks) && !strings.Contains(in, ranks)
}

// Multiplied is an extent whose parts on the ranks have the counts that Bind takes, if products or calls take all of
// it, without padding.
func (s Schedule) Multiplied() (e Extent, ok bool) {
	padded := func(m Move) bool { return FactsOf(m.Way).Padded }
	multiplies := func(o Op) bool { return len(o.In) == 2 && o.Call == "" || o.Call != "" && !s.OfOwnRows(o) }
	if slices.ContainsFunc(s.Moves, padded) || !slices.ContainsFunc(s.Ops, multiplies) {
		return "", false
	}
	for _, t := range s.Tensors {
		if axis, k, sharded := t.Sharded(); sharded && t.Axes[axis].Outer[k].Uneven && !t.Axes[axis].Outer[k].Balanced {
			return t.Axes[axis].Extent, true
		}
	}
	return "", false
}

// checkPartials refuses products of summands that no rank has, and readers that do anything but make codes of the
// summands.
func (s Schedule) checkPartials(v *validation) {
	for i, o := range s.Ops {
		if _, err := s.Contraction(o); err != nil || !o.OfPartials() {
			continue
		}
		path := fmt.Sprintf("Ops[%d]", i)
		at := slices.IndexFunc(s.Tensors, func(t Tensor) bool { return t.Name == o.Out })
		coded := func(x Op) bool {
			t, _ := s.Tensor(x.Out)
			return len(x.In) == 1 && x.In[0] == o.Out && t.Type.Coded()
		}
		switch j := slices.IndexFunc(s.Ops, func(x Op) bool { return x.Reads(o.Out) }); {
		case !s.sumsOverRanks(o):
			v.add(path+".Index", "spread it over the ranks in "+o.In[0]+" and "+o.In[1]+", or write schedule.Linear",
				"%s is the ranks' summands, and what they sum over is not spread over the ranks", o.Out)
		case len(o.Then) > 0:
			v.add(path+".Then", "apply it to the sum", "%s is the ranks' summands, which have no functions", o.Out)
		case at >= 0:
			v.add(fmt.Sprintf("Tensors[%d]", at), "leave it out", "the ranks' summands, %s, are memory of the plan",
				o.Out)
		case j >= 0 && (s.readers(o.Out) > 1 || !coded(s.Ops[j])):
			v.add(fmt.Sprintf("Ops[%d]", j), "make codes of "+o.Out+" by one schedule.Copy with schedule.Quantise(), "+
				"or make the sum by schedule.Linear", "each rank has a summand of its own in %s", o.Out)
		}
	}
}
