package old

import (
	"fmt"
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// A chain is a list of operations in which later ones read results of earlier ones. The placements of the weights
// decide where the rows and columns of each tensor are: a weight that is spread over the ranks is
// multiplied with all rows, and one that is spread along the axis of the sum leaves partial results. So
// rows are gathered, go through operations and leave as sums, stage after stage.
type chain struct {
	stages []stage
	at     map[string]flow // tensors
	wrong  error           // the first function or placement that is to blame, unless nothing travels
}

// flow is where the rows and columns of a tensor are.
type flow struct {
	own     bool // each rank has its own rows, else all
	columns bool // each rank has its columns, else all
}

// stage is the operations on rows from one communication to the next.
type stage struct {
	input   string        // its first operand
	gathers bool          // the rows of the input have to come from their owners
	own     bool          // it works on each rank's own rows only
	calls   bool          // it is the caller's own work
	launch  hostir.Launch // of that, where a kernel does it
	ops     []schedule.Op
	sums    string // the last result, if the ranks have partial results; else empty
	toAll   bool   // every rank gets the sums of all rows, else of its own
	widened string // a result that each rank makes columns of and gets whole; else empty
	parts   int    // of own rows, as they go on from the sum; 0 and 1: whole
	partsAt string // the field that says so
	// How the rows come, and how the partial results meet; nil: one rank's after another's.
	gathering, summing atOnce
}

// copies says that the copy engine brings rows of the input, or columns of a result, from peers.
func (s *stage) copies() bool { return s.pulls() || s.gathersColumns() }

// pulls says that the rows of a stage's input are copied from their owners, one rank's after the other.
func (s *stage) pulls() bool { return s.gathers && s.gathering == nil }

// puts says that the partial results of a stage are put into slots at their owners.
func (s *stage) puts() bool { return s.sums != "" && s.summing == nil }

// widens says that the sums of a stage are kept in fp32.
func (s *stage) widens() bool {
	return s.sums != "" && slices.ContainsFunc(s.ops[len(s.ops)-1].Then,
		func(f schedule.Func) bool { return do(f) == applyToFP32 })
}

// meets says that a collective, or the kernel of a sum, needs all ranks while it holds the device.
func (s *stage) meets() bool { return s.gathering != nil || s.summing != nil }

// here is the buffer in which a stage works on all ranks' rows of its input.
func (s *stage) here() string {
	if s.gathers {
		return s.input + gatheredSuffix
	}
	return s.input
}

// makes says that an open stage has a tensor.
func (s *stage) makes(name string) bool {
	return s.sums == "" && !s.calls && s.widened != name && (s.input == name && !s.gathers ||
		slices.ContainsFunc(s.ops, func(o schedule.Op) bool { return o.Out == name }))
}

// chained finds the stages of a schedule, and holds the placements of its tensors against them.
func chained(d *draft) error {
	c := &chain{at: map[string]flow{}}
	for i, o := range d.schedule.Ops {
		if err := c.step(d, i, o); err != nil {
			return errorsOf(c.wrong, err)
		}
	}
	d.chain = c
	if len(d.legs()) == 0 {
		return c.idle(d)
	}
	if c.wrong != nil {
		return c.wrong
	}
	return c.batched(d)
}

// step adds an operation to the last stage, or begins another.
func (c *chain) step(d *draft, i int, o schedule.Op) error {
	path := fmt.Sprintf("Ops[%d]", i)
	if o.Call != "" {
		return c.call(d, path, o)
	}
	x, err := c.operand(d, o.In[0])
	switch {
	case err != nil:
		return err
	case kind(o.Name()) == copied && len(o.Then) > 0:
		return c.follow(d, path, o, x, x, x.own)
	case kind(o.Name()) != linear:
		return d.unapplied(path+".Then[0]", o, 0, kind(o.Name()))
	}
	if err := c.sameRows(d, path, o); err != nil {
		return err
	}
	w, _ := d.schedule.Tensor(o.In[1])
	byColumns, summed := overRanks(w, 0), overRanks(w, 1)
	switch {
	case w.Name == "" || d.schedule.Made(w.Name):
		return &schedule.FieldError{Path: path + ".In[1]", Hint: "name a tensor that no operation makes",
			Msg: fmt.Sprintf("no pass multiplies a chain by %s, which an operation makes", o.In[1])}
	case w.Root || slices.ContainsFunc([]int{0, 1}, func(axis int) bool {
		return len(w.Axes[axis].Outer) > 0 && !overRanks(w, axis)
	}):
		return d.misplaced(w.Name, fmt.Sprintf("no pass multiplies a chain by a weight %s", written(w)),
			"spread one of its axes by schedule.DIDx(schedule.D), or none")
	case summed && !x.columns:
		return d.misplaced(o.In[0],
			fmt.Sprintf("%s is spread along what is summed over, and %s is whole there", w.Name, o.In[0]),
			"spread both, or none")
	case x.columns && !summed:
		return d.misplaced(w.Name,
			fmt.Sprintf("%s is spread along what is summed over, and %s is not", o.In[0], w.Name),
			"place it "+schedule.Tensor{Axes: []schedule.Axis{{Extent: w.Axes[0].Extent},
				schedule.Dim(w.Axes[1].Extent, schedule.DIDx(schedule.D))}}.String())
	}
	own := x.own && !byColumns && !summed && !c.wanted(d, o.Out)
	out := flow{own: own, columns: byColumns}
	if summed {
		out.own = c.ownSum(d, o)
	}
	return c.follow(d, path, o, x, out, own)
}

// wanted says that the caller wants all rows of a result, or that a call takes them.
func (c *chain) wanted(d *draft, result string) bool {
	if t, declared := d.schedule.Tensor(result); declared {
		return !spread(t)
	}
	return slices.ContainsFunc(d.schedule.Ops, func(o schedule.Op) bool {
		return slices.Contains(o.In, result) && (o.Call != "" || kind(o.Name()) == copied && c.wanted(d, o.Out))
	})
}

// follow adds an operation that leads from one place of rows and columns to another; own says that it
// works on each rank's own rows only.
func (c *chain) follow(d *draft, path string, o schedule.Op, x, out flow, own bool) error {
	s := c.stage(o.In[0], x.own && !own, own)
	if s == nil {
		return c.left(d, o)
	}
	s.ops = append(s.ops, o)
	if x.columns && kind(o.Name()) == linear {
		s.sums, s.toAll = o.Out, !out.own
	}
	c.at[o.Out] = out
	c.blame(c.functions(d, path, o, s))
	if out.columns && s.sums != o.Out && s.widened == "" && undividedMatrix(d.schedule, o.Out) {
		s.widened = o.Out
		return nil
	}
	c.blame(c.placed(d, o.Out, out, s.gathers && s.sums != o.Out))
	return nil
}

// blame keeps the first error.
func (c *chain) blame(err error) { c.wrong = errorsOf(c.wrong, err) }

// operand is where the rows and columns of an operand are.
func (c *chain) operand(d *draft, name string) (flow, error) {
	if f, known := c.at[name]; known {
		return f, nil
	}
	t, _ := d.schedule.Tensor(name)
	if len(t.Axes) != 2 {
		why := fmt.Sprintf("%s has %d axes, and a chain's tensors have rows and columns", name, len(t.Axes))
		return flow{}, d.misplaced(name, why, "give it two axes")
	}
	rows := t.Axes[0].Outer
	n := len(rows)
	f := flow{own: n > 0, columns: overRanks(t, 1)}
	if t.Root || n > 0 && rows[n-1] != schedule.DIDx(schedule.D) || !f.columns && len(t.Axes[1].Outer) > 0 {
		return f, d.misplaced(name, fmt.Sprintf("no pass takes %s %s into a chain", name, written(t)),
			"spread its rows or its columns by schedule.DIDx(schedule.D), or nothing")
	}
	c.at[name] = f
	return f, nil
}

// stage is that of an operation on a tensor: the last one or a new one, nil where the tensor belongs
// to an earlier one.
func (c *chain) stage(input string, gathers, own bool) *stage {
	if last := len(c.stages) - 1; last >= 0 {
		s := &c.stages[last]
		if !gathers && s.makes(input) || gathers && s.gathers && s.input == input && s.sums == "" {
			return s
		}
	}
	for _, s := range c.stages {
		if gathers && s.gathers && s.input == input || s.widened == input {
			return nil
		}
		made := slices.ContainsFunc(s.ops, func(o schedule.Op) bool { return o.Out == input })
		if made && s.sums != input && !s.own && !s.calls {
			return nil
		}
	}
	c.stages = append(c.stages, stage{input: input, gathers: gathers, own: own})
	return &c.stages[len(c.stages)-1]
}

// ownSum says that each rank gets its own rows of a sum: where the sum is declared so, or a tensor that
// is added to it; else where nothing says that every rank gets all.
func (c *chain) ownSum(d *draft, o schedule.Op) bool {
	for _, name := range []string{o.Out, o.Added()} {
		if t, declared := d.schedule.Tensor(name); declared {
			return len(t.Axes[0].Outer) > 0
		}
	}
	if x, made := c.at[o.Added()]; made {
		return x.own
	}
	return !d.wantedWhole(o.Out)
}

// wantedWhole says that every rank needs all rows of a sum that is not declared: a call takes it, or it is added to
// another sum whose rows every rank gets, or functions of it are declared so.
func (d *draft) wantedWhole(sum string) bool {
	return slices.ContainsFunc(d.schedule.Ops, func(o schedule.Op) bool {
		reads := slices.Contains(o.In, sum)
		switch {
		case o.Call != "":
			return reads
		case kind(o.Name()) == copied:
			return reads && d.wholeOr(o.Out, d.wantedWhole)
		}
		return false
	}) || d.addedWhole(sum)
}

// addedWhole says that a tensor, or a product of it with a whole weight, is added to a sum whose rows every rank
// gets.
func (d *draft) addedWhole(name string) bool {
	return slices.ContainsFunc(d.schedule.Ops, func(o schedule.Op) bool {
		switch {
		case o.Added() == name:
			return d.wholeOr(o.Out, d.wantedWhole)
		case kind(o.Name()) != linear || o.In[0] != name:
			return false
		}
		_, declared := d.schedule.Tensor(o.Out)
		weight, _ := d.schedule.Tensor(o.In[1])
		return !declared && !spread(weight) && d.addedWhole(o.Out)
	})
}

// wholeOr says that a declared tensor is whole on every rank; of another one, otherwise decides.
func (d *draft) wholeOr(name string, otherwise func(string) bool) bool {
	if t, declared := d.schedule.Tensor(name); declared {
		return !spread(t)
	}
	return otherwise(name)
}

// placed holds the placement of a declared tensor against where its rows and columns are. In steps are
// results that are made a rank's rows at a time. A tensor of one axis has columns alone.
func (c *chain) placed(d *draft, name string, f flow, steps bool) error {
	t, declared := d.schedule.Tensor(name)
	if !declared {
		return nil
	}
	want := schedule.Tensor{Axes: slices.Clone(t.Axes), Within: t.Within, Type: t.Type}
	split := func(axis int, spread bool, otherwise ...schedule.Split) {
		want.Axes[axis].Outer = otherwise
		if spread {
			want.Axes[axis].Outer = []schedule.Split{schedule.DIDx(schedule.D)}
		}
	}
	last := len(t.Axes) - 1
	split(last, f.columns)
	if last > 0 {
		split(0, f.own)
		if steps && !f.own {
			split(0, false, schedule.Stream(schedule.D))
		}
		if f.own && inBatchesOf(t) > 0 {
			want.Axes[0].Outer = t.Axes[0].Outer
		}
	}
	if got := written(t); got != want.String() {
		return d.misplaced(name, fmt.Sprintf("%s is %s, and the operations leave it otherwise", name, got),
			"place it "+want.String())
	}
	return nil
}

// misplaced is the refusal of a placement.
func (d *draft) misplaced(tensor, problem, hint string) error {
	path := "Tensors"
	if i := slices.IndexFunc(d.schedule.Tensors, func(t schedule.Tensor) bool { return t.Name == tensor }); i >= 0 {
		path = fmt.Sprintf("Tensors[%d]", i)
	}
	return &schedule.FieldError{Path: path, Msg: problem, Hint: hint}
}

// inBatchesOf counts the batches of a tensor's rows, each spread over the ranks; none is 0.
func inBatchesOf(t schedule.Tensor) int {
	outer := t.Axes[0].Outer
	if len(outer) != 2 || outer[1] != schedule.DIDx(schedule.D) {
		return 0
	}
	n, err := strconv.Atoi(string(outer[0].Count))
	if err != nil || outer[0].Kind != schedule.Plain && outer[0].Kind != schedule.StreamAxis {
		return 0
	}
	return n
}

// batched finds in how many batches the rows come: one gather and one sum can take them in turn.
func (c *chain) batched(d *draft) error {
	first := c.stages[0]
	a, _ := d.schedule.Tensor(first.input)
	d.chunks = inBatchesOf(a)
	for i, t := range d.schedule.Tensors {
		n := inBatchesOf(t)
		f, rows := c.at[t.Name]
		alike := n == d.chunks
		if alike && n > 0 {
			alike = d.schedule.Made(t.Name) == (t.Axes[0].Outer[0].Kind == schedule.StreamAxis)
		}
		if !rows || !f.own || alike {
			continue
		}
		return &schedule.FieldError{Path: fmt.Sprintf("Tensors[%d].Axes[0].Outer", i),
			Msg:  fmt.Sprintf("%s is in %d batches, and %s in %d", t.Name, max(n, 1), a.Name, max(d.chunks, 1)),
			Hint: "cut the rows of both alike, those of the result by schedule.Stream"}
	}
	if d.chunks > 0 && (len(c.stages) > 1 || !first.gathers || first.sums == "" || first.toAll) {
		return d.misplaced(a.Name, "no pass takes batches through other chains than a gather, products and a sum",
			"leave the batches out")
	}
	return nil
}
