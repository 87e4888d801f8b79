package stages

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// Chain is a schedule as stages: operations of which later ones read results of earlier ones. The placements of the
// weights decide where the rows and columns of each tensor are. A weight that is spread over the ranks is multiplied by
// all rows, and one that is spread along the axis of the sum leaves partial results. So rows are gathered, go through
// operations and leave as sums, stage after stage.
type Chain struct {
	Original schedule.Schedule // with defaults, and the usual letters
	Schedule schedule.Schedule // with operations of their own for functions, and one axis for batches and their rows
	Stages   []*Stage
	Order    Order                  // of the rows' batches
	Batches  int                    // that the rows come in, if their number is a constant; 0: none
	At       map[string]edges.State // where operations leave the tensors that have rows and columns
	Again    map[string]string      // results that are, on each rank, what has come into another one
	fetches  map[string]edges.Edge  // operands that come whole before products
	origins  []origin               // of the operations of Schedule
	sumsOnly map[string]sumOnly     // sums whose functions are of operations of their own, by the results
	sizedAs  map[string]string      // the tensor whose uneven rows a sum has that is not declared, by the sum
}

// Of finds the stages of a schedule that is valid, has its defaults and the usual letters, and is Apart. It holds the
// placements of the tensors against the stages. An error is a *schedule.FieldError. Of a tensor with balanced rows,
// byRanks says which ways bring one rank's rows after another's.
func Of(s schedule.Schedule, byRanks func(schedule.Way) bool) (*Chain, error) {
	c := &Chain{Original: s, Schedule: s, At: map[string]edges.State{}, Again: map[string]string{},
		sizedAs: map[string]string{}}
	for _, step := range []func() error{
		c.callsApart, // calls beside rows by counts
		func() error { return c.formulas(byRanks) }, // functions behind sums and gathers -> operations of their own
		c.recognise,   // operations that some program does together
		c.joinBatches, // axes of batches and their rows -> one axis
		c.unmoved,     // parts that lie on the ranks of their numbers
		c.infer,       // placements -> stages
	} {
		if err := step(); err != nil {
			return nil, c.AsDeclared(err)
		}
	}
	return c, nil
}

// inference finds the stages of a chain, one operation after another.
type inference struct {
	*Chain
	edges   *edges.Walk
	op      schedule.Op  // that is being added
	path    string       // of it
	columns []edges.Edge // of results of the last stage that each rank makes columns of and gets whole
	wrong   error        // the first function or placement that is to blame
}

// infer finds the stages, and holds the placements of the tensors against them.
func (c *Chain) infer() error {
	c.Batches, _ = strconv.Atoi(string(edges.Rows(c.Schedule, func(_ schedule.Tensor, at edges.State) bool {
		return at.Batches != ""
	}).Batches)) // 0: none
	c.fetches = fetches(c.Schedule)
	x := &inference{Chain: c, edges: edges.New(c.Schedule)}
	for i, o := range c.Schedule.Ops {
		if err := x.step(i, o); err != nil {
			return cmp.Or(x.wrong, err)
		}
	}
	x.gatherColumns()
	x.intoCallersOwn()
	if x.wrong != nil {
		return x.wrong
	}
	return cmp.Or(c.findBatches(), c.batchesAlike())
}

// unmoved refuses parts that are moved on where nothing is copied.
func (c *Chain) unmoved() error {
	if slices.ContainsFunc(c.Schedule.Ops, schedule.Op.Copies) { // the stages say
		return nil
	}
	for _, t := range c.Schedule.Tensors {
		if path, n := c.shiftOf(t.Name); n != 0 {
			return refused(path, "leave it out; a permutation is a Copy",
				"no pass lowers a %s of parts that are moved on", c.Schedule.Ops[0].Name())
		}
	}
	return nil
}

func (c *Chain) any(is func(*Stage) bool) bool { return slices.ContainsFunc(c.Stages, is) }

// step adds an operation to the last stage, or begins another.
func (c *inference) step(i int, o schedule.Op) error {
	c.op, c.path = o, fmt.Sprintf("Ops[%d]", i)
	if o.Call != "" {
		return c.call(i, o)
	}
	out := c.Tensor(o.Out)
	switch {
	case o.Copies():
		return c.copy(i, o)
	case o.Name() == schedule.CopyWord && out.Summands() && c.summed(o.In[0], o.Out):
		return c.summand(i, o)
	case o.Name() == schedule.SumWord:
		return c.sum(i, o)
	case o.Name() == schedule.GradientWord:
		return c.gradient(i, o)
	}
	x, err := c.operand(o.In[0])
	if err == nil && o.Multiplies() && !slices.ContainsFunc(o.In, c.Fetched) {
		err = c.checkWeight(o, x)
	}
	switch {
	case err != nil:
		return err
	case c.Schedule.IsTerm(o.Out):
		return c.term(i, o)
	}
	return c.follow(i, o, x)
}

