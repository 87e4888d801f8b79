package lower

import (
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// Where nothing travels no rank asks which rows another one has. So all axes but the last are rows, at the same places
// in memory: a tensor of any number of axes is lowered as a matrix.

// nothingTravels says that nothing travels, and that no call asks for the axes of its operands.
func nothingTravels(s schedule.Schedule) bool {
	list, err := edges.All(s)
	return err == nil && len(list) == 0 && !slices.ContainsFunc(s.Ops, func(o schedule.Op) bool { return o.Call != "" })
}

// flat makes one axis of the rows of the operations that have several.
func (d *draft) flat(was schedule.Schedule) error {
	for i, o := range was.Ops {
		c, err := was.Contraction(o)
		if err != nil || len(c.Out) < 3 {
			continue
		}
		if o.Batched() {
			d.schedule.Ops[i].Index = hostir.Linear
		}
		list := []schedule.Operand{{Tensor: o.In[0], Lies: schedule.InPlace}, {Tensor: o.Out, Lies: schedule.InPlace}}
		for j, f := range o.Then {
			for _, x := range f.Operands() {
				if x.Lies == schedule.OfTable {
					hint := fmt.Sprintf("declare %s and %s with two axes, and %s with the rows of all batches", o.In[0],
						o.Out, x.Tensor)
					return refused(fmt.Sprintf("Ops[%d].Then[%d]", i, j), hint,
						"no kernel reads the rows of %s again for each batch", x.Tensor)
				}
				list = append(list, x)
			}
		}
		for _, x := range list {
			at := slices.IndexFunc(was.Tensors, func(t schedule.Tensor) bool { return t.Name == x.Tensor })
			if at >= 0 && (x.Lies == schedule.InPlace || x.Lies == schedule.ByRow) {
				d.schedule.Tensors[at] = rowsJoined(was.Tensors[at], len(c.Out)-1)
			}
		}
	}
	return nil
}

// rowsJoined is a tensor whose first n axes are one.
func rowsJoined(t schedule.Tensor, n int) schedule.Tensor {
	rows := t.Axes[0]
	for _, a := range t.Axes[1:n] {
		rows.Extent = rows.Extent.Joined(a.Extent)
		rows.Outer = append(slices.Clip(rows.Outer), a.Outer...)
	}
	t.Axes = append([]schedule.Axis{rows}, t.Axes[n:]...)
	return t
}
