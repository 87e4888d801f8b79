package lower

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// The rules here and in fits_cuts.go look at the program once it is written. They refuse placements that differ from
// where its stages leave the tensors, and two ways that can't be used together.

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

// stagesFit refuses what a stage brings or moves, and the placements ask for otherwise.
func stagesFit(d *draft) error {
	for _, s := range d.chain.stages {
		in, of := d.tensor(s.input), d.tensor(s.of())
		exchanged := s.moved.Kind == edges.AllToAll && len(in.Axes) > 2
		reads := slices.IndexFunc(d.schedule.Ops, func(o schedule.Op) bool { return s.into != "" && o.Reads(s.into) })
		switch {
		case s.pulls() && reads >= 0:
			return refused(fmt.Sprintf("Ops[%d]", reads), "read "+s.input,
				"products take rows of %s as they come, and %s is there at the end", s.input, s.into)
		case s.gathers && s.addsShares() && s.into != "":
			return d.misplaced(s.into, "leave it out",
				"a gradient takes parts of %s as they come, and all of it comes for %s", s.input, s.into)
		case s.moved.Kind == edges.AllToAll && d.ofColumnsThatCome(s.input):
			o, _ := d.schedule.Maker(s.input)
			return d.misplacedIn(o.In[0], edges.State{}, "%s is made of all columns of %s, which come, and its rows "+
				"go to other ranks", s.input, o.In[0])
		case d.original.OverHosts() && s.toAll && d.widens(s):
			return refused(d.pathOf(d.declaredAs(s.sums))+".Type", "leave it out",
				"no pass keeps sums for all ranks over hosts in fp32, such as %s", s.sums)
		case s.gathers && of.Type == schedule.FP32:
			return refused(d.pathOf(of.Name)+".Type", "leave it out, or round it by a schedule.Copy first",
				"no pass moves a tensor of fp32, such as %s, in plans of other types", of.Name)
		case exchanged && (in.Axes[0].Extent != schedule.D || in.Axes[1].Extent != schedule.D ||
			max(s.moved.From.Axis, s.moved.To.Axis) > 2):
			return d.misplaced(in.Name, "let it have rows and columns",
				"no pass exchanges parts of %s, which has %d axes", in.Name, len(in.Axes))
		}
	}
	return nil
}

// ofMovedColumns says that functions make a tensor of rows that come in parts of their columns.
func (d *draft) ofMovedColumns(name string) bool {
	o, made := d.schedule.Maker(name)
	return made && kind(o.Name()) == copied && d.any(func(s *stage) bool {
		return s.moved.Kind == edges.AllToAll && s.moved.From.Columns() && s.into == o.In[0]
	})
}

// ofColumnsThatCome says that a product makes a tensor of all columns of an operand, which come before it.
func (d *draft) ofColumnsThatCome(name string) bool {
	o, _ := d.schedule.Maker(name)
	return multiplies(o) && d.chain.fetches[o.In[0]].From.Columns()
}

// edgesFit refuses options of a way beside the other communications. A kernel that waits on the streams of products
// holds the device, and posts that peers need are behind it.
func edgesFit(d *draft) error {
	for i, e := range d.program.Edges {
		s := d.legs[i].stage
		blocks := slices.ContainsFunc(s.ops, func(o schedule.Op) bool {
			return d.tensor(d.tensor(o.In[0]).Scale).ByBlock()
		})
		way := cmp.Or(e.Path, hostir.MovesField)
		if blocks && e.Steps == s.sums && s.left.Columns() {
			return d.misplacedIn(d.declaredAs(s.sums), edges.Along(0),
				"%s takes columns of %s, and scales of what is multiplied lie block by block", schedule.WayName(e.Way),
				e.Of)
		}
		if d.legs[i].by.elements && blocks {
			return refused(way, "use schedule.Shot", "%s cuts the sums of %s between elements, "+
				"and scales of blocks lie block by block", schedule.WayName(e.Way), e.Of)
		}
		if whole := s.summing != nil && len(s.taken) == 0; blocks && e.Steps == s.sums && !s.gathers && !whole {
			path, instead := way, "use schedule.Shot"
			if d.original.OverHosts() {
				path, instead = "Mesh", "leave the mesh out, for ranks of one host"
			}
			return refused(path, instead, "%s takes a part of the rows that are summed to %s, and their scales lie "+
				"block by block", schedule.WayName(e.Way), e.Of)
		}
		for _, o := range schedule.Options(e.Way) {
			pieces := o.Field == "Parts" && !o.Zero && o.Value != "1" || o.Value == string(schedule.Both)
			moved := slices.IndexFunc(s.ops, func(o schedule.Op) bool {
				return d.any(func(t *stage) bool { return t.moved.Kind == edges.AllToAll && t.input == o.Out })
			})
			switch {
			case o.Field == "WithStep" && !o.Zero && e.Carrier.Signals && len(d.program.Edges) > 1:
				return refused(e.Path+".WithStep", "leave it out, or let the copy engine signal",
					"a kernel that waits ahead of a product of %s holds the device, and posts of other stages are "+
						"behind it", e.Of)
			case pieces && e.Steps != s.sums && d.ofMovedColumns(s.input):
				return refused(e.Path+"."+o.Field, "leave it out",
					"rows of %s are made of parts of columns that come, and travel in pieces", s.input)
			case pieces && moved >= 0 && e.Steps != s.sums:
				return refused(e.Path+"."+o.Field, "leave it out",
					"parts of the columns of %s travel, and its rows are made in pieces", s.ops[moved].Out)
			}
		}
	}
	return nil
}

