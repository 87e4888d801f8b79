package lower

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// A chain is a list of operations in which later ones read results of earlier ones. The placements of the weights
// decide where the rows and columns of each tensor are: a weight that is spread over the ranks is
// multiplied with all rows, and one that is spread along the axis of the sum leaves partial results. So
// rows are gathered, go through operations and leave as sums, stage after stage.
type chain struct {
	stages []*stage
	order  batchOrder // of the rows' batches
	edges  *edges.Walk
	op     schedule.Op // that is being added
	// Operands that come whole before products.
	fetches map[string]edges.Edge
	at      map[string]edges.State // tensors that have rows and columns, where operations leave them
	columns []edges.Edge           // of results of the last stage that each rank makes columns of and gets whole
	again   map[string]string      // results that are, on each rank, what has come into another one
	wrong   error                  // the first function or placement that is to blame
}

// chained finds the stages of a schedule, and holds the placements of its tensors against them.
func chained(d *draft) error {
	c := &chain{edges: edges.New(d.schedule), at: map[string]edges.State{}, again: map[string]string{},
		fetches: fetches(d.schedule)}
	for i, o := range d.schedule.Ops {
		if err := c.step(d, i, o); err != nil {
			return cmp.Or(c.wrong, err)
		}
	}
	c.gatherColumns()
	c.intoCallersOwn(d)
	d.chain = c
	if c.wrong != nil {
		return c.wrong
	}
	return c.findBatches(d)
}

// step adds an operation to the last stage, or begins another.
func (c *chain) step(d *draft, i int, o schedule.Op) error {
	path := fmt.Sprintf("Ops[%d]", i)
	c.op = o
	if o.Call != "" {
		return c.call(d, i, path, o)
	}
	out := d.tensor(o.Out)
	switch {
	case o.Copies():
		return c.copy(d, i, o)
	case kind(o.Name()) == copied && out.Summands() && d.summed(o.In[0], o.Out):
		return c.summand(d, i, path, o)
	case kind(o.Name()) == summedUp:
		return c.sum(d, i, path, o)
	case kind(o.Name()) == gradient:
		return c.gradient(d, i, path, o)
	}
	x, err := c.operand(d, o.In[0])
	if err == nil && multiplies(o) && !slices.ContainsFunc(o.In, c.fetched) {
		err = c.checkWeight(d, path, o, x)
	}
	switch {
	case err != nil:
		return err
	case d.schedule.IsTerm(o.Out):
		return c.term(d, i, path, o)
	}
	return c.follow(d, i, path, o, x)
}

// checkWeight refuses a weight that no product of a chain has.
func (c *chain) checkWeight(d *draft, path string, o schedule.Op, x edges.State) error {
	w, columns := d.tensor(o.In[1]), columnsAt(o)
	summed := overRanks(w, 1-columns)
	switch {
	case w.Name == "" || d.schedule.Made(w.Name):
		return refused(path+".In[1]", "name a tensor that no operation makes",
			"no pass multiplies by %s, which an operation makes", o.In[1])
	case w.Root || slices.ContainsFunc([]int{0, 1}, func(axis int) bool {
		return len(w.Axes[axis].Outer) > 0 && !overRanks(w, axis)
	}):
		return d.misplaced(w.Name, "spread one of its axes by schedule.DIDx(schedule.D), or none",
			"no pass multiplies by a weight %s", written(w))
	case summed && !x.Columns():
		return d.misplaced(o.In[0], "spread both, or none",
			"%s is spread along what is summed over, and %s is whole there", w.Name, o.In[0])
	case x.Columns() && !summed:
		along := cutAs(w, edges.Along(1-columns)).String()
		place := "place it " + along
		if out := d.tensor(o.Out); out.InSteps() { // which sums are not
			rows := edges.Along(0)
			first := o.In[0]
			if len(c.stages) > 0 {
				first = c.stages[0].input
			}
			rows.Batches = edges.Of(d.tensor(first)).Batches
			place = fmt.Sprintf("place %s %s, %s %s", w.Name, along, o.Out, d.written(cutAs(out, rows)))
		}
		return d.misplaced(w.Name, place, "%s is spread along what is summed over, and %s is not", o.In[0], w.Name)
	}
	return nil
}

