package stages

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// Stages without products: they move what the caller has or an operation makes, or add up summands.

// copy is a stage that moves a tensor, and does nothing else.
func (c *inference) copy(i int, o schedule.Op) error {
	done, err := c.edges.Step(i)
	var e edges.Edge
	if len(done.Edges) > 0 { // there is one
		e = done.Edges[0]
	}
	t, declared := c.Schedule.Tensor(o.In[0])
	columns, gathers := e.From.Columns() || e.To.Columns(), e.Kind == edges.AllGather && e.From.Shift == 0
	x, _ := c.edges.At(o.In[0])
	switch alone := len(c.Schedule.Ops) == 1 || c.manyAxes(o.In[0]); {
	case alone || err == nil && e.Kind != "" && !columns && !gathers:
		err = cmp.Or(c.plain(o.In[0]), c.plain(o.Out))
		if alone && err == nil && e.Kind == "" {
			err = c.nowhere(o)
		}
	case err != nil:
	case e.Kind == "" && done.Left == x:
		err = c.asItIs(i, o, declared)
	case declared && gathers && !columns && ofProducts(c.Schedule, o.Out) && !byCounts(t) &&
		!alike(t, cutAs(t, edges.Along(0))):
		err = c.MisplacedIn(t.Name, edges.Along(0),
			"%s is %s, and what is made of %s comes of equal parts of its rows", t.Name, c.written(t), o.Out)
	case columns && gathers && c.came(c.Schedule, o.In[0]):
		err = ofItsOwn(c.Schedule, i, fmt.Sprintf("%s comes, and is gathered in parts of its columns", o.In[0]))
	}
	c.At[o.Out] = c.inMatrix(o.Out, done.Left)
	matrix := !declared || len(t.Axes) == 2
	uneven := matrix && e.From.Columns() && e.From.Cut != (edges.Cut{})
	switch {
	case err != nil || e.Kind == "":
		return err
	case uneven, !matrix && e.Kind != edges.AllToAll, done.Misfit != nil:
		return c.nowhere(o)
	}
	if err := c.movedOn(o, e); err != nil {
		return err
	}
	if e.Kind != edges.AllGather {
		c.addBehind(&Stage{Input: o.In[0], Into: o.Out, Gathers: true, Moved: e})
	} else if s := c.stage(o.In[0], true, false); e.From.Columns() || e.From.Shift != 0 { // else products may follow
		s.Moved = e
	}
	return nil
}

// asItIs refuses a copy of what is there already: of a result that nothing declares, which travels behind its maker.
func (c *Chain) asItIs(i int, o schedule.Op, declared bool) error {
	x, why := o.In[0], fmt.Sprintf("%s is %s as it is: nothing travels", o.Out, o.In[0])
	hint := fmt.Sprintf("declare %s where its ranks make it", x)
	switch _, placed := c.Schedule.Tensor(o.Out); {
	case declared && !placed:
		hint = fmt.Sprintf("declare %s where it goes", o.Out)
	case declared || !c.Schedule.Made(x):
		return ofItsOwn(c.Schedule, i, why)
	}
	return refused(fmt.Sprintf("Ops[%d]", i), hint, "%s", why)
}

// came says that a tensor, or what functions make it of, is a copy that has travelled.
func (c *inference) came(s schedule.Schedule, name string) bool {
	o, made := s.Maker(name)
	if !made || o.Name() != schedule.CopyWord {
		return false
	}
	from, _ := c.edges.At(o.In[0])
	to, _ := c.edges.At(name)
	return from != to || c.came(s, o.In[0])
}

// sum is a stage without operations: it adds up what the caller gives, or a call makes.
func (c *inference) sum(i int, o schedule.Op) error {
	done, err := c.edges.Step(i)
	given := c.Tensor(o.In[0])
	moved := done.Left.Columns() || done.Left.Shift != 0
	summands := len(given.Axes) == 3 && overRanks(given, 0) || given.Name == "" && c.CalledForSummands(o.In[0])
	if err != nil || done.Misfit != nil || moved || !summands {
		return c.nowhere(o)
	}
	if err := cmp.Or(c.plain(o.In[0]), c.plain(o.Out)); err != nil {
		return err
	}
	s := &Stage{Input: o.In[0]}
	if made, ok := c.Schedule.Maker(o.In[0]); ok && made.Call == "" {
		s.Input, s.Summand = made.In[0], made
	}
	if c.ofPartials(s.Input) && (done.Left.Batches != "" || done.Left.Shift != 0) {
		return c.MisplacedIn(o.Out, edges.Along(0),
			"%s is %s, and no product makes codes of rows that the ranks have so", o.Out, c.written(c.Tensor(o.Out)))
	}
	if last := len(c.Stages) - 1; c.ofPartials(s.Input) {
		c.Stages[last].Summand, s = s.Summand, c.Stages[last]
	} else {
		c.add(s)
	}
	s.Given = o.In[0]
	c.addOp(o, s, done)
	return nil
}

