package stages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// call adds a stage of the caller's own work: on each rank it takes all rows of its operands, or the rank's own, and
// makes all rows of its result, or the rank's, of the rank's columns where it reads some of them, or a summand of them.
func (c *inference) call(i int, o schedule.Op) error {
	var at []edges.State
	for k, name := range o.In {
		t, declared := c.Schedule.Tensor(name)
		_, known := c.At[name]
		x, err := edges.Of(t), error(nil)
		// Behind the first operand, which has rows and columns, the caller's own tensors may have any axes.
		if known || k == 0 || !declared || len(t.Axes) == 2 {
			x, err = c.operand(name)
		} else if t.Root {
			err = c.Misplaced(name, "let every rank have it", "no pass calls for a tensor on rank 0")
		}
		if err != nil {
			return err
		}
		in := fmt.Sprintf("%s.In[%d]", c.path, k)
		switch n := len(t.Axes); {
		case c.widened(name):
			return c.behindColumns(in, name, o.Out)
		case n > 2 && c.Schedule.Made(name):
			return refused(in, fmt.Sprintf("end the schedule with %s, and do %s behind its plan", name, o.Call),
				"no pass calls for what operations make with other axes than rows and columns, and %s has %d", name, n)
		}
		at = append(at, x)
	}
	if err := c.callTakes(c.path, o, at); err != nil {
		return err
	}
	c.add(&Stage{Input: o.In[0], Own: c.Schedule.OfOwnRows(o), Calls: true, Ops: []schedule.Op{o}})
	done, err := c.edges.Step(i)
	if err != nil {
		return err
	}
	c.At[o.Out] = done.Made
	if done.Made.Columns() && undividedMatrix(c.Schedule, o.Out) {
		c.columns = append(c.columns, done.Edges[0])
		return nil
	}
	c.blame(cmp.Or(c.placed(o.Out, done.Made, false), done.Misfit))
	return nil
}

// EndsWithin reports whether a chain may make a tensor in the memory of a caller's operand that has the same rows on
// each rank, so that the residual before a layer is the one behind it. It may where a product or a sum ends the chain,
// and for a call that takes the operand. An operand that a gradient adds to, a function reads in place, or a call takes
// may also lie in the memory of the result. The prover shows whether all other readers are done.
func (c *Chain) EndsWithin(t schedule.Tensor) bool {
	outer := c.Tensor(t.Within)
	if place, _ := t.PlaceWithin(outer); place != schedule.AllOf {
		return false
	}
	if slices.ContainsFunc(c.Schedule.Ops, func(o schedule.Op) bool {
		return o.Call != "" && (o.Out == t.Name && slices.Contains(o.In, outer.Name) ||
			o.Out == outer.Name && slices.Contains(o.In, t.Name))
	}) {
		return true
	}
	functions := func(o schedule.Op) bool {
		return len(o.Then) > 0 && (o.Name() == schedule.CopyWord || c.Schedule.Partial(o))
	}
	if o, ok := c.Schedule.Maker(outer.Name); ok && !c.Schedule.Made(t.Name) {
		return o.Added() == t.Name && o.Name() == schedule.GradientWord ||
			functions(o) && o.In[0] != t.Name && slices.Contains(InRows(o.Then), t.Name)
	}
	o, made := c.Schedule.Maker(t.Name)
	beside := !slices.ContainsFunc(c.Schedule.Ops, func(x schedule.Op) bool {
		return slices.Contains(x.In, outer.Name)
	})
	return made && (len(o.In) == 2 || functions(o) && beside) && !c.Schedule.Made(outer.Name)
}

// callTakes refuses operands of a call that lie otherwise than it takes them; at is where they are. A call on own rows
// takes those of the operands that have rows, and one of summands the rank's part along what it sums over: ranks would
// make the same summand, or parts that others have too.
func (c *Chain) callTakes(path string, o schedule.Op, at []edges.State) error {
	letters, _ := c.Schedule.Contraction(o) // Validate has read it
	own, rows := c.Schedule.OfOwnRows(o), string(letters.Rows())
	spread := make([]string, len(at)) // the letters
	for k, x := range at {
		if x.Spread() && x.Axis <= len(letters.In[k]) { // else the edges say so
			spread[k] = letters.In[k][x.Axis-1 : x.Axis]
		}
		switch l := spread[k]; {
		case own && l == rows:
		case own && strings.Contains(letters.In[k], rows):
			return c.unfit(path, o, k, "each rank has all rows of %s, and %s makes each rank's own",
				"let each rank have its own rows of it, or every rank all rows of the result")
		case x.Rows() && (l == rows || c.Schedule.Made(o.In[k])):
			return c.takesRows(path, o, k)
		case l != "" && !own && !letters.OfRanks() && !strings.Contains(letters.Out, l) &&
			undividedMatrix(c.Schedule, o.Out):
			return c.unfit(path, o, k, "each rank has a part of the columns of %s, and nothing says which columns of "+
				o.Out+" %s makes of it", "let every rank have all of it")
		case l != "" && (own || letters.OfRanks()) && strings.Contains(letters.Out, l):
			which := []string{"rows", "columns"}[min(x.Axis-1, 1)]
			return c.unfit(path, o, k, "each rank has a part of the "+which+" of %s, and %s makes all of that axis",
				"let every rank have all of it")
		}
	}
	switch {
	case own && !slices.Contains(spread, rows):
		return refused(path+".Index", "use schedule.Call, or spread the rows of an operand",
			"%s makes each rank's rows, and no operand has some", o.Call)
	case o.Makes != schedule.Summands:
		return nil
	}
	along := strings.Join(spread, "") // the letters that operands are spread along
	if along == "" {
		return refused(path+".Index", "use schedule.Call, or spread the operands along it",
			"every rank has all of what %s sums over, so that nothing is to be added up", o.Call)
	}
	for k, in := range letters.In {
		if spread[k] == "" && strings.Contains(in, along[:1]) {
			return c.unfit(path, o, k, "every rank has all of %s, and %s sums over a part of another operand",
				"spread both along that")
		}
	}
	return nil
}

func (c *Chain) unfit(path string, o schedule.Op, i int, text, hint string) error {
	return refused(fmt.Sprintf("%s.In[%d]", path, i), hint, text, o.In[i], o.Call)
}

// takesRows refuses operand i of a call where each rank has rows of its own of it.
func (c *Chain) takesRows(path string, o schedule.Op, i int) error {
	letters, _ := c.Schedule.Contraction(o)
	const text = "each rank has its own rows of %s, and %s takes all"
	made := slices.IndexFunc(o.In, c.Schedule.Made)
	hint := fmt.Sprintf("do %s before the plan, and declare %s as an operand", o.Call, o.Out)
	switch {
	case letters.OfRanks():
		hint = "let every rank have all rows of it"
	case made >= 0:
		hint = fmt.Sprintf("end the schedule with %s, and do %s behind its plan", o.In[made], o.Call)
	case c.At[o.In[i]].Size == edges.Even:
		hint = fmt.Sprintf("gather %s by a schedule.Copy first; or %s", o.In[i], hint)
	}
	if o.Makes == "" && !letters.OfRanks() && letters.In[i][0] == letters.Rows() {
		hint = fmt.Sprintf("use schedule.CallRows, if %s can make each rank's rows of those; or %s", o.Call, hint)
	}
	return c.unfit(path, o, i, text, hint)
}
