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
		t, declared := d.schedule.Tensor(name)
		_, known := c.at[name]
		x, err := edges.Of(t), error(nil)
		// Behind the first operand, which has rows and columns, the caller's own tensors may have any axes.
		if known || k == 0 || !declared || len(t.Axes) == 2 {
			x, err = c.operand(d, name)
		} else if t.Root {
			err = d.misplaced(name, "let every rank have it", "no pass calls for a tensor on rank 0")
		}
		if err != nil {
			return err
		}
		in := fmt.Sprintf("%s.In[%d]", path, k)
		switch n := len(t.Axes); {
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
	c.at[o.Out] = done.Made
	if done.Made.Columns() && undividedMatrix(d.schedule, o.Out) {
		c.columns = append(c.columns, done.Edges[0])
		return nil
	}
	c.blame(cmp.Or(c.placed(d, o.Out, done.Made, false), done.Misfit))
	return nil
}

// endsWithin reports whether a chain may make a tensor in the memory of a caller's operand that has the same rows on
// each rank, so that the residual before a layer is the one behind it. It may where a product or a sum ends the chain,
// and for a call that takes the operand. An operand that a gradient adds to, a function reads in place, or a call takes
// may also lie in the memory of the result. The prover shows whether all other readers are done.
func (d *draft) endsWithin(t schedule.Tensor) bool {
	outer := d.tensor(t.Within)
	if place, _ := t.PlaceWithin(outer); place != schedule.AllOf {
		return false
	}
	if slices.ContainsFunc(d.schedule.Ops, func(o schedule.Op) bool {
		return o.Call != "" && (o.Out == t.Name && slices.Contains(o.In, outer.Name) ||
			o.Out == outer.Name && slices.Contains(o.In, t.Name))
	}) {
		return true
	}
	functions := func(o schedule.Op) bool {
		return len(o.Then) > 0 && (kind(o.Name()) == copied || d.schedule.Partial(o))
	}
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

func (d *draft) called(on hostir.StreamRef, o schedule.Op, l hostir.Launch) hostir.Step {
	var operands []hostir.View
	for _, name := range o.In {
		all := hostir.Whole(name)
		if d.program.At(name).Counts.Equal(hostir.Var(countChunk)) {
			all = hostir.Chunks(name, hostir.Const(0), hostir.Size)
		}
		operands = append(operands, all)
	}
	return hostir.CallOf(on, o.Call, l, hostir.Whole(d.madeIn(o.Out)), operands...)
}

// callTakes refuses operands of a call that lie otherwise than it takes them; at is where they are. A call on own rows
// takes those of the operands that have rows, and one of summands the rank's part along what it sums over: ranks would
// make the same summand, or parts that others have too.
func (d *draft) callTakes(path string, o schedule.Op, at []edges.State) error {
	c, _ := d.schedule.Contraction(o) // Validate has read it
	own, rows := d.schedule.OfOwnRows(o), string(c.Rows())
	spread := make([]string, len(at)) // the letters
	for k, x := range at {
		if x.Spread() && x.Axis <= len(c.In[k]) { // else the edges say so
			spread[k] = c.In[k][x.Axis-1 : x.Axis]
		}
		switch l := spread[k]; {
		case own && l == rows:
		case own && strings.Contains(c.In[k], rows):
			return d.unfit(path, o, k, "each rank has all rows of %s, and %s makes each rank's own",
				"let each rank have its own rows of it, or every rank all rows of the result")
		case x.Rows() && (l == rows || d.schedule.Made(o.In[k])):
			return d.takesRows(path, o, k)
		case l != "" && !own && !c.OfRanks() && !strings.Contains(c.Out, l) && undividedMatrix(d.schedule, o.Out):
			return d.unfit(path, o, k, "each rank has a part of the columns of %s, and nothing says which columns of "+
				o.Out+" %s makes of it", "let every rank have all of it")
		case l != "" && (own || c.OfRanks()) && strings.Contains(c.Out, l):
			which := []string{"rows", "columns"}[min(x.Axis-1, 1)]
			return d.unfit(path, o, k, "each rank has a part of the "+which+" of %s, and %s makes all of that axis",
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
	for k, in := range c.In {
		if spread[k] == "" && strings.Contains(in, along[:1]) {
			return d.unfit(path, o, k, "every rank has all of %s, and %s sums over a part of another operand",
				"spread both along that")
		}
	}
	return nil
}

func (d *draft) unfit(path string, o schedule.Op, i int, text, hint string) error {
	return refused(fmt.Sprintf("%s.In[%d]", path, i), hint, text, o.In[i], o.Call)
}

// takesRows refuses operand i of a call where each rank has rows of its own of it.
func (d *draft) takesRows(path string, o schedule.Op, i int) error {
	c, _ := d.schedule.Contraction(o)
	const text = "each rank has its own rows of %s, and %s takes all"
	made := slices.IndexFunc(o.In, d.schedule.Made)
	hint := fmt.Sprintf("do %s before the plan, and declare %s as an operand", o.Call, o.Out)
	switch {
	case c.OfRanks():
		hint = "let every rank have all rows of it"
	case made >= 0:
		hint = fmt.Sprintf("end the schedule with %s, and do %s behind its plan", o.In[made], o.Call)
	}
	if o.Makes == "" && !c.OfRanks() && c.In[i][0] == c.Rows() {
		hint = fmt.Sprintf("use schedule.CallRows, if %s can make each rank's rows of those; or %s", o.Call, hint)
	}
	return d.unfit(path, o, i, text, hint)
}