// checkWeight refuses a weight that no product of a chain has.
func (c *inference) checkWeight(o schedule.Op, x edges.State) error {
	w, columns := c.Tensor(o.In[1]), columnsAt(o)
	summed := overRanks(w, 1-columns)
	switch {
	case w.Name == "" || c.Schedule.Made(w.Name):
		return refused(c.path+".In[1]", "name a tensor that no operation makes",
			"no pass multiplies by %s, which an operation makes", o.In[1])
	case w.Root:
		return c.Misplaced(w.Name, "let every rank have it", "no pass multiplies by a weight %s", written(w))
	case slices.ContainsFunc([]int{0, 1}, func(axis int) bool {
		return len(w.Axes[axis].Outer) > 0 && !overRanks(w, axis)
	}):
		return c.Misplaced(w.Name, "spread one of its axes by schedule.DIDx(schedule.D), or none",
			"no pass multiplies by a weight %s", written(w))
	case summed && !x.Columns():
		return c.Misplaced(o.In[0], "spread both, or none",
			"%s is spread along what is summed over, and %s is whole there", w.Name, o.In[0])
	case x.Columns() && !summed:
		along := cutAs(w, edges.Along(1-columns)).String()
		place := "place it " + along
		if out := c.Tensor(o.Out); out.InSteps() { // which sums are not
			rows := edges.Along(0)
			first := o.In[0]
			if len(c.Stages) > 0 {
				first = c.Stages[0].Input
			}
			rows.Batches = edges.Of(c.Tensor(first)).Batches
			place = fmt.Sprintf("place %s %s, %s %s", w.Name, along, o.Out, c.written(cutAs(out, rows)))
		}
		return c.Misplaced(w.Name, place, "%s is spread along what is summed over, and %s is not", o.In[0], w.Name)
	}
	return nil
}

// follow adds operation i, whose first operand is at x. No weight travels.
func (c *inference) follow(i int, o schedule.Op, x edges.State) error {
	done, err := c.edges.Step(i, slices.DeleteFunc(slices.Clone(o.In[1:]), c.Fetched)...)
	if err != nil && len(o.In) > 1 && o.In[0] == o.In[1] {
		return refused(c.path+".In[1]", "declare a tensor for each", "no pass lowers %s in two places", o.In[1])
	}
	if err != nil {
		return err
	}
	own := done.Made.Rows() && !o.OfPartials()
	if c.manyAxes(o.In[0]) { // whose parts are no rows of one rank
		own, done.Made, x = false, c.inMatrix(o.In[0], done.Made), edges.State{}
	}
	first, err := c.fetch(i, o, done)
	if err != nil {
		return err
	}
	if first {
		s := c.stage(o.In[0], true, false)
		s.Moved = c.fetches[o.In[0]]
		c.addOp(o, s, done)
		return nil
	}
	of, _ := c.Schedule.Maker(o.In[0])
	gathers := x.Rows() && !own
	gradients := slices.ContainsFunc(c.Stages[max(len(c.Stages)-1, 0):], func(s *Stage) bool {
		return s.Input == o.In[0] && slices.ContainsFunc(s.Ops, func(x schedule.Op) bool {
			return x.Name() == schedule.GradientWord
		})
	})
	switch {
	case c.widened(o.In[0]) && of.Name() == schedule.CopyWord:
		return c.behindColumns(c.path+".In[0]", o.In[0], o.Out)
	case gathers && gradients && c.Stages[len(c.Stages)-1].AddsShares(): // it does nothing else as they come
		c.addOp(o, c.begin(o.In[0], true, own), done)
		return nil
	case c.widened(o.In[0]), of.Name() == schedule.GradientWord && !gathers, // all of it is there
		done.Made.Partial && (done.Left.Columns() || gradients): // takes all rows at once
		c.addOp(o, c.begin(o.In[0], false, own), done)
		return nil
	case gathers && x.Shift != 0:
		return c.Misplaced(o.In[0], "gather it by a schedule.Copy, and multiply that",
			"no pass multiplies rows as they come that are on other ranks: %s is %s", o.In[0],
			written(c.Tensor(o.In[0])))
	}
	c.addOp(o, c.stage(o.In[0], gathers, own), done)
	return nil
}

