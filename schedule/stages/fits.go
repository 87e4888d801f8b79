package stages

import (
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// Fits refuses placements that do not go together, and operands that lie otherwise than operations take them. What the
// ways refuse comes first: their hints lead nearer.
func (c *Chain) Fits() error {
	for _, rule := range []func() error{
		c.headsFit, c.countsAlike, c.movedSums, c.goesOn, c.evenSums, c.operationsFit, c.besideFits, c.axesFit,
		c.movesFit,
	} {
		if err := rule(); err != nil {
			return err
		}
	}
	return nil
}

// operationsFit refuses operands that are in steps as results are. Of calls it refuses other axes than rows and columns
// of what an operation makes, and all columns of an operand where the result has a rank's.
func (c *Chain) operationsFit() error {
	for i, o := range c.Schedule.Ops {
		letters, _ := c.Original.Contraction(o) // Validate has read it
		some := c.At[o.Out].Columns() && !letters.OfRanks()
		for k, name := range o.In {
			t, in := c.Tensor(name), letters.In[k]
			_, declared := c.Original.Tensor(name)
			at, known := c.At[name]
			comes := c.any(func(s *Stage) bool { return s.Moved.Kind == edges.AllToAll && s.Into == name })
			switch {
			case !c.Schedule.Made(name) && t.InSteps():
				return c.Misplaced(name, "leave schedule.Stream out", "%s is %s, and only results are made in steps",
					name, c.written(t))
			case o.Call == "":
			case !declared && len(in) != 2 && !c.CalledForSummands(name):
				return refused(fmt.Sprintf("Ops[%d].Index", i), "write two letters",
					"%s has rows and columns, and the index names others", name)
			case !declared && c.Original.OfOwnRows(o) && comes:
				return refused(fmt.Sprintf("Ops[%d].In[%d]", i, k), "declare "+name+" with its placement",
					"nothing says which rows of %s, which comes, %s takes", name, o.Call)
			case known && some && len(in) == 2 && len(letters.Out) == 2 && in[1] == letters.Out[1] && !at.Columns():
				return c.unfit(fmt.Sprintf("Ops[%d]", i), o, k, "every rank has all columns of %s, and %s makes some",
					"spread the columns of all operands")
			}
		}
	}
	return nil
}

// besideFits refuses operands of functions that lie otherwise than a result with more axes than rows and columns, or of
// which a row is read for each row of batches.
func (c *Chain) besideFits() error {
	for i, o := range c.Original.Ops {
		out, _ := c.Original.Tensor(o.Out)
		for j, f := range o.Then {
			for _, x := range f.Operands() {
				t, declared := c.placedAs(x.Tensor)
				many := declared && x.Lies == schedule.InPlace && len(out.Axes) > 2 && len(t.Axes) > 2
				switch {
				case many && (t.Root != out.Root || !lieAlike(t.Axes, out.Axes)):
					return c.Misplaced(t.Name, "place it as "+o.Out, "%s is %s, and %s of it is %s", t.Name, written(t),
						o.Out, written(out))
				case c.rereads(x, o.Out) && t.Name == x.Tensor:
					path := fmt.Sprintf("Ops[%d].Then[%d]", i, j)
					for k, in := range slices.Backward(c.origins) { // asDeclared takes it back
						if in.op == i && in.then <= j {
							path = fmt.Sprintf("Ops[%d].Then[%d]", k, j-in.then)
							break
						}
					}
					return rowOfBatches(f.PathOf(path, t.Name), t.Name, o.Out, schedule.Number(c.Batches))
				}
			}
		}
	}
	return nil
}

// placedAs is the declared tensor that has the places of another one: itself, or the one that functions make it of.
func (c *Chain) placedAs(name string) (t schedule.Tensor, declared bool) {
	for {
		if t, declared = c.Original.Tensor(name); declared {
			return t, true
		}
		o, made := c.Original.Maker(name)
		if !made || o.Name() != schedule.CopyWord || len(o.Then) == 0 {
			return t, false
		}
		name = o.In[0]
	}
}

// movesFit refuses what a stage brings or moves, and no communication does.
func (c *Chain) movesFit() error {
	for _, s := range c.Stages {
		in, of := c.Tensor(s.Input), c.Tensor(s.Of())
		exchanged := s.Moved.Kind == edges.AllToAll && len(in.Axes) > 2
		most := slices.IndexFunc(c.Schedule.Tensors, func(t schedule.Tensor) bool { return c.Split(t.Name).Most != "" })
		switch {
		case exchanged && most >= 0:
			return refused(c.SplitPath(c.Schedule.Tensors[most].Name, "Most"), "leave it out",
				"an all-to-all makes room for M elements a rank, whatever its parts are")
		case s.Gathers && s.AddsShares() && s.Into != "":
			return c.Misplaced(s.Into, "leave it out",
				"a gradient takes parts of %s as they come, and all of it comes for %s", s.Input, s.Into)
		case s.Moved.Kind == edges.AllToAll && c.ofColumnsThatCome(s.Input):
			o, _ := c.Schedule.Maker(s.Input)
			return c.MisplacedIn(o.In[0], edges.State{}, "%s is made of all columns of %s, which come, and its rows "+
				"go to other ranks", s.Input, o.In[0])
		case s.Gathers && of.Type == schedule.FP32:
			return refused(c.PathOf(of.Name)+".Type", "leave it out, or round it by a schedule.Copy first",
				"no pass moves a tensor of fp32, such as %s, in plans of other types", of.Name)
		case exchanged && (in.Axes[0].Extent != schedule.D || in.Axes[1].Extent != schedule.D ||
			max(s.Moved.From.Axis, s.Moved.To.Axis) > 2):
			return c.Misplaced(in.Name, "let it have rows and columns",
				"no pass exchanges parts of %s, which has %d axes", in.Name, len(in.Axes))
		}
	}
	return nil
}

// ofColumnsThatCome says that a product makes a tensor of all columns of an operand, which come before it.
func (c *Chain) ofColumnsThatCome(name string) bool {
	o, _ := c.Schedule.Maker(name)
	return o.Multiplies() && c.fetches[o.In[0]].From.Columns()
}

// OfMovedColumns says that functions make a tensor of rows that come in parts of their columns.
func (c *Chain) OfMovedColumns(name string) bool {
	o, made := c.Schedule.Maker(name)
	return made && o.Name() == schedule.CopyWord && c.any(func(s *Stage) bool {
		return s.Moved.Kind == edges.AllToAll && s.Moved.From.Columns() && s.Into == o.In[0]
	})
}

// axesFit refuses functions of tensors of several axes that lie otherwise than their results, and of parts by counts
// that nothing brings.
func (c *Chain) axesFit() error {
	for i, o := range c.Schedule.Ops {
		in, _ := c.Original.Tensor(o.In[0])
		out, _ := c.Original.Tensor(o.Out)
		if o.Name() != schedule.CopyWord || len(o.Then) == 0 || len(in.Axes) < 3 {
			continue
		}
		switch {
		case c.manyAxes(in.Name) && c.manyAxes(out.Name) && !lieAlike(in.Axes, out.Axes):
			return c.Misplaced(out.Name, "place it "+cutAs(out, edges.Of(in)).String(),
				"no communication leads from %s %s to %s %s", in.Name, written(in), out.Name, written(out))
		case c.Split(in.Name).Uneven && !c.any(func(s *Stage) bool { return s.Gathers || s.Sums != "" }):
			hint := fmt.Sprintf("exchange %s by a schedule.Copy, or make %s without a plan", in.Name, o.Out)
			return refused(fmt.Sprintf("Ops[%d]", i), hint, "parts of %s are by counts, and nothing brings them",
				in.Name)
		}
	}
	return nil
}

// rereads says that a table has a row for each row of one batch: the batches have an axis.
func (c *Chain) rereads(x schedule.Operand, result string) bool {
	return c.Batches > 0 && x.Lies == schedule.OfTable && c.RowExtent(x.Tensor) != c.RowExtent(result)
}

func rowOfBatches(path, table, of string, batches schedule.Extent) error {
	return refused(path, "leave it out, or let the rows be no batches",
		"%s has a row for each row of one batch, and those of %s come in %s", table, of, batches)
}

func (c *Chain) movedSums() error {
	for _, t := range c.Original.Tensors {
		path, n := c.shiftOf(t.Name)
		o, made := c.Original.Maker(t.Name)
		for made && o.Name() == schedule.CopyWord && (len(o.Then) > 0 || !c.known(o.In[0])) {
			o, made = c.Original.Maker(o.In[0])
		}
		if n != 0 && made && c.Original.Partial(o) {
			return refused(path, "leave it out, and move it by a schedule.Copy",
				"partial results of %s meet at the rank of their number", t.Name)
		}
	}
	return nil
}

// goesOn refuses a sum behind products of gathered columns.
func (c *Chain) goesOn() error {
	for i, s := range c.Stages {
		for _, o := range s.Ops {
			sums := c.any(func(x *Stage) bool { return x.ToAll && slices.Contains(InRows(o.Then), x.Sums) })
			if c.behindGathered(i, o.In[0]) && (s.Sums != "" || s.GathersColumns()) ||
				o.Multiplies() && s.Gathers && s.Moved.From.Columns() && sums { // made a rank's rows at a time
				return c.behindColumns(fmt.Sprintf("Ops[%d].In[0]", c.indexOf(o)), o.In[0], o.Out)
			}
		}
	}
	return nil
}

// indexOf is the number of an operation of a stage. asDeclared takes its path to that of the declared one.
func (c *Chain) indexOf(o schedule.Op) int {
	return slices.IndexFunc(c.Schedule.Ops, func(x schedule.Op) bool { return x.Out == o.Out })
}

// behindGathered says that products of all columns of a result, which an earlier stage gathers, make a tensor.
func (c *Chain) behindGathered(before int, name string) bool {
	for products := 0; ; {
		o, made := c.Schedule.Maker(name)
		gathered := slices.ContainsFunc(c.Stages[:before], func(s *Stage) bool {
			return s.GathersColumns() && (s.Of() == name || s.Into == name)
		})
		if gathered || !made {
			return gathered && products > 0
		}
		if o.Multiplies() {
			products++
		}
		name = o.In[0]
	}
}
