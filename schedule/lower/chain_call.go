package lower

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// call adds a stage of the caller's own work: on each rank it takes all rows of its operands, or the rank's own, and
// makes all rows of its result, or the rank's, of the rank's columns where it reads some of them, or a summand of them.
func (c *chain) call(d *draft, i int, path string, o schedule.Op) error {
	var at []edges.State
	for k, name := range o.In {
		x, err := c.handed(d, name, k == 0)
		if err != nil {
			return err
		}
		in := fmt.Sprintf("%s.In[%d]", path, k)
		switch n := len(d.tensor(name).Axes); {
		case c.widened(name):
			return d.behindColumns(in, name, o.Out)
		case n > 2 && d.schedule.Made(name):
			return refused(in, fmt.Sprintf("end the schedule with %s, and do %s behind its plan", name, o.Call),
				"no pass calls for what operations make with other axes than rows and columns, and %s has %d", name, n)
		}
		at = append(at, x)
	}
	l, err := hostir.LaunchOf(d.schedule, path+".Kernel", o.Kernel)
	if err = cmp.Or(d.callTakes(path, o, at), err); err != nil {
		return err
	}
	c.add(&stage{input: o.In[0], own: d.schedule.OfOwnRows(o), calls: true, launch: l, ops: []schedule.Op{o}})
	done, err := c.edges.Step(i)
	if err != nil {
		return err
	}
	if len(done.Edges) > 0 && done.Edges[0].Of != o.Out {
		return d.takesRows(path, o, slices.Index(o.In, done.Edges[0].Of))
	}
	c.at[o.Out] = done.Made
	if done.Made.Columns() && undividedMatrix(d.schedule, o.Out) {
		c.columns = append(c.columns, done.Edges[0])
		return nil
	}
	c.blame(cmp.Or(c.placed(d, o.Out, done.Made, false), done.Misfit))
	return nil
}

// handed is the place of an operand of a call. Behind the first operand, which has rows and columns, the caller's own
// tensors may have any axes.
func (c *chain) handed(d *draft, name string, first bool) (edges.State, error) {
	t, declared := d.schedule.Tensor(name)
	if _, known := c.at[name]; known || first || !declared || len(t.Axes) == 2 {
		return c.operand(d, name)
	}
	if t.Root {
		return edges.State{}, d.misplaced(name, "let every rank have it", "no pass calls for a tensor on rank 0")
	}
	return edges.Of(t), nil
}

// calledWithin reports whether a call makes a tensor where an operand of its own is, all of it, or takes it so.
func (d *draft) calledWithin(t schedule.Tensor) bool {
	outer := d.tensor(t.Within)
	place, _ := t.PlaceWithin(outer)
	return place == schedule.AllOf && slices.ContainsFunc(d.schedule.Ops, func(o schedule.Op) bool {
		return o.Call != "" && (o.Out == t.Name && slices.Contains(o.In, outer.Name) ||
			o.Out == outer.Name && slices.Contains(o.In, t.Name))
	})
}

// endsWithin reports whether a chain makes a tensor where an operand of the caller's is that has the same rows on each
// rank: the residual before a layer is then the one behind it. The prover shows whether its readers are done. So does a
// gradient with what it adds, and functions of what has come elsewhere with what they read in place.
func (d *draft) endsWithin(t schedule.Tensor) bool {
	outer := d.tensor(t.Within)
	place, _ := t.PlaceWithin(outer)
	if place != schedule.AllOf {
		return false
	}
	functions := func(o schedule.Op) bool { return kind(o.Name()) == copied && len(o.Then) > 0 }
	if o, ok := d.schedule.Maker(outer.Name); ok && !d.schedule.Made(t.Name) {
		return o.Added() == t.Name && kind(o.Name()) == gradient ||
			functions(o) && o.In[0] != t.Name && slices.Contains(inRows(o.Then), t.Name)
	}
	o, made := d.schedule.Maker(t.Name)
	beside := !slices.ContainsFunc(d.schedule.Ops, func(x schedule.Op) bool {
		return slices.Contains(x.In, outer.Name)
	})
	return made && d.chain != nil && (len(o.In) == 2 || functions(o) && beside) && !d.schedule.Made(outer.Name)
}

// called is the step of a call.
func (d *draft) called(on hostir.StreamRef, o schedule.Op, l hostir.Launch) hostir.Step {
	var operands []hostir.View
	for _, name := range o.In {
		operands = append(operands, hostir.Whole(name))
	}
	return hostir.CallOf(on, o.Call, l, hostir.Whole(d.madeIn(o.Out)), operands...)
}

// columnsOfCall is the axis of the columns of a call's result: that of an operand with the same letter.
func (d *draft) columnsOfCall(o schedule.Op) schedule.Axis {
	c, _ := d.schedule.Contraction(o) // Validate has read it
	letter := c.Out[len(c.Out)-1:]
	for i, in := range c.In {
		at := strings.Index(in, letter)
		t, declared := d.schedule.Tensor(o.In[i])
		switch {
		case at < 0:
		case declared:
			return t.Axes[at]
		case at > 0:
			return d.columnsOf(o.In[i])
		}
	}
	return schedule.Axis{}
}
