package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// Each rank computes its columns of the result into plan memory, and a stage of its own gathers those of all. This
// serves column-parallel results that the caller wants whole, such as the logits of a vocabulary.

// columnsName ends the name of the memory of a rank's columns.
const columnsName = "columns"

// gatherColumns ends a stage by one for each of its results that the caller wants with all columns.
func (c *chain) gatherColumns() {
	for _, e := range c.columns {
		c.stages = append(c.stages, &stage{input: e.Of + columnsName, into: e.Of, gathers: true, moved: e})
	}
	c.columns = nil
}

// gathersColumns says that a stage gathers the columns of a result, with which later stages may go on.
func (s *stage) gathersColumns() bool { return s.moved.Kind == edges.AllGather && s.moved.User < 0 }

// widened says that all columns of a tensor are gathered.
func (c *chain) widened(name string) bool {
	return slices.ContainsFunc(c.columns, func(e edges.Edge) bool { return e.Of == name }) ||
		slices.ContainsFunc(c.stages, func(s *stage) bool { return s.gathersColumns() && s.into == name })
}

// madeIn is the memory in which the rank's own columns of a result are made, if all are gathered; else the name itself.
func (d *draft) madeIn(name string) string {
	if d.chain.widened(name) {
		return name + columnsName
	}
	return name
}

// undividedMatrix says that a tensor is declared with two axes, both whole on every rank.
func undividedMatrix(s schedule.Schedule, name string) bool {
	t, declared := s.Tensor(name)
	return declared && !t.Root && len(t.Axes) == 2 &&
		!slices.ContainsFunc(t.Axes, func(a schedule.Axis) bool { return len(a.Outer) > 0 })
}

// overRanks says that an axis is spread over the ranks and not cut otherwise.
func overRanks(t schedule.Tensor, axis int) bool {
	return axis >= 0 && axis < len(t.Axes) &&
		slices.Equal(t.Axes[axis].Outer, []schedule.Split{schedule.DIDx(schedule.D)})
}
