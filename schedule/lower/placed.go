package lower

import (
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// placed holds the placement of a declared tensor against where its rows and columns are. In steps are
// results that are made a rank's rows at a time. A tensor of one axis has columns alone.
func (c *chain) placed(d *draft, name string, at edges.State, steps bool) error {
	t, declared := d.schedule.Tensor(name)
	if !declared {
		return nil
	}
	if at.Size != edges.Even && edges.Of(t) == at && at.Batches == "" {
		return nil // of any bound
	}
	if len(t.Axes) > 2 && name == c.op.Out && c.op.Call == "" {
		return d.plain(name) // an edge leads there, or none is asked for
	}
	if at.Cut != (edges.Cut{}) && len(d.schedule.Ops) == 1 && len(t.Axes) > 1 {
		return d.cutAlike(t, at, c.op)
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
	switch n := d.batchesOfProducts(); {
	case last == 0:
	case at.Rows() && inBatchesOf(t) > 0:
		want.Axes[0].Outer = t.Axes[0].Outer
	case at.Rows() && at.Batches != "":
		want.Axes[0].Outer = cutAs(t, at).Axes[0].Outer
	case !at.Rows() && steps && n > 0:
		rounds, err := d.roundSplits(t, n)
		if err != nil {
			return err
		}
		want.Axes[0].Outer = rounds
	case !at.Rows() && steps:
		want.Axes[0].Outer = []schedule.Split{schedule.Stream(schedule.D)}
	}
	if outer := t.Axes[0].Outer; steps && len(outer) > 1 && outer[1].Kind == schedule.StreamAxis &&
		len(want.Axes[0].Outer) == 1 {
		return d.batchesElsewhere(name)
	}
	inItsSteps := name != c.op.Out && alike(t, d.tensor(c.op.Out)) && lieAlike(t.Axes, want.Axes)
	if !alike(t, want) && !inItsSteps {
		return d.misplaced(name, "place it "+d.written(want), "%s is %s, and the operations leave it otherwise: %s",
			name, d.written(t), d.asked(c.op))
	}
	return nil
}

// cutAlike refuses a tensor beside sums, or the sums, in other parts than theirs: of rows of each batch, or balanced.
func (d *draft) cutAlike(t schedule.Tensor, at edges.State, op schedule.Op) error {
	switch {
	case inBatchesOf(t) > 0 && t.Axes[0].Outer[0].Kind != schedule.Plain:
		return d.misplaced(t.Name, "write it "+cutAs(t, at).String(), "%s is %s, and sums are not made in steps",
			t.Name, written(t))
	case edges.Of(t) != at:
		return d.misplacedIn(t.Name, at, "%s is %s, and the operations leave it otherwise: %s", t.Name, d.written(t),
			op)
	case inBatchesOf(t) > 0:
		return nil
	}
	return d.plain(t.Name)
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

func (d *draft) misplaced(tensor, hint, format string, args ...any) error {
	return refused(d.pathOf(tensor), hint, format, args...)
}

// misplacedIn is the refusal of a placement, where the operations ask for another state.
func (d *draft) misplacedIn(tensor string, at edges.State, format string, args ...any) error {
	return d.misplaced(tensor, "place it "+d.written(cutAs(d.tensor(tensor), at)), format, args...)
}

func (d *draft) tensor(name string) schedule.Tensor {
	t, _ := d.schedule.Tensor(name)
	return t
}

// split is what spreads a tensor over the ranks; none where nothing does.
func (d *draft) split(name string) schedule.Split {
	t := d.tensor(name)
	if axis, split, spread := t.Sharded(); spread {
		return t.Axes[axis].Outer[split]
	}
	return schedule.Split{}
}

// splitPath is the path of a field of that, or of the tensor.
func (d *draft) splitPath(name, field string) string {
	axis, split, spread := d.tensor(name).Sharded()
	if !spread {
		return d.pathOf(name)
	}
	return fmt.Sprintf("%s.Axes[%d].Outer[%d].%s", d.pathOf(name), axis, split, field)
}

// pathOf is the path of a declared tensor, or of all.
func (d *draft) pathOf(tensor string) string {
	i := slices.IndexFunc(d.schedule.Tensors, func(t schedule.Tensor) bool { return t.Name == tensor })
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

// Tensors of more axes than rows and columns are exchanged, and functions are made of what comes. All axes but the last
// are then rows, of which each rank has some, and what a function reads lies as its result does.

func (d *draft) manyAxes(name string) bool { return len(d.tensor(name).Axes) > 2 }

// inMatrix is where the rows and columns of a tensor are.
func (d *draft) inMatrix(name string, at edges.State) edges.State {
	if n := len(d.tensor(name).Axes); n > 2 && at.Axis < n {
		at.Axis = min(at.Axis, 1)
	}
	return at
}

// besideAxes refuses an operand of a function of such a result that does not lie where the result's elements are.
func (d *draft) besideAxes(path string, o schedule.Op, x schedule.Operand) error {
	t, out := d.tensor(x.Tensor), d.tensor(o.Out)
	columns := len(out.Axes) - 1
	beside := map[schedule.Lies][]schedule.Axis{schedule.InPlace: out.Axes, schedule.ByColumn: out.Axes[columns:],
		schedule.ByRow: out.Axes[:columns]}[x.Lies]
	switch {
	case d.uneven(o.Out) && x.Lies != schedule.InPlace:
		return refused(path, d.endBefore(o, 0), "parts of %s are by counts of elements, and have no columns for %s",
			o.Out, x.Tensor)
	case x.Lies == schedule.OfTable:
		return refused(path, d.endBefore(o, 0), "no kernel reads the rows of %s again for each index of the first axis",
			x.Tensor)
	case t.Root || !lieAlike(t.Axes, beside):
		want := cutAs(t, edges.State{})
		for i := range min(len(want.Axes), len(beside)) {
			want.Axes[i].Outer = beside[i].Outer
		}
		return d.misplaced(t.Name, "place it "+written(want), "%s is %s, and the operations leave it otherwise: %s",
			t.Name, written(t), d.asked(o))
	}
	return nil
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
