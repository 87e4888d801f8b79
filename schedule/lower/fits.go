package lower

import (
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// fits refuses, of a program that is written, what no rule before has read: placements that its stages leave otherwise,
// and what two ways do that neither does with the other.
func fits(d *draft) error {
	for _, rule := range []func(*draft) error{stepsOfParts, partsOfCalls, countsAlike, movedSums, readWhileItComes,
		givenToBoth, movedInFP32, exchangedAxes, waitsAhead, columnsInPieces, goesOn, piecesOfColumns, flatSquares,
		operandsInSteps, besideAxes, callsOfMatrices, tablesOfBatches} {
		if err := rule(d); err != nil {
			return err
		}
	}
	return nil
}

// eachSplit calls f for each split of the declared tensors, with its field.
func (d *draft) eachSplit(f func(t schedule.Tensor, axis, split int, field string) error) error {
	for i, t := range d.original.Tensors {
		for j, a := range t.Axes {
			for k := range a.Outer {
				if err := f(t, j, k, fmt.Sprintf("Tensors[%d].Axes[%d].Outer[%d]", i, j, k)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// stepsOfParts refuses a rank's part that is cut into steps.
func stepsOfParts(d *draft) error {
	return d.eachSplit(func(t schedule.Tensor, axis, split int, field string) error {
		outer := t.Axes[axis].Outer
		if outer[split].Kind != schedule.StreamAxis || split == 0 || outer[split-1].Kind != schedule.DeviceX {
			return nil
		}
		return refused(field, "leave one of the two out", "each rank has a part of an axis of %s, and it is made in "+
			"steps as well", t.Name)
	})
}

// readWhileItComes refuses work on the caller's tensor of all rows that come in pieces: this rank's are there at last.
func readWhileItComes(d *draft) error {
	for _, s := range d.chain.stages {
		i := slices.IndexFunc(d.schedule.Ops, func(o schedule.Op) bool { return o.Reads(s.into) })
		if s.into == "" || !s.pulls() || i < 0 {
			continue
		}
		return refused(fmt.Sprintf("Ops[%d]", i), "read "+s.input, "products take rows of %s as they come, and %s is "+
			"there at the end", s.input, s.into)
	}
	return nil
}

// givenToBoth refuses a gather for the caller of rows that a gradient takes part by part.
func givenToBoth(d *draft) error {
	for _, s := range d.chain.stages {
		if !s.gathers || !s.addsShares() {
			continue
		}
		if s.into != "" {
			return d.misplaced(s.into, "leave it out",
				"a gradient takes parts of %s as they come, and all of it comes for %s", s.input, s.into)
		}
	}
	return nil
}

// movedInFP32 refuses a tensor of fp32 that travels in a plan of other types.
func movedInFP32(d *draft) error {
	for _, s := range d.chain.stages {
		if t := d.tensor(s.of()); s.gathers && t.Type == schedule.FP32 {
			return refused(d.pathOf(t.Name)+".Type", "leave it out, or round it by a schedule.Copy first",
				"no pass moves a tensor of fp32, such as %s, in plans of other types", t.Name)
		}
	}
	return nil
}

// waitsAhead refuses kernels that wait on the streams of products beside another communication: each holds the device,
// and posts that peers need are behind it.
func waitsAhead(d *draft) error {
	for _, e := range d.program.Edges {
		for _, o := range schedule.Options(e.Way) {
			if o.Field == "WithStep" && !o.Zero && e.Carrier.Signals && len(d.program.Edges) > 1 {
				return refused(e.Path+".WithStep", "leave it out, or let the copy engine signal",
					"a kernel that waits ahead of a product of %s holds the device, and posts of other stages are "+
						"behind it", e.Of)
			}
		}
	}
	return nil
}

// operandsInSteps refuses operands of operations that are in steps as results are.
func operandsInSteps(d *draft) error {
	for _, o := range d.schedule.Ops {
		for _, name := range o.In {
			if t := d.tensor(name); !d.schedule.Made(name) && t.InSteps() {
				return d.misplaced(name, "leave schedule.Stream out", "%s is %s, and only results are made in steps",
					name, d.written(t))
			}
		}
	}
	return nil
}

// besideAxes refuses operands of functions of tensors with more axes than rows and columns that lie otherwise.
func besideAxes(d *draft) error {
	for _, o := range d.original.Ops {
		out, _ := d.original.Tensor(o.Out)
		for _, f := range o.Then {
			for _, x := range f.Operands() {
				t, declared := d.original.Tensor(x.Tensor)
				many := declared && x.Lies == schedule.InPlace && len(out.Axes) > 2 && len(t.Axes) > 2
				if many && (t.Root != out.Root || !lieAlike(t.Axes, out.Axes)) {
					return d.misplaced(t.Name, "place it as "+o.Out, "%s is %s, and %s of it is %s", t.Name, written(t),
						o.Out, written(out))
				}
			}
		}
	}
	return nil
}

// callsOfMatrices refuses calls that name other axes than rows and columns of what an operation makes, or take all
// columns of an operand where the result has a rank's.
func callsOfMatrices(d *draft) error {
	for i, o := range d.schedule.Ops {
		if o.Call == "" {
			continue
		}
		c, err := d.original.Contraction(o)
		if err != nil {
			return err
		}
		for k, in := range c.In {
			_, declared := d.original.Tensor(o.In[k])
			if !declared && len(in) != 2 && !d.calledForSummands(o.In[k]) {
				return refused(fmt.Sprintf("Ops[%d].Index", i), "write two letters",
					"%s has rows and columns, and the index names others", o.In[k])
			}
			if d.original.OfOwnRows(o) && !declared && d.exchanged(o.In[k]) {
				return refused(fmt.Sprintf("Ops[%d].In[%d]", i, k), "declare "+o.In[k]+" with its placement",
					"nothing says which rows of %s, which comes, %s takes", o.In[k], o.Call)
			}
			at, known := d.chain.at[o.In[k]]
			spread := d.chain.at[o.Out].Columns() && !c.OfRanks()
			if known && spread && len(in) == 2 && len(c.Out) == 2 && in[1] == c.Out[1] && !at.Columns() {
				return d.unfit(fmt.Sprintf("Ops[%d]", i), o, k, "every rank has all columns of %s, and %s makes some",
					"spread the columns of all operands")
			}
		}
	}
	return nil
}

// exchanged says that a tensor comes by an exchange of rows and columns.
func (d *draft) exchanged(name string) bool {
	return d.any(func(s *stage) bool { return s.moved.Kind == edges.AllToAll && s.into == name })
}

// tablesOfBatches refuses functions that read a row of a tensor for each row of batches.
func tablesOfBatches(d *draft) error {
	for i, o := range d.original.Ops {
		for j, f := range o.Then {
			for _, x := range f.Operands() {
				t, declared := d.original.Tensor(x.Tensor)
				if d.chunks > 0 && declared && x.Lies == schedule.OfTable {
					return rowOfBatches(d.thenOf(i, j), t.Name, o.Out, schedule.Number(d.chunks))
				}
			}
		}
	}
	return nil
}

// rowOfBatches refuses such a function.
func rowOfBatches(path, table, of string, batches schedule.Extent) error {
	return refused(path, "leave it out, or let the rows be no batches",
		"%s has a row for each row of one batch, and those of %s come in %s", table, of, batches)
}

// thenOf is the path, in the draft, of a function of a declared operation; asDeclared takes it back.
func (d *draft) thenOf(op, then int) string {
	for i, x := range slices.Backward(d.origins) {
		if x.Op == op && x.Then <= then {
			return fmt.Sprintf("Ops[%d].Then[%d]", i, then-x.Then)
		}
	}
	return fmt.Sprintf("Ops[%d].Then[%d]", op, then)
}
