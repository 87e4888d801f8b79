package stages

import (
	"fmt"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// placed holds the placement of a declared tensor against where its rows and columns are. In steps are
// results that are made a rank's rows at a time. A tensor of one axis has columns alone.
func (c *inference) placed(name string, at edges.State, steps bool) error {
	t, declared := c.Schedule.Tensor(name)
	if !declared {
		return nil
	}
	if at.Size != edges.Even && edges.Of(t) == at && at.Batches == "" {
		return nil // of any bound
	}
	if len(t.Axes) > 2 && name == c.op.Out && c.op.Call == "" {
		return c.plain(name) // an edge leads there, or none is asked for
	}
	if at.Cut != (edges.Cut{}) && len(c.Schedule.Ops) == 1 && len(t.Axes) > 1 {
		return c.cutAlike(t, at, c.op)
	}
	last := len(t.Axes) - 1
	if at.Columns() {
		at.Axis = last + 1
	} else if last == 0 {
		at = edges.State{}
	}
	even := at
	even.Cut = edges.Cut{Shift: at.Shift}
	want := cutAs(t, even)
	if last > 1 {
		copy(want.Axes[1:last], t.Axes[1:last]) // they are as they are
	}
	switch {
	case last == 0:
	case at.Rows() && inBatchesOf(t) > 0 && (at.Batches != "" || name != c.op.Out): // else no edge leads to these
		want.Axes[0].Outer = t.Axes[0].Outer
	case at.Rows() && at.Batches != "":
		want.Axes[0].Outer = cutAs(t, at).Axes[0].Outer
	case !at.Rows() && steps && c.InBatches(t.Axes[0].Extent):
		rounds, err := c.roundSplits(t)
		if err != nil {
			return err
		}
		want.Axes[0].Outer = rounds
	case !at.Rows() && steps:
		want.Axes[0].Outer = []schedule.Split{schedule.Stream(schedule.D)}
	}
	if outer := t.Axes[0].Outer; steps && len(outer) > 1 && outer[1].Kind == schedule.StreamAxis &&
		len(want.Axes[0].Outer) == 1 {
		return c.stepsElsewhere(want)
	}
	inItsSteps := name != c.op.Out && alike(t, c.Tensor(c.op.Out)) && lieAlike(t.Axes, want.Axes)
	if !alike(t, want) && !inItsSteps {
		return c.Misplaced(name, "place it "+c.written(want), "%s is %s, and the operations %s it otherwise: %s",
			name, c.written(t), c.leaveOrTake(name), c.asked(c.op))
	}
	return nil
}

// cutAlike refuses a tensor beside sums, or the sums, in other parts than theirs: of rows of each batch, or balanced.
func (c *Chain) cutAlike(t schedule.Tensor, at edges.State, op schedule.Op) error {
	switch {
	case inBatchesOf(t) > 0 && t.Axes[0].Outer[0].Kind != schedule.Plain:
		return c.Misplaced(t.Name, "write it "+cutAs(t, at).String(), "%s is %s, and sums are not made in steps",
			t.Name, written(t))
	case edges.Of(t) != at:
		return c.MisplacedIn(t.Name, at, "%s is %s, and the operations %s it otherwise: %s", t.Name, c.written(t),
			c.leaveOrTake(t.Name), op)
	case inBatchesOf(t) > 0:
		return nil
	}
	return c.plain(t.Name)
}

// leaveOrTake is what operations do with a tensor: they leave a result somewhere, and take an operand there.
func (c *Chain) leaveOrTake(name string) string {
	if c.Schedule.Made(name) {
		return "leave"
	}
	return "take"
}

// Misplaced is the refusal of a tensor's placement.
func (c *Chain) Misplaced(tensor, hint, format string, args ...any) error {
	return refused(c.PathOf(tensor), hint, format, args...)
}

// MisplacedIn is the refusal of a placement, where the operations ask for another state. Of a result that is not
// declared it is that of the operation.
func (c *Chain) MisplacedIn(tensor string, at edges.State, format string, args ...any) error {
	tensor = c.DeclaredAs(tensor)
	t, declared := c.Schedule.Tensor(tensor)
	if declared {
		return c.Misplaced(tensor, "place it "+c.written(cutAs(t, at)), format, args...)
	}
	t.Name = tensor
	t.Axes = []schedule.Axis{schedule.Dim(c.RowExtent(tensor)), schedule.Dim(c.ColumnsOf(tensor).Extent)}
	return refused(fmt.Sprintf("Ops[%d]", c.indexOf(schedule.Op{Out: tensor})),
		fmt.Sprintf("declare %s %s", tensor, c.written(cutAs(t, at))), format, args...)
}

// Tensors of more axes than rows and columns are exchanged, and functions are made of what comes. All axes but the last
// are then rows, of which each rank has some, and what a function reads lies as its result does.