// follow adds operation i, whose first operand is at x. No weight travels.
func (c *chain) follow(d *draft, i int, path string, o schedule.Op, x edges.State) error {
	done, err := c.edges.Step(i, slices.DeleteFunc(slices.Clone(o.In[1:]), c.fetched)...)
	if err != nil && len(o.In) > 1 && o.In[0] == o.In[1] {
		return refused(path+".In[1]", "declare a tensor for each", "no pass lowers %s in two places", o.In[1])
	}
	if err != nil {
		return err
	}
	own := done.Made.Rows() && !o.OfPartials()
	if d.manyAxes(o.In[0]) { // whose parts are no rows of one rank
		own, done.Made, x = false, d.inMatrix(o.In[0], done.Made), edges.State{}
	}
	first, err := c.fetch(d, i, o, done)
	if err != nil {
		return err
	}
	if first {
		s := c.stage(o.In[0], true, false)
		s.moved = c.fetches[o.In[0]]
		c.addOp(d, path, o, s, done)
		return nil
	}
	of, _ := d.schedule.Maker(o.In[0])
	gathers := x.Rows() && !own
	gradients := slices.ContainsFunc(c.stages[max(len(c.stages)-1, 0):], func(s *stage) bool {
		return s.input == o.In[0] && slices.ContainsFunc(s.ops, func(x schedule.Op) bool {
			return kind(x.Name()) == gradient
		})
	})
	switch {
	case c.widened(o.In[0]) && kind(of.Name()) == copied:
		return d.behindColumns(path+".In[0]", o.In[0], o.Out)
	case gathers && gradients && c.stages[len(c.stages)-1].addsShares(): // it does nothing else as they come
		c.addOp(d, path, o, c.begin(o.In[0], true, own), done)
		return nil
	case c.widened(o.In[0]), kind(of.Name()) == gradient && !gathers, // all of it is there
		done.Made.Partial && (done.Left.Columns() || gradients): // takes all rows at once
		c.addOp(d, path, o, c.begin(o.In[0], false, own), done)
		return nil
	case gathers && x.Shift != 0:
		return d.misplaced(o.In[0], "gather it by a schedule.Copy, and multiply that",
			"no pass multiplies rows as they come that are on other ranks: %s is %s", o.In[0],
			written(d.tensor(o.In[0])))
	}
	c.addOp(d, path, o, c.stage(o.In[0], gathers, own), done)
	return nil
}

// addOp adds an operation to a stage, and finds where its result is.
func (c *chain) addOp(d *draft, path string, o schedule.Op, s *stage, done edges.Step) {
	s.ops = append(s.ops, o)
	out := done.Made
	if out.Partial {
		s.terms = d.schedule.Terms(o)
		others := func(o schedule.Op) bool { return kind(o.Name()) != linear }
		if out = done.Left; out.Columns() && (others(o) || slices.ContainsFunc(s.terms, others)) {
			out = edges.State{} // of other products nothing adds up columns for their ranks
		}
		s.sums, s.toAll, s.left = o.Out, !out.Spread(), out
	}
	c.at[o.Out] = out
	c.blame(c.functions(d, path, o, s))
	if out.Columns() && undividedMatrix(d.schedule, o.Out) && !s.addsShares() {
		if d.uneven(s.input) {
			c.blame(d.misplacedIn(o.Out, out, "no pass gathers columns of %s, and its rows are in parts as those of %s",
				o.Out, d.sized(s.input)))
		}
		c.columns = append(c.columns, done.Edges[len(done.Edges)-1])
		return
	}
	t, in := d.tensor(o.Out), d.tensor(o.In[0])
	givesAll := len(in.Axes) == 2 && !d.schedule.Made(in.Name) && edges.Of(in) == edges.State{}
	if t.InSteps() && done.Made == (edges.State{}) && !s.ofAll() && givesAll {
		c.blame(d.misplacedIn(o.In[0], edges.Along(0), "%s is made in steps, and every rank has all of %s",
			o.Out, o.In[0]))
	}
	counted := d.uneven(s.input) || d.ofCounted(s.input)
	if t.InSteps() && counted && s.input != d.sized(s.input) {
		c.blame(d.misplacedIn(t.Name, out, "%s is made in steps, and the rows of %s need not be in equal parts", t.Name,
			d.sized(s.input)))
	}
	if s.given == "" {
		steps := s.ofAll() && s.moved == (edges.Edge{}) && s.sums != o.Out && !counted && !s.addsShares()
		c.blame(c.placed(d, o.Out, out, steps))
	}
	c.blame(done.Misfit)
}