func (c *Chain) ofPartials(name string) bool {
	o, _ := c.Schedule.Maker(name)
	return o.OfPartials()
}

// summand is functions of summands of the caller's, or of a product's, which the stage of their sum makes. They read
// nothing beside.
func (c *inference) summand(i int, o schedule.Op) error {
	var sums []int
	for j, x := range c.Schedule.Ops {
		if slices.Contains(x.Operands(), o.Out) {
			sums = append(sums, j)
		}
	}
	t := c.Tensor(o.In[0])
	product := c.ofPartials(o.In[0])
	switch {
	case c.Original.OverHosts():
		return refused("Mesh", "leave the mesh out, for ranks of one host",
			"no pass makes functions of summands, %s, over hosts", o.Out)
	case len(sums) != 1 || c.Schedule.Ops[sums[0]].Name() != schedule.SumWord:
		return refused(c.path, "add them up by one schedule.Sum",
			"no pass makes functions of summands, %s, for %d others", o.Out, len(sums))
	case product && (i == 0 || c.Schedule.Ops[i-1].Out != o.In[0] || sums[0] != i+1):
		return refused(c.path, "write the product, this and their schedule.Sum one behind another",
			"no pass makes other operations between %s and its sum", o.In[0])
	case !product && (!t.Summands() || c.Schedule.Made(t.Name)):
		return c.Misplaced(o.Out, "let it be of a tensor of the caller's that lies so",
			"each rank has a summand of %s, and %s is not placed so or is made", o.Out, o.In[0])
	}
	for j, f := range o.Then {
		for _, name := range f.Reads() {
			return refused(f.PathOf(fmt.Sprintf("%s.Then[%d]", c.path, j), name), "apply it to the sum",
				"no pass reads a tensor beside the summands of %s", o.In[0])
		}
	}
	done, err := c.edges.Step(i)
	c.At[o.Out] = done.Made
	return cmp.Or(err, c.plain(o.In[0]), c.plain(o.Out))
}

// summed says that an operation adds up one of some tensors over its first axis.
func (c *Chain) summed(names ...string) bool {
	return slices.ContainsFunc(c.Schedule.Ops, func(o schedule.Op) bool {
		return o.Name() == schedule.SumWord && slices.Contains(names, o.In[0])
	})
}

// CalledForSummands says that a call makes a summand of each rank.
func (c *Chain) CalledForSummands(name string) bool {
	o, _ := c.Schedule.Maker(name)
	letters, err := c.Schedule.Contraction(o)
	return err == nil && o.Call != "" && letters.OfRanks()
}

// nowhere refuses the placements of a copy or a sum that no communication leads between. The hint places one of them,
// or both.
func (c *Chain) nowhere(o schedule.Op) error {
	from, to := c.Tensor(o.In[0]), c.Tensor(c.DeclaredAs(o.Out))
	x, y := edges.Of(from), edges.Of(to)
	adds, rows := o.Name() == schedule.SumWord, edges.Along(0)
	blamed, hint := to, "place it "+cutAs(to, edges.State{}).String()
	switch {
	case adds && len(from.Axes) != 3:
		blamed = from
		hint = fmt.Sprintf("there is the sum of summands with rows and columns, such as %s [DIDx(D), M, N]", from.Name)
	case adds && !overRanks(from, 0), x == edges.State{} && y == edges.State{}:
		blamed, hint = from, "place it "+cutAs(from, rows).String()
	case !adds && x == edges.State{}:
		blamed, hint = from, fmt.Sprintf("place %s %s, %s %s", from.Name, cutAs(from, rows), to.Name,
			cutAs(to, edges.State{}))
	case to.Root:
		hint = "let every rank have it"
	case !adds && x.Size != y.Size && y.Spread():
		blamed, hint = from, fmt.Sprintf("cut the parts of %s and %s alike", from.Name, to.Name)
	}
	return c.Misplaced(blamed.Name, hint, "no communication leads from %s %s to %s %s", from.Name, written(from),
		to.Name, written(to))
}

