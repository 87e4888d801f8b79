package lower

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// Stages without products: they move what the caller has or an operation makes, or add up summands.

// copy is a stage that moves a tensor, and does nothing else.
func (c *chain) copy(d *draft, i int, o schedule.Op) error {
	done, err := c.edges.Step(i)
	var e edges.Edge
	if len(done.Edges) > 0 { // there is one
		e = done.Edges[0]
	}
	t, declared := d.schedule.Tensor(o.In[0])
	columns, gathers := e.From.Columns() || e.To.Columns(), e.Kind == edges.AllGather && e.From.Shift == 0
	x, _ := c.edges.At(o.In[0])
	switch alone := len(d.schedule.Ops) == 1 || d.manyAxes(o.In[0]); {
	case alone || err == nil && e.Kind != "" && !columns && !gathers:
		err = cmp.Or(d.plain(o.In[0]), d.plain(o.Out))
		if alone && err == nil && e.Kind == "" {
			err = d.nowhere(o)
		}
	case err != nil:
	case e.Kind == "" && done.Left == x:
		err = d.asItIs(i, o, declared)
	case declared && gathers && !columns && ofProducts(d.schedule, o.Out) && !byCounts(t) &&
		!alike(t, cutAs(t, edges.Along(0))):
		err = d.misplacedIn(t.Name, edges.Along(0),
			"%s is %s, and what is made of %s comes of equal parts of its rows", t.Name, d.written(t), o.Out)
	case columns && gathers && c.came(d.schedule, o.In[0]):
		err = ofItsOwn(d.schedule, i, fmt.Sprintf("%s comes, and is gathered in parts of its columns", o.In[0]))
	}
	c.at[o.Out] = d.inMatrix(o.Out, done.Left)
	matrix := !declared || len(t.Axes) == 2
	uneven := matrix && e.From.Columns() && e.From.Cut != (edges.Cut{})
	switch {
	case err != nil || e.Kind == "":
		return err
	case uneven, !matrix && e.Kind != edges.AllToAll, done.Misfit != nil:
		return d.nowhere(o)
	}
	if err := d.movedOn(o, e); err != nil {
		return err
	}
	if e.Kind != edges.AllGather {
		c.addBehind(&stage{input: o.In[0], into: o.Out, gathers: true, moved: e})
	} else if s := c.stage(o.In[0], true, false); e.From.Columns() || e.From.Shift != 0 { // else products may follow
		s.moved = e
	}
	return nil
}

// asItIs refuses a copy of what is there already: of a result that nothing declares, which travels behind its maker.
func (d *draft) asItIs(i int, o schedule.Op, declared bool) error {
	x, why := o.In[0], fmt.Sprintf("%s is %s as it is: nothing travels", o.Out, o.In[0])
	if declared || !d.schedule.Made(x) {
		return ofItsOwn(d.schedule, i, why)
	}
	return refused(fmt.Sprintf("Ops[%d]", i), fmt.Sprintf("declare %s where its ranks make it", x), "%s", why)
}

// came says that a tensor, or what functions make it of, is a copy that has travelled.
func (c *chain) came(s schedule.Schedule, name string) bool {
	o, made := s.Maker(name)
	if !made || kind(o.Name()) != copied {
		return false
	}
	from, _ := c.edges.At(o.In[0])
	to, _ := c.edges.At(name)
	return from != to || c.came(s, o.In[0])
}

// sum is a stage without operations: it adds up what the caller gives, or a call makes.
func (c *chain) sum(d *draft, i int, path string, o schedule.Op) error {
	done, err := c.edges.Step(i)
	given := d.tensor(o.In[0])
	moved := done.Left.Columns() || done.Left.Shift != 0
	summands := len(given.Axes) == 3 && overRanks(given, 0) || given.Name == "" && d.calledForSummands(o.In[0])
	if err != nil || done.Misfit != nil || moved || !summands {
		return d.nowhere(o)
	}
	if err := cmp.Or(d.plain(o.In[0]), d.plain(o.Out)); err != nil {
		return err
	}
	s := &stage{input: o.In[0]}
	if made, ok := d.schedule.Maker(o.In[0]); ok && made.Call == "" {
		s.input, s.summand = made.In[0], made
	}
	switch {
	case d.calledForSummands(o.In[0]) && done.Left.Size != edges.Even:
		return d.misplaced(o.Out, "let all ranks have equal parts",
			"a call makes equal parts of each summand, and those of %s are not equal", o.Out)
	case d.ofPartials(s.input) && done.Left.Cut != (edges.Cut{}) && done.Left.Size != edges.Counted:
		return d.misplacedIn(o.Out, edges.Along(0),
			"%s is %s, and no product makes codes of rows that the ranks have so", o.Out, d.written(d.tensor(o.Out)))
	}
	if last := len(c.stages) - 1; d.ofPartials(s.input) {
		c.stages[last].summand, s = s.summand, c.stages[last]
	} else {
		c.add(s)
	}
	s.given = o.In[0]
	c.addOp(d, path, o, s, done)
	return nil
}

