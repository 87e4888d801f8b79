package stages

import (
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// MadeIn is the memory in which the rank's own columns of a result are made, if all are gathered; else the name itself.
func (c *Chain) MadeIn(name string) string {
	if c.widened(name) {
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

// RowExtent is the extent of the rows of a tensor.
func (c *Chain) RowExtent(name string) schedule.Extent { return c.Schedule.RowExtent(name) }

// RowAxis is the axis of a tensor's rows: each rank's own, or all.
func (c *Chain) RowAxis(of string, own bool) schedule.Axis {
	rows := schedule.Dim(c.RowExtent(of))
	if own {
		rows.Outer = []schedule.Split{schedule.DIDx(schedule.D)}
	}
	return rows
}

// ColumnsOf is the axis of a tensor's columns. Of a tensor that is not declared each rank has what operations leave.
func (c *Chain) ColumnsOf(name string) schedule.Axis {
	if t, declared := c.Schedule.Tensor(name); declared {
		return t.Axes[len(t.Axes)-1]
	}
	columns := schedule.Dim(c.Schedule.ExtentMade(name, schedule.Contraction.Columns))
	if c.At[name].Columns() {
		columns.Outer = []schedule.Split{schedule.DIDx(schedule.D)}
	}
	return columns
}

// InRowsOf is the memory of what operations make of rows, and of what functions read beside it.
func (c *Chain) InRowsOf(ops ...schedule.Op) (names []string) {
	for _, o := range ops {
		names = append(append(names, c.MadeIn(o.Out)), InRows(o.Then)...)
	}
	return names
}

// EachRows are the tensors of a stage, but for its input, that it reads or makes by the rows of one rank at a time.
func (c *Chain) EachRows(s *Stage) (names []string) {
	for _, t := range s.Terms {
		names = append(names, t.In[0])
	}
	for _, o := range s.Ops {
		if (o.Out != s.Sums || s.ToAll) && !s.AddsShares() {
			names = append(names, c.InRowsOf(o)...)
		}
	}
	return names
}

// InRows are the operands of functions that have the rows of what these are of. Partial results are in no memory of
// their own.
func InRows(list []schedule.Func) (names []string) {
	for _, f := range list {
		for _, x := range f.Operands() {
			if x.Lies != schedule.ByColumn && x.Lies != schedule.ByHead && !f.Joins {
				names = append(names, x.Tensor)
			}
		}
	}
	return names
}

// PartOf is the axis of the elements of a matrix, of which each rank has a part.
func PartOf(matrix schedule.Tensor) schedule.Axis {
	return schedule.Dim(matrix.Axes[0].Extent.Joined(matrix.Axes[1].Extent), schedule.DIDx(schedule.D))
}

// alike says that two tensors have the same parts on the same ranks. An axis in parts of one index is not cut.
func alike(t, other schedule.Tensor) bool {
	cuts := func(a schedule.Axis) []schedule.Split {
		return slices.DeleteFunc(slices.Clone(a.Outer), func(s schedule.Split) bool {
			return s.Kind == schedule.Plain && s.Count == a.Extent
		})
	}
	return t.Root == other.Root && slices.EqualFunc(t.Axes, other.Axes, func(a, b schedule.Axis) bool {
		return a.Extent == b.Extent && slices.Equal(cuts(a), cuts(b))
	})
}

// cutAs is a tensor in the parts of a state, without its type: hints say how to place it, and no more.
func cutAs(t schedule.Tensor, at edges.State) schedule.Tensor {
	t.Axes, t.Root, t.Type, t.Scale = slices.Clone(t.Axes), false, "", ""
	for i := range t.Axes {
		if t.Axes[i].Outer = nil; i != at.Axis-1 {
			continue
		}
		if at.Batches != "" {
			t.Axes[i].Outer = []schedule.Split{{Kind: schedule.Plain, Count: at.Batches}}
		}
		cut := schedule.DIDx(schedule.D)
		cut.Shift, cut.Balanced, cut.Uneven = at.Shift, at.Size == edges.Balanced, at.Size != edges.Even
		t.Axes[i].Outer = append(t.Axes[i].Outer, cut)
	}
	return t
}

// Tensor is a declared tensor; of another name: none.
func (c *Chain) Tensor(name string) schedule.Tensor {
	t, _ := c.Schedule.Tensor(name)
	return t
}

// Split is what spreads a tensor over the ranks; none where nothing does.
func (c *Chain) Split(name string) schedule.Split {
	t := c.Tensor(name)
	if axis, split, spread := t.Sharded(); spread {
		return t.Axes[axis].Outer[split]
	}
	return schedule.Split{}
}

// SplitPath is the path of a field of that, or of the tensor.
func (c *Chain) SplitPath(name, field string) string {
	axis, split, spread := c.Tensor(name).Sharded()
	if !spread {
		return c.PathOf(name)
	}
	return fmt.Sprintf("%s.Axes[%d].Outer[%d].%s", c.PathOf(name), axis, split, field)
}

// PathOf is the path of a declared tensor, or of all.
func (c *Chain) PathOf(tensor string) string {
	i := slices.IndexFunc(c.Schedule.Tensors, func(t schedule.Tensor) bool { return t.Name == tensor })
	if i < 0 {
		return "Tensors"
	}
	return fmt.Sprintf("Tensors[%d]", i)
}

// rowsOf is where the rows of a tensor are that has all columns there.
func rowsOf(s edges.State) edges.State {
	if s.Rows() {
		return s
	}
	return edges.State{}
}

// manyAxes says that a tensor has more axes than rows and columns.
func (c *Chain) manyAxes(name string) bool { return len(c.Tensor(name).Axes) > 2 }

// inMatrix is where the rows and columns of a tensor are.
func (c *Chain) inMatrix(name string, at edges.State) edges.State {
	if n := len(c.Tensor(name).Axes); n > 2 && at.Axis < n {
		at.Axis = min(at.Axis, 1)
	}
	return at
}

// lieAlike says that a rank has the same places of the axes as of others that are as many or fewer; axes that no rank
// has a part of lie alike in whatever steps they are made.
func lieAlike(axes, others []schedule.Axis) bool {
	others = append(slices.Clone(others), make([]schedule.Axis, max(len(axes)-len(others), 0))...)
	return slices.EqualFunc(axes, others[:len(axes)], func(a, b schedule.Axis) bool {
		return slices.Equal(ranksOf(a), ranksOf(b))
	})
}

// ranksOf are the splits of an axis that say which parts of it a rank has.
func ranksOf(a schedule.Axis) []schedule.Split {
	if !slices.ContainsFunc(a.Outer, func(s schedule.Split) bool { return s.Kind == schedule.DeviceX }) {
		return nil
	}
	return a.Outer
}