// intoCallersOwn gathers rows into the caller's memory, where a copy of them is declared. Another copy with the same
// parts is made of the first.
func (c *inference) intoCallersOwn() {
	for i, o := range c.Schedule.Ops {
		if !o.Copies() || slices.ContainsFunc(c.Stages, func(s *Stage) bool { return s.Into == o.Out }) {
			continue
		}
		again := slices.IndexFunc(c.Stages, func(s *Stage) bool {
			return s.Into != "" && s.Input == o.In[0] && c.At[s.Into] == c.At[o.Out]
		})
		if again >= 0 {
			into := c.Stages[again].Into
			c.Again[o.Out] = into
			switch _, declared := c.Original.Tensor(into); {
			case !declared: // functions are made of it
				c.blame(ofItsOwn(c.Schedule, i, fmt.Sprintf("no pass gives the caller %s twice", o.In[0])))
			case slices.ContainsFunc(c.Schedule.Ops, func(x schedule.Op) bool { return x.Reads(o.Out) }):
				c.blame(refused(fmt.Sprintf("Ops[%d]", i), "read "+into,
					"%s is made of %s when all else is done, and operations read it", o.Out, into))
			case !alike(c.Tensor(o.Out), c.Tensor(into)):
				c.blame(c.plain(o.Out))
			}
			continue
		}
		found := false
		for _, s := range c.Stages {
			if !s.OfAll() || !s.hasRowsOf(o.In[0]) {
				continue
			}
			s.Into, found = o.Out, true
			steps := len(s.Ops) > 0 && !c.Uneven(s.Input) && !undividedMatrix(c.Schedule, o.Out)
			if len(c.Schedule.Ops) > 1 {
				c.blame(c.placed(o.Out, edges.State{}, steps))
			}
		}
		if !found {
			c.blame(c.nowhere(o))
		}
	}
}

// plain refuses a tensor that is cut into more than the parts of the ranks.
func (c *Chain) plain(name string) error {
	t := c.Tensor(name)
	want := cutAs(t, edges.Of(t))
	want.Root = t.Root
	if axis, k, spread := t.Sharded(); spread && !t.Root {
		want.Axes[axis].Outer = []schedule.Split{t.Axes[axis].Outer[k]}
	}
	if !alike(t, want) {
		return c.Misplaced(name, "place it "+want.String(), "%s is %s, and each rank has one part of it, or all", name,
			written(t))
	}
	return nil
}

func (c *Chain) everywhere(names ...string) error {
	for _, name := range names {
		if t := c.Tensor(name); t.Root {
			return c.Misplaced(name, "let every rank have it", "no pass multiplies %s %s", name, written(t))
		}
	}
	return nil
}

// Each rank computes its columns of the result into plan memory, and a stage of its own gathers those of all. This
// serves column-parallel results that the caller wants whole, such as the logits of a vocabulary.

// columnsName ends the name of the memory of a rank's columns.
const columnsName = "columns"

// gatherColumns ends a stage by one for each of its results that the caller wants with all columns.
func (c *inference) gatherColumns() {
	for _, e := range c.columns {
		c.Stages = append(c.Stages, &Stage{Input: e.Of + columnsName, Into: e.Of, Gathers: true, Moved: e})
	}
	c.columns = nil
}

// widened says that all columns of a tensor are gathered.
func (c *Chain) widened(name string) bool {
	return c.any(func(s *Stage) bool { return s.GathersColumns() && s.Into == name })
}

// widened says so of results of the last stage too.
func (c *inference) widened(name string) bool {
	return c.Chain.widened(name) || slices.ContainsFunc(c.columns, func(e edges.Edge) bool { return e.Of == name })
}

// ofWidened says that a tensor is one whose columns are gathered, or is made of such a tensor by functions alone.
func (c *inference) ofWidened(name string) bool {
	o, made := c.Schedule.Maker(name)
	moves := func(s *Stage) bool { return s.Input == o.In[0] && s.Moved.From.Columns() && !s.Moved.To.Spread() }
	return c.widened(name) || made && o.Name() == schedule.CopyWord && (c.any(moves) || c.ofWidened(o.In[0]))
}