func (d *draft) ofPartials(name string) bool {
	o, _ := d.schedule.Maker(name)
	return o.OfPartials()
}

// summand is functions of summands of the caller's, or of a product's, which the stage of their sum makes. They read
// nothing beside.
func (c *chain) summand(d *draft, i int, path string, o schedule.Op) error {
	var sums []int
	for j, x := range d.schedule.Ops {
		if slices.Contains(x.Operands(), o.Out) {
			sums = append(sums, j)
		}
	}
	t := d.tensor(o.In[0])
	product := d.ofPartials(o.In[0])
	switch {
	case d.original.OverHosts():
		return refused("Mesh", oneHost, "no pass makes functions of summands, %s, over hosts", o.Out)
	case len(sums) != 1 || kind(d.schedule.Ops[sums[0]].Name()) != summedUp:
		return refused(path, "add them up by one schedule.Sum",
			"no pass makes functions of summands, %s, for %d others", o.Out, len(sums))
	case product && (i == 0 || d.schedule.Ops[i-1].Out != o.In[0] || sums[0] != i+1):
		return refused(path, "write the product, this and their schedule.Sum one behind another",
			"no pass makes other operations between %s and its sum", o.In[0])
	case !product && (!t.Summands() || d.schedule.Made(t.Name)):
		return d.misplaced(o.Out, "let it be of a tensor of the caller's that lies so",
			"each rank has a summand of %s, and %s is not placed so or is made", o.Out, o.In[0])
	}
	for j, f := range o.Then {
		for _, name := range f.Reads() {
			return refused(f.PathOf(fmt.Sprintf("%s.Then[%d]", path, j), name), "apply it to the sum",
				"no pass reads a tensor beside the summands of %s", o.In[0])
		}
	}
	done, err := c.edges.Step(i)
	c.at[o.Out] = done.Made
	return cmp.Or(err, d.plain(o.In[0]), d.plain(o.Out))
}

// summed says that an operation adds up one of some tensors over its first axis.
func (d *draft) summed(names ...string) bool {
	return slices.ContainsFunc(d.schedule.Ops, func(o schedule.Op) bool {
		return kind(o.Name()) == summedUp && slices.Contains(names, o.In[0])
	})
}

// calledForSummands says that a call makes a summand of each rank.
func (d *draft) calledForSummands(name string) bool {
	o, _ := d.schedule.Maker(name)
	c, err := d.schedule.Contraction(o)
	return err == nil && o.Call != "" && c.OfRanks()
}

// nowhere refuses the placements of a copy or a sum that no communication leads between. The hint places one of them,
// or both.
func (d *draft) nowhere(o schedule.Op) error {
	from, to := d.tensor(o.In[0]), d.tensor(d.declaredAs(o.Out))
	x, y := edges.Of(from), edges.Of(to)
	adds, rows := kind(o.Name()) == summedUp, edges.Along(0)
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
	return d.misplaced(blamed.Name, hint, "no communication leads from %s %s to %s %s", from.Name, written(from),
		to.Name, written(to))
}

