package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Each rank computes its columns of the result into plan memory, then copies its peers' columns next to them. This
// serves column-parallel results that the caller wants whole, such as the logits of a vocabulary.

// columnsName ends the name of the memory of a rank's columns.
const columnsName = "columns"

// wantsColumns says that the caller wants all rows and columns of the result of a product whose weight is spread over
// the ranks by columns.
func wantsColumns(s schedule.Schedule) bool {
	return slices.ContainsFunc(s.Ops, func(o schedule.Op) bool {
		if kind(o.Name()) != linear || o.In[0] == o.In[1] {
			return false
		}
		weight, _ := s.Tensor(o.In[1])
		a, _ := s.Tensor(o.In[0])
		uneven := slices.ContainsFunc(a.Axes, func(x schedule.Axis) bool {
			return slices.ContainsFunc(x.Outer, func(p schedule.Split) bool { return p.Uneven })
		})
		return overRanks(weight, 0) && undividedMatrix(s, o.Out) && !uneven
	})
}

// undividedMatrix says that a tensor is declared with two axes, both whole on every rank.
func undividedMatrix(s schedule.Schedule, name string) bool {
	t, declared := s.Tensor(name)
	return declared && !t.Root && len(t.Axes) == 2 &&
		!slices.ContainsFunc(t.Axes, func(a schedule.Axis) bool { return len(a.Outer) > 0 })
}

// gathersColumns says that the columns of a result of the stage are gathered.
func (s *stage) gathersColumns() bool { return s.widened != "" }

// madeIn is the memory in which the rank's own columns of a result are made, if all are gathered; else the name itself.
func (w *writer) madeIn(name string) string {
	if w.any(func(s *stage) bool { return s.gathersColumns() && s.widened == name }) {
		return name + columnsName
	}
	return name
}

// widen copies the columns that the peers have made to their places in each row.
func (w *writer) widen(s *stage) []hostir.Node {
	if !s.gathersColumns() {
		return nil
	}
	word, own, peer := w.named(ready, s.widened), hostir.Whole(w.madeIn(s.widened)), hostir.Var("peer")
	return hostir.MovesOf(s.widened,
		hostir.Post(mainRef, word, every).Described("peers may read the own columns"),
		hostir.After(copyRef, mainRef),
		steps(hostir.Bind("peer", hostir.Ahead(step)),
			hostir.Wait(copyRef, word, peer),
			hostir.Set(copyRef, hostir.Columns(s.widened, peer), own.At(peer))),
		hostir.Set(mainRef, hostir.Columns(s.widened, hostir.Rank), own))
}

// overRanks says that an axis is spread over the ranks and not cut otherwise.
func overRanks(t schedule.Tensor, axis int) bool {
	return axis >= 0 && axis < len(t.Axes) &&
		slices.Equal(t.Axes[axis].Outer, []schedule.Split{schedule.DIDx(schedule.D)})
}