// operationsFit refuses operands that are in steps as results are. Of calls it refuses other axes than rows and columns
// of what an operation makes, and all columns of an operand where the result has a rank's.
func operationsFit(d *draft) error {
	for i, o := range d.schedule.Ops {
		c, err := d.original.Contraction(o)
		if err != nil {
			return err
		}
		some := d.chain.at[o.Out].Columns() && !c.OfRanks()
		for k, name := range o.In {
			t, in := d.tensor(name), c.In[k]
			_, declared := d.original.Tensor(name)
			at, known := d.chain.at[name]
			comes := d.any(func(s *stage) bool { return s.moved.Kind == edges.AllToAll && s.into == name })
			switch {
			case !d.schedule.Made(name) && t.InSteps():
				return d.misplaced(name, "leave schedule.Stream out", "%s is %s, and only results are made in steps",
					name, d.written(t))
			case o.Call == "":
			case !declared && len(in) != 2 && !d.calledForSummands(name):
				return refused(fmt.Sprintf("Ops[%d].Index", i), "write two letters",
					"%s has rows and columns, and the index names others", name)
			case !declared && d.original.OfOwnRows(o) && comes:
				return refused(fmt.Sprintf("Ops[%d].In[%d]", i, k), "declare "+name+" with its placement",
					"nothing says which rows of %s, which comes, %s takes", name, o.Call)
			case known && some && len(in) == 2 && len(c.Out) == 2 && in[1] == c.Out[1] && !at.Columns():
				return d.unfit(fmt.Sprintf("Ops[%d]", i), o, k, "every rank has all columns of %s, and %s makes some",
					"spread the columns of all operands")
			}
		}
	}
	return nil
}

// besideFits refuses operands of functions that lie otherwise than a result with more axes than rows and columns, or of
// which a row is read for each row of batches.
func besideFits(d *draft) error {
	for i, o := range d.original.Ops {
		out, _ := d.original.Tensor(o.Out)
		for j, f := range o.Then {
			for _, x := range f.Operands() {
				t, declared := d.original.Tensor(x.Tensor)
				many := declared && x.Lies == schedule.InPlace && len(out.Axes) > 2 && len(t.Axes) > 2
				switch {
				case many && (t.Root != out.Root || !lieAlike(t.Axes, out.Axes)):
					return d.misplaced(t.Name, "place it as "+o.Out, "%s is %s, and %s of it is %s", t.Name, written(t),
						o.Out, written(out))
				case d.chunks > 0 && declared && x.Lies == schedule.OfTable:
					path := fmt.Sprintf("Ops[%d].Then[%d]", i, j)
					for k, in := range slices.Backward(d.origins) { // asDeclared takes it back
						if in.Op == i && in.Then <= j {
							path = fmt.Sprintf("Ops[%d].Then[%d]", k, j-in.Then)
							break
						}
					}
					return rowOfBatches(f.PathOf(path, t.Name), t.Name, o.Out, schedule.Number(d.chunks))
				}
			}
		}
	}
	return nil
}

// axesFit refuses functions of tensors of several axes that lie otherwise than their results, and of parts by counts
// that nothing brings.
func axesFit(d *draft) error {
	for i, o := range d.schedule.Ops {
		in, _ := d.original.Tensor(o.In[0])
		out, _ := d.original.Tensor(o.Out)
		if kind(o.Name()) != copied || len(o.Then) == 0 || len(in.Axes) < 3 {
			continue
		}
		switch {
		case d.manyAxes(in.Name) && d.manyAxes(out.Name) && !lieAlike(in.Axes, out.Axes):
			return d.misplaced(out.Name, "place it "+cutAs(out, edges.Of(in)).String(),
				"no communication leads from %s %s to %s %s", in.Name, written(in), out.Name, written(out))
		case d.split(in.Name).Uneven && len(d.legs) == 0:
			hint := fmt.Sprintf("exchange %s by a schedule.Copy, or make %s without a plan", in.Name, o.Out)
			return refused(fmt.Sprintf("Ops[%d]", i), hint, "parts of %s are by counts, and nothing brings them",
				in.Name)
		}
	}
	return nil
}

func rowOfBatches(path, table, of string, batches schedule.Extent) error {
	return refused(path, "leave it out, or let the rows be no batches",
		"%s has a row for each row of one batch, and those of %s come in %s", table, of, batches)
}