// intoCallersOwn gathers rows into the caller's memory, where a copy of them is declared. Another copy with the same
// parts is made of the first.
func (c *chain) intoCallersOwn(d *draft) {
	for i, o := range d.schedule.Ops {
		if !o.Copies() || slices.ContainsFunc(c.stages, func(s *stage) bool { return s.into == o.Out }) {
			continue
		}
		again := slices.IndexFunc(c.stages, func(s *stage) bool {
			return s.into != "" && s.input == o.In[0] && c.at[s.into] == c.at[o.Out]
		})
		if again >= 0 {
			into := c.stages[again].into
			c.again[o.Out] = into
			switch _, declared := d.original.Tensor(into); {
			case !declared: // functions are made of it
				c.blame(ofItsOwn(d.schedule, i, fmt.Sprintf("no pass gives the caller %s twice", o.In[0])))
			case slices.ContainsFunc(d.schedule.Ops, func(x schedule.Op) bool { return x.Reads(o.Out) }):
				c.blame(refused(fmt.Sprintf("Ops[%d]", i), "read "+into,
					"%s is made of %s when all else is done, and operations read it", o.Out, into))
			case !alike(d.tensor(o.Out), d.tensor(into)):
				c.blame(d.plain(o.Out))
			}
			continue
		}
		found := false
		for _, s := range c.stages {
			if !s.ofAll() || !s.hasRowsOf(o.In[0]) {
				continue
			}
			s.into, found = o.Out, true
			steps := len(s.ops) > 0 && !d.uneven(s.input) && !undividedMatrix(d.schedule, o.Out)
			if len(d.schedule.Ops) > 1 {
				c.blame(c.placed(d, o.Out, edges.State{}, steps))
			}
		}
		if !found {
			c.blame(d.nowhere(o))
		}
	}
}

// plain refuses a tensor that is cut into more than the parts of the ranks.
func (d *draft) plain(name string) error {
	t := d.tensor(name)
	want := cutAs(t, edges.Of(t))
	want.Root = t.Root
	if axis, k, spread := t.Sharded(); spread && !t.Root {
		want.Axes[axis].Outer = []schedule.Split{t.Axes[axis].Outer[k]}
	}
	if !alike(t, want) {
		return d.misplaced(name, "place it "+want.String(), "%s is %s, and each rank has one part of it, or all", name,
			written(t))
	}
	return nil
}

func (d *draft) everywhere(names ...string) error {
	for _, name := range names {
		if t := d.tensor(name); t.Root {
			return d.misplaced(name, "let every rank have it", "no pass multiplies %s %s", name, written(t))
		}
	}
	return nil
}

// Each rank computes its columns of the result into plan memory, and a stage of its own gathers those of all. This
// serves column-parallel results that the caller wants whole, such as the logits of a vocabulary.

// columnsName ends the name of the memory of a rank's columns.
const columnsName = "columns"

// gatherColumns ends a stage by one for each of its results that the caller wants with all columns.
func (c *chain) gatherColumns() {
	for _, e := range c.columns {
		c.stages = append(c.stages, &stage{input: e.Of + columnsName, into: e.Of, gathers: true, moved: e})
	}
	c.columns = nil
}

// gathersColumns says that a stage gathers the columns of a result, with which later stages may go on.
func (s *stage) gathersColumns() bool { return s.moved.Kind == edges.AllGather && s.moved.User < 0 }

// widened says that all columns of a tensor are gathered.
func (c *chain) widened(name string) bool {
	return slices.ContainsFunc(c.columns, func(e edges.Edge) bool { return e.Of == name }) ||
		slices.ContainsFunc(c.stages, func(s *stage) bool { return s.gathersColumns() && s.into == name })
}

// madeIn is the memory in which the rank's own columns of a result are made, if all are gathered; else the name itself.
func (d *draft) madeIn(name string) string {
	if d.chain.widened(name) {
		return name + columnsName
	}
	return name
}

// undividedMatrix says that a tensor is declared with two axes, both whole on every rank.
func undividedMatrix(s schedule.Schedule, name string) bool {
	t, declared := s.Tensor(name)
	return declared && !t.Root && len(t.Axes) == 2 &&
		!slices.ContainsFunc(t.Axes, func(a schedule.Axis) bool { return len(a.Outer) > 0 })
}

// overRanks says that an axis is spread over the ranks and not cut otherwise.
func overRanks(t schedule.Tensor, axis int) bool {
	return axis >= 0 && axis < len(t.Axes) &&
		slices.Equal(t.Axes[axis].Outer, []schedule.Split{schedule.DIDx(schedule.D)})
}