// addOp adds an operation to a stage, and finds where its result is.
func (c *inference) addOp(o schedule.Op, s *Stage, done edges.Step) {
	s.Ops = append(s.Ops, o)
	out := done.Made
	if out.Partial {
		s.Terms = c.Schedule.Terms(o)
		others := func(o schedule.Op) bool { return o.Name() != schedule.LinearWord }
		if out = done.Left; out.Columns() && (others(o) || slices.ContainsFunc(s.Terms, others)) {
			out = edges.State{} // of other products nothing adds up columns for their ranks
		}
		s.Sums, s.ToAll, s.Left = o.Out, !out.Spread(), out
		c.declareSum(s)
	}
	c.At[o.Out] = out
	c.blame(c.functions(o))
	if out.Columns() && undividedMatrix(c.Schedule, o.Out) && !s.AddsShares() {
		c.columns = append(c.columns, done.Edges[len(done.Edges)-1])
		return
	}
	t, in := c.Tensor(o.Out), c.Tensor(o.In[0])
	givesAll := len(in.Axes) == 2 && !c.Schedule.Made(in.Name) && edges.Of(in) == edges.State{}
	if t.InSteps() && done.Made == (edges.State{}) && !s.OfAll() && givesAll {
		c.blame(c.MisplacedIn(o.In[0], edges.Along(0), "%s is made in steps, and every rank has all of %s",
			o.Out, o.In[0]))
	}
	counted := c.Uneven(s.Input) || c.ofCounted(s.Input)
	if t.InSteps() && counted && s.Input != c.Sized(s.Input) {
		c.blame(c.MisplacedIn(t.Name, out, "%s is made in steps, and the rows of %s need not be in equal parts", t.Name,
			c.Sized(s.Input)))
	}
	if s.Given == "" {
		steps := s.inSteps() && s.Sums != o.Out && !counted
		c.blame(c.placed(o.Out, out, steps))
	}
	c.blame(done.Misfit)
}

func (c *inference) blame(err error) { c.wrong = cmp.Or(c.wrong, err) }

// operand is where the rows and columns of an operand are.
func (c *inference) operand(name string) (edges.State, error) {
	if c.widened(name) {
		return edges.State{}, nil
	}
	if x, known := c.At[name]; known {
		return x, nil
	}
	t := c.Tensor(name)
	if len(t.Axes) > 2 && c.op.Name() == schedule.CopyWord {
		c.At[name] = c.inMatrix(name, edges.Of(t))
		return c.At[name], c.plain(name)
	}
	if len(t.Axes) != 2 {
		return edges.State{}, c.Misplaced(name, "give it two axes",
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
		if slices.ContainsFunc(c.Schedule.Ops, func(o schedule.Op) bool {
			return len(o.In) > 1 && o.In[0] == t.Name && c.Tensor(o.Out).InSteps()
		}) {
			near = edges.Along(0)
		}
		hint := "place it " + c.written(cutAs(t, near))
		if t.Root {
			hint = "let every rank have it"
		}
		return x, c.Misplaced(name, hint, "no pass takes %s %s as an operand", name, c.written(t))
	}
	c.At[name] = x
	return x, nil
}

// stage is that of an operation on a tensor: the last one or a new one.
func (c *inference) stage(input string, gathers, own bool) *Stage {
	if last := len(c.Stages) - 1; last >= 0 {
		s := c.Stages[last]
		if !gathers && s.makes(input) || gathers && s.OfAll() && s.hasRowsOf(input) && s.Sums == "" {
			return s
		}
	}
	return c.begin(input, gathers, own)
}

// begin begins a stage. What an earlier one has gathered is still there.
func (c *inference) begin(input string, gathers, own bool) *Stage {
	next := &Stage{Input: input, Gathers: gathers, Own: own}
	for _, s := range c.Stages {
		if gathers && s.Gathers && s.hasRowsOf(input) {
			next.Gathers, next.Held = false, s
		}
	}
	return c.add(next)
}

// add adds a stage, behind those that end the one before.
func (c *inference) add(s *Stage) *Stage {
	c.gatherColumns()
	s.First = len(c.Stages) == 0
	c.Stages = append(c.Stages, s)
	return s
}

// addBehind adds a stage that moves what an operation makes, right behind that if only operations on what each rank has
// and other such moves follow: it is under way beside these.
func (c *inference) addBehind(s *Stage) {
	c.add(s)
	for i := len(c.Stages) - 2; i >= 0; i-- {
		t := c.Stages[i]
		k := slices.IndexFunc(t.Ops, func(o schedule.Op) bool { return o.Out == s.Input })
		switch {
		case t.Sums != "" || t.hasRowsOf(t.Input) && t.OfAll():
			return
		case k < 0:
			continue
		}
		behind := []*Stage{s}
		if rest := *t; k+1 < len(t.Ops) {
			t.Ops, rest.Ops, rest.First = t.Ops[:k+1:k+1], t.Ops[k+1:], false
			behind = append(behind, &rest)
		}
		c.Stages = slices.Insert(c.Stages[:len(c.Stages)-1], i+1, behind...)
		return
	}
}

// madeInSteps says that all rows of a result are made, those of one rank after another's.
func (c *Chain) madeInSteps(name string) bool {
	return c.any(func(s *Stage) bool {
		made := slices.ContainsFunc(s.Ops, func(o schedule.Op) bool { return o.Out == name })
		return made && s.inSteps() && s.Sums != name
	})
}

// term finds where an operation leaves partial results that another one adds to its own. The stage of that one makes
// them.
func (c *inference) term(i int, o schedule.Op) error {
	if c.widened(o.In[0]) {
		return c.behindColumns(c.path+".In[0]", o.In[0], o.Out)
	}
	done, err := c.edges.Step(i)
	c.At[o.Out] = done.Made
	return err
}
