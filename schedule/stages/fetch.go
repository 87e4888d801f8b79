package stages

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// A product may need all of an operand that is spread over the ranks otherwise than by the rows of its result: a
// weight, or an operand that is spread along what is summed over. No part of the result needs a part of that alone, so
// it comes whole before the product. Weights have stages of their own: the copy engine brings those of later products
// while earlier ones are made.

// fetches are the edges of operands that come whole before products, by the operand.
func fetches(s schedule.Schedule) map[string]edges.Edge {
	list, err := edges.All(s)
	if err != nil {
		return nil
	}
	found := map[string]edges.Edge{}
	for _, e := range list {
		if e.User < 0 || e.Kind != edges.AllGather || e.From.Cut != (edges.Cut{}) {
			continue
		}
		o := s.Ops[e.User]
		if e.From.Columns() && s.Made(o.In[0]) {
			continue // the proof does not cut the columns that an operation makes
		}
		columns := e.Of != o.In[0] || e.From.Columns()
		if o.Multiplies() && o.Name() != schedule.GradientWord && columns && !s.Made(e.Of) {
			found[e.Of] = e
		}
	}
	return found
}

// Fetched says that an operand of a product comes whole.
func (c *Chain) Fetched(name string) bool {
	_, comes := c.fetches[name]
	return comes
}

// ColumnsOfWeight is the axis of a linear's weight that its result has for columns: all of it, if that is fetched.
func (c *Chain) ColumnsOfWeight(o schedule.Op) schedule.Axis {
	columns := c.Tensor(o.In[1]).Axes[0]
	if c.Fetched(o.In[1]) {
		columns.Outer = nil
	}
	return columns
}

// fetch adds the stages of the weights that come whole before operation i, and says whether its first operand does.
func (c *inference) fetch(i int, o schedule.Op, done edges.Step) (first bool, err error) {
	for _, name := range o.In[1:] {
		e, comes := c.fetches[name]
		if !comes || e.User != i {
			continue
		}
		c.add(&Stage{Input: name, Gathers: true, Moved: e})
		if o.Name() == schedule.MatmulWord && e.From.Axis != columnsAt(o)+1 {
			err = c.Misplaced(name, "spread its columns by schedule.DIDx(schedule.D), or nothing",
				"no proof cuts a matmul by rows of %s that come: %s", name, o)
		}
		err = cmp.Or(err, c.plain(name))
	}
	e, first := c.fetches[o.In[0]]
	switch {
	case !first || !o.Multiplies():
		return false, err
	case done.Made.Partial:
		err = refused(fmt.Sprintf("Ops[%d].In[0]", i), inTwo(c.Schedule, i),
			"%s sums over %s where its parts are, and another operation gathers it", o.Out, o.In[0])
	case e.From.Columns() && o.Name() != schedule.LinearWord:
		err = c.Misplaced(o.In[0], "spread its rows by schedule.DIDx(schedule.D), or nothing",
			"no proof cuts a %s by columns of %s that come: %s", o.Name(), o.In[0], o)
	}
	return true, cmp.Or(err, c.plain(o.In[0]), c.plain(o.In[1]), c.everywhere(o.In[1]))
}

// The gradient of a weight sums over rows. Ranks that have the same rows of both operands make partial results; of an
// operand whose rows are spread alone each rank gathers the peers', and adds their share of the sum as they come.

// gradient is a stage of a weight's gradient.
func (c *inference) gradient(i int, o schedule.Op) error {
	done, err := c.edges.Step(i)
	if added := c.Schedule.With(o).Added(); c.Schedule.Made(added) && !done.Made.Partial {
		j := slices.IndexFunc(o.Then, func(f schedule.Func) bool { return f.Adds() == added })
		return refused(o.Then[j].PathOf(fmt.Sprintf("%s.Then[%d]", c.path, j), added), "name a tensor of the caller's",
			"no products of the gradient %s add to %s, which an operation makes", o.Out, added)
	}
	for _, name := range o.In {
		if !c.madeInSteps(name) { // else all of it is there, behind its steps
			err = cmp.Or(err, c.plain(name))
		}
	}
	if err = cmp.Or(err, c.everywhere(o.In...)); err != nil {
		return err
	}
	input, gathers := o.In[0], false
	for k, name := range o.In {
		x, _ := c.edges.At(name)
		switch _, declared := c.Schedule.Tensor(name); {
		case !declared && !x.Rows() && !done.Made.Partial && c.Schedule.Partial(o): // as what is declared says
			whole := schedule.Tensor{Axes: []schedule.Axis{schedule.Dim(c.RowExtent(name)), c.ColumnsOf(name)}}
			if c.madeInSteps(name) {
				whole.Axes[0].Outer = []schedule.Split{schedule.Stream(schedule.D)}
			}
			return refused(fmt.Sprintf("%s.In[%d]", c.path, k), fmt.Sprintf("declare %s %s", name, whole),
				"%s is not declared, and nothing says whether ranks add up products of their rows of %s or gather "+
					"these: each rank has all rows of %s", name, o.In[1-k], name)
		case x.Cut != (edges.Cut{}):
			return c.MisplacedIn(name, edges.Along(0),
				"no pass makes a gradient of rows of %s in other than equal parts: %s", name, o)
		case x.Columns() && slices.ContainsFunc(done.Edges, func(e edges.Edge) bool { return e.Of == name }):
			return c.MisplacedIn(name, edges.State{},
				"no pass gathers columns of %s for a gradient: %s", name, o)
		case x.Rows() && !done.Made.Partial:
			input, gathers = name, true
		}
	}
	for k, name := range o.In {
		if gathers && name != input && c.ofWidened(name) { // of which a rank's rows are taken
			return c.behindColumns(fmt.Sprintf("%s.In[%d]", c.path, k), name, o.Out)
		}
	}
	c.addOp(o, c.begin(input, gathers, false), done)
	return nil
}
