package lower

import (
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// Tensors of more axes than rows and columns are exchanged, and functions are made of what comes. All axes but the last
// are then rows, of which each rank has some, and what a function reads lies as its result does.

// manyAxes says that a tensor has more axes than rows and columns.
func (d *draft) manyAxes(name string) bool { return len(d.tensor(name).Axes) > 2 }

// inMatrix is where the rows and columns of a tensor are.
func (d *draft) inMatrix(name string, at edges.State) edges.State {
	if n := len(d.tensor(name).Axes); n > 2 && at.Axis < n {
		at.Axis = min(at.Axis, 1)
	}
	return at
}

// declareAxes declares what functions make of such tensors, or of balanced rows, and the caller does not get.
func (d *draft) declareAxes() {
	for _, o := range d.schedule.Ops {
		_, declared := d.schedule.Tensor(o.Out)
		t := d.tensor(o.In[0])
		odd := len(t.Axes) > 2 || edges.Of(t).Size == edges.Balanced
		if kind(o.Name()) == copied && len(o.Then) > 0 && !declared && odd {
			t.Name, t.Type, t.Scale, t.Within = o.Out, "", "", ""
			d.schedule.Tensors = append(slices.Clip(d.schedule.Tensors), t)
		}
	}
}

// besideAxes refuses an operand of a function of such a result that does not lie where the result's elements are.
func (d *draft) besideAxes(path string, o schedule.Op, x schedule.Operand) error {
	t, out := d.tensor(x.Tensor), d.tensor(o.Out)
	columns := len(out.Axes) - 1
	beside := map[schedule.Lies][]schedule.Axis{schedule.InPlace: out.Axes, schedule.ByColumn: out.Axes[columns:],
		schedule.ByRow: out.Axes[:columns]}[x.Lies]
	switch {
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