func (c *chain) blame(err error) { c.wrong = cmp.Or(c.wrong, err) }

func (c *chain) operand(d *draft, name string) (edges.State, error) {
	if c.widened(name) {
		return edges.State{}, nil
	}
	if x, known := c.at[name]; known {
		return x, nil
	}
	t := d.tensor(name)
	if len(t.Axes) > 2 && kind(c.op.Name()) == copied {
		c.at[name] = d.inMatrix(name, edges.Of(t))
		return c.at[name], d.plain(name)
	}
	if len(t.Axes) != 2 {
		return edges.State{}, d.misplaced(name, "give it two axes",
			"%s has %d axes, and a chain's tensors have rows and columns", name, len(t.Axes))
	}
	rows := t.Axes[0].Outer
	n, x := len(rows), edges.Of(t)
	balanced := slices.Equal(rows, []schedule.Split{schedule.Balanced(schedule.D)})
	odd := n > 0 && rows[n-1] != schedule.DIDx(schedule.D) && !balanced && !byCounts(t)
	if t.Root || n > 1 && inBatchesOf(t) == 0 || odd ||
		!overRanks(t, 1) && len(t.Axes[1].Outer) > 0 {
		var near edges.State // spread by its rows where results are made in steps, or as it is spread, or whole
		if axis, _, spread := t.Sharded(); spread {
			near = edges.Along(axis)
		}
		if slices.ContainsFunc(d.schedule.Ops, func(o schedule.Op) bool {
			return len(o.In) > 1 && o.In[0] == t.Name && d.tensor(o.Out).InSteps()
		}) {
			near = edges.Along(0)
		}
		hint := "place it " + d.written(cutAs(t, near))
		if t.Root {
			hint = "let every rank have it"
		}
		return x, d.misplaced(name, hint, "no pass takes %s %s as an operand", name, d.written(t))
	}
	c.at[name] = x
	return x, nil
}

// stage is that of an operation on a tensor: the last one or a new one.
func (c *chain) stage(input string, gathers, own bool) *stage {
	if last := len(c.stages) - 1; last >= 0 {
		s := c.stages[last]
		if !gathers && s.makes(input) || gathers && s.ofAll() && s.hasRowsOf(input) && s.sums == "" {
			return s
		}
	}
	return c.begin(input, gathers, own)
}

// begin begins a stage. What an earlier one has gathered is still there.
func (c *chain) begin(input string, gathers, own bool) *stage {
	next := &stage{input: input, gathers: gathers, own: own}
	for _, s := range c.stages {
		if gathers && s.gathers && s.hasRowsOf(input) {
			next.gathers, next.held = false, s
		}
	}
	return c.add(next)
}

// add adds a stage, behind those that end the one before.
func (c *chain) add(s *stage) *stage {
	c.gatherColumns()
	s.first = len(c.stages) == 0
	c.stages = append(c.stages, s)
	return s
}

// addBehind adds a stage that moves what an operation makes, right behind that if only operations on what each rank has
// and other such moves follow: it is under way beside these.
func (c *chain) addBehind(s *stage) {
	c.add(s)
	for i := len(c.stages) - 2; i >= 0; i-- {
		t := c.stages[i]
		k := slices.IndexFunc(t.ops, func(o schedule.Op) bool { return o.Out == s.input })
		switch {
		case t.sums != "" || t.hasRowsOf(t.input) && t.ofAll():
			return
		case k < 0:
			continue
		}
		behind := []*stage{s}
		if rest := *t; k+1 < len(t.ops) {
			t.ops, rest.ops, rest.first = t.ops[:k+1:k+1], t.ops[k+1:], false
			behind = append(behind, &rest)
		}
		c.stages = slices.Insert(c.stages[:len(c.stages)-1], i+1, behind...)
		return
	}
}
