package lower

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// call adds a stage of the caller's own work: on each rank it takes all rows of its operands and makes all
// rows of its result, of the rank's columns where it reads some of them.
func (c *chain) call(d *draft, path string, o schedule.Op) error {
	out := flow{}
	for i, name := range o.In {
		x, err := c.handed(d, name, i == 0)
		switch {
		case err != nil:
			return err
		case x.own:
			return &schedule.FieldError{Path: fmt.Sprintf("%s.In[%d]", path, i),
				Msg:  fmt.Sprintf("each rank has its own rows of %s, and %s takes all", name, o.Call),
				Hint: "make what it takes by a product of " + name + ", which gathers the rows"}
		}
		out.columns = out.columns || x.columns
	}
	c.stages = append(c.stages, stage{input: o.In[0], calls: true, ops: []schedule.Op{o}})
	c.at[o.Out] = out
	return c.placed(d, o.Out, out, false)
}

// handed is where what a call takes lies. Behind the first operand, which has rows and columns, the caller's own
// tensors may have any axes.
func (c *chain) handed(d *draft, name string, first bool) (flow, error) {
	t, declared := d.schedule.Tensor(name)
	if _, known := c.at[name]; known || first || !declared || len(t.Axes) == 2 {
		return c.operand(d, name)
	}
	if t.Root {
		return flow{}, d.misplaced(name, "no pass calls for a tensor on rank 0", "let every rank have it")
	}
	axis, _, sharded := t.Sharded()
	return flow{own: sharded && axis == 0, columns: sharded && axis > 0}, nil
}

// called is the step of a call.
func called(on hostir.StreamRef, o schedule.Op) hostir.Step {
	var operands []hostir.View
	for _, name := range o.In {
		operands = append(operands, hostir.Whole(name))
	}
	return hostir.CallOf(on, o.Call, hostir.Whole(o.Out), operands...)
}

// columnsOfCall is the axis of the columns of what a call makes: those of the operand of the same letter.
func (w *writer) columnsOfCall(o schedule.Op) schedule.Axis {
	c, _ := w.schedule.Contraction(o) // Validate has read it
	letter := c.Out[len(c.Out)-1:]
	i := slices.IndexFunc(c.In, func(in string) bool { return strings.HasSuffix(in, letter) })
	if i < 0 {
		return schedule.Axis{}
	}
	return w.columnsOf(o.In[i])
}
