package stages

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// Order says how rounds take the batches of rows. A round brings a piece of the rows of each rank.
type Order int

// Orders of batches.
const (
	BatchesInRound Order = iota // a round takes its pieces of all batches
	BatchByBatch                // each batch has all rounds, one after the other
	BatchInRound                // each round takes the rows of one batch, those of all ranks
)

// roundSplits are the steps that a result of products is made in: rounds of a rank's rows of all batches, or of one.
func (c *Chain) roundSplits(t schedule.Tensor) ([]schedule.Split, error) {
	outer, batches := t.Axes[0].Outer, schedule.Number(c.Batches)
	if len(outer) > 0 && outer[0].Count.Constant() && outer[0].Count != batches {
		return nil, refused(c.PathOf(c.Schedule.Ops[0].In[0])+".Axes[0].Outer[0].Count", "write the same in both",
			"%d parts where the stream axis of %s has %s steps", c.Batches, t.Name, outer[0].Count)
	}
	if len(outer) == 0 || outer[0].Kind != schedule.StreamAxis {
		return c.ofAllBatches(), nil
	}
	return []schedule.Split{schedule.Stream(batches), {Kind: schedule.Plain, Count: schedule.D}}, nil
}

// ofAllBatches are rounds of a rank's rows of all batches.
func (c *Chain) ofAllBatches() []schedule.Split {
	return []schedule.Split{{Kind: schedule.Plain, Count: schedule.Number(c.Batches)}, schedule.Stream(schedule.D)}
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

// findBatches holds the placements of rows against the number of batches, and finds in which order rounds take these.
func (c *Chain) findBatches() error {
	travel := c.any(func(s *Stage) bool { return s.inSteps() || s.Sums != "" && s.Left.Rows() })
	for i, t := range c.Schedule.Tensors {
		n, at := inBatchesOf(t), c.At[t.Name] // none of what is no row of an operation
		switch steps := n > 0 && t.Axes[0].Outer[0].Kind == schedule.StreamAxis; {
		case c.Batches == 0 || !at.Rows():
		case !travel && n > 0:
			return c.Misplaced(t.Name, c.withoutBatches(), "batches are of rows that travel, and those of %s do not",
				t.Name)
		case travel && n != c.Batches && c.InBatches(t.Axes[0].Extent):
			other := slices.IndexFunc(c.Schedule.Tensors, func(t schedule.Tensor) bool {
				return inBatchesOf(t) == c.Batches
			})
			return refused(fmt.Sprintf("Tensors[%d].Axes[0].Outer", i), "cut the rows of all alike",
				"%s is in %d batches, and %s in %d", t.Name, max(n, 1), c.Schedule.Tensors[other].Name, c.Batches)
		case steps && !c.Schedule.Made(t.Name):
			return c.Misplaced(t.Name, "write it "+cutAs(t, at).String(),
				"%s is %s, and only results are made in steps", t.Name, written(t))
		}
	}
	return c.orderBatches()
}

// InBatches says that rows of an extent come in batches.
func (c *Chain) InBatches(rows schedule.Extent) bool {
	for name, at := range c.At {
		if at.Batches != "" && c.RowExtent(name) == rows {
			return true
		}
	}
	return false
}

// orderBatches finds the order of batches. Of one gather, products and a sum each batch has rounds of its own, so that
// its sums leave while the next one comes. Where one gather and products are all, the first result says it.
func (c *Chain) orderBatches() error {
	if c.Batches == 0 {
		return nil
	}
	first, gathers, sums := c.Stages[0], 0, false
	for _, s := range c.Stages {
		if sums = sums || s.Sums != ""; s.inSteps() {
			gathers++
		}
	}
	if first.inSteps() && first.Sums != "" && !first.ToAll && c.endsIn() && c.InBatches(c.RowExtent(first.Input)) {
		c.Order = BatchByBatch
	}
	made := c.madeOfBatches()
	byBatch := func(t schedule.Tensor) bool { return t.Axes[0].Outer[0].Kind == schedule.StreamAxis }
	for i, t := range made {
		switch {
		case byBatch(t) != byBatch(made[0]):
			return c.Misplaced(t.Name, "place it as "+made[0].Name, "%s is made in another order than %s", t.Name,
				made[0].Name)
		case i > 0 || !byBatch(t):
		case gathers > 1 || sums:
			t.Axes = slices.Clone(t.Axes)
			t.Axes[0].Outer = c.ofAllBatches()
			return c.Misplaced(t.Name, "place it "+c.written(t), "a step makes a batch of all ranks' rows of %s, and "+
				"one gather alone brings these", t.Name)
		default:
			c.Order = BatchInRound
		}
	}
	return nil
}

// madeOfBatches are the declared results in steps that stages make of rows of batches as these come.
func (c *Chain) madeOfBatches() (list []schedule.Tensor) {
	for _, s := range c.Stages {
		if !s.inSteps() || !c.InBatches(c.RowExtent(s.Input)) {
			continue
		}
		for _, o := range s.Ops {
			if t := c.Tensor(o.Out); s.Sums != o.Out && len(t.Axes) > 0 && len(t.Axes[0].Outer) > 0 {
				list = append(list, t)
			}
		}
	}
	return list
}

// batchesAlike refuses parts of another constant number than that of the batches.
func (c *Chain) batchesAlike() error {
	for i, t := range c.Schedule.Tensors {
		for j, a := range t.Axes {
			for k, split := range a.Outer {
				if split.Count != schedule.D && string(split.Count) != strconv.Itoa(c.Batches) {
					return refused(fmt.Sprintf("Tensors[%d].Axes[%d].Outer[%d].Count", i, j, k),
						"write the same in both", "%s parts where the stream axis of %s has %d steps", split.Count,
						c.Schedule.Ops[0].Out, c.Batches)
				}
			}
		}
	}
	return nil
}

// stepsElsewhere refuses a result in steps of batches; so it would be without them.
func (c *Chain) stepsElsewhere(without schedule.Tensor) error {
	return c.Misplaced(without.Name, c.withoutBatches(without), "%s is in steps of batches, and no rows come in some",
		without.Name)
}

// withoutBatches says how to place the tensors whose rows are in batches, and more tensors, without them.
func (c *Chain) withoutBatches(more ...schedule.Tensor) string {
	if slices.ContainsFunc(c.Original.Ops, schedule.Op.Batched) {
		return "use schedule.Linear of the rows of all batches, and let each rank have one part of them"
	}
	var place []string
	for _, t := range c.Schedule.Tensors {
		if inBatchesOf(t) > 0 {
			more = append(more, cutAs(t, edges.Along(0)))
		}
	}
	for _, t := range more {
		place = append(place, t.Name+" "+written(t))
	}
	return "place " + strings.Join(place, ", ")
}

// endsIn says that all stages behind the first work on each rank's own rows.
func (c *Chain) endsIn() bool {
	return !slices.ContainsFunc(c.Stages[1:], func(s *Stage) bool { return !s.Own || s.Calls || s.Sums != "" })
}

// Batches that are an axis of their own lie in memory as rows of all batches do, one batch's after another's: an
// operation on them is lowered as one on all rows, which come in batches. Where nothing travels no rank asks which rows
// another one has: then all axes but the last are rows, and a tensor of any number of axes is lowered as a matrix.

// joinBatches gives such tensors two axes, of the same places in memory.
func (c *Chain) joinBatches() error {
	was := c.Schedule
	list, err := edges.All(was)
	calls := slices.ContainsFunc(was.Ops, func(o schedule.Op) bool { return o.Call != "" }) // which ask for the axes
	travels := err != nil || len(list) > 0 || calls
	c.Schedule.Tensors, c.Schedule.Ops = slices.Clone(was.Tensors), slices.Clone(was.Ops)
	for i, o := range was.Ops {
		if a, given := was.Tensor(o.In[0]); o.Batched() && travels && given && !spread(a) {
			return c.ApartFrom(i, "product")
		}
		if o.Batched() {
			c.Schedule.Ops[i].Index = schedule.Linear("", "", "").Index
		}
		letters, _ := was.Contraction(o) // Validate has read it
		for j, f := range o.Then {
			for _, x := range f.Operands() {
				if !travels && x.Lies == schedule.OfTable && len(letters.Out) > 2 {
					hint := fmt.Sprintf("declare %s and %s with two axes, and %s with the rows of all batches", o.In[0],
						o.Out, x.Tensor)
					return refused(f.PathOf(fmt.Sprintf("Ops[%d].Then[%d]", i, j), x.Tensor), hint,
						"no kernel reads the rows of %s again for each batch", x.Tensor)
				}
			}
		}
	}
	joined := rowsOfBatches(was, travels)
	for i, t := range was.Tensors {
		if n := joined[t.Name]; n > 0 {
			if err := c.joinAxes(i, n, travels); err != nil {
				return err
			}
		}
	}
	if err := c.asMatrices(); err != nil {
		return err
	}
	for _, o := range c.Schedule.Ops { // declares what functions make of such tensors, or of balanced rows
		_, declared := c.Schedule.Tensor(o.Out)
		t := c.Tensor(o.In[0])
		odd := travels && (len(t.Axes) > 2 || edges.Of(t).Size == edges.Balanced)
		if o.Name() == schedule.CopyWord && len(o.Then) > 0 && !declared && odd {
			t.Name, t.Type, t.Scale, t.Within = o.Out, "", "", ""
			c.Schedule.Tensors = append(slices.Clip(c.Schedule.Tensors), t)
		}
	}
	return nil
}

// rowsOfBatches are the tensors with rows of batches, and how many axes are rows: those of products of batches, and of
// functions before and behind them; where nothing travels, those with more axes than rows and columns.
func rowsOfBatches(s schedule.Schedule, travels bool) map[string]int {
	found := map[string]int{}
	for before := -1; before < len(found); {
		before = len(found)
		for _, o := range s.Ops {
			c, _ := s.Contraction(o) // Validate has read it
			functions := o.Name() == schedule.CopyWord && found[o.In[0]]+found[o.Out] > 0
			if !functions && !o.Batched() && (travels || len(c.Out) < 3) {
				continue
			}
			names := []string{o.In[0], o.Out}
			for _, f := range o.Then {
				for _, x := range f.Operands() {
					if x.Lies == schedule.InPlace || x.Lies == schedule.ByRow {
						names = append(names, x.Tensor)
					}
				}
			}
			for _, name := range names {
				found[name] = max(len(c.Out)-1, 2)
			}
		}
	}
	return found
}

// joinAxes makes one axis of the first n of a tensor. Where it travels they are batches and their rows, of which each
// rank has some.
func (c *Chain) joinAxes(i, n int, travels bool) error {
	t := &c.Schedule.Tensors[i]
	joined, path := schedule.Dim(t.Axes[0].Extent), fmt.Sprintf("Tensors[%d].Axes[0]", i)
	_, err := strconv.Atoi(string(joined.Extent))
	switch {
	case travels && err != nil:
		return refused(path+".Extent", "use a constant",
			"no pass lowers %s batches, a number that New would know first", joined.Extent)
	case travels && len(t.Axes[0].Outer) > 0:
		return refused(path+".Outer", "spread the rows by schedule.DIDx(schedule.D)",
			"no pass spreads batches, of which each rank has some rows")
	case travels && len(t.Axes[1].Outer) > 0:
		joined.Outer = []schedule.Split{{Kind: schedule.Plain, Count: joined.Extent}}
	}
	for k, a := range t.Axes[:n] {
		if joined.Outer = append(joined.Outer, a.Outer...); k > 0 {
			joined.Extent = joined.Extent.Joined(a.Extent)
		}
	}
	t.Axes = append([]schedule.Axis{joined}, t.Axes[n:]...)
	return nil
}

// ApartFrom refuses operation i, of batches that are an axis of their own and do not travel one by one.
func (c *Chain) ApartFrom(i int, what string) error {
	return refused(fmt.Sprintf("Ops[%d]", i), "use schedule.Linear of the rows of all batches",
		"no pass does the %s of batches that are an axis", what)
}
