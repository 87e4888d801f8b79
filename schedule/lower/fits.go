package lower

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// fits refuses, of a program that is written, what no rule before has read: placements that its stages leave otherwise,
// and what two ways do that neither does with the other.
func fits(d *draft) error {
	for _, rule := range []func(*draft) error{stepsOfParts, countsAlike, movedSums, readWhileItComes, givenToBoth, codesOfFP32,
		ofBatchesOfParts, waitsAhead, columnsInPieces, partsOfCalls, goesOn, piecesOfColumns, gatheredByParts,
		flatSquares} {
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

// countsAlike refuses parts by counts of other axes than rows, of a constant number of rows, and rows in other parts
// beside them: those of all tensors of that number of rows have one list of counts.
func countsAlike(d *draft) error {
	counted, balanced := map[schedule.Extent]string{}, map[schedule.Extent]string{}
	err := d.eachSplit(func(t schedule.Tensor, axis, split int, field string) error {
		a := t.Axes[axis]
		_, scales := d.original.ScaledBy(t.Name)
		switch s := a.Outer[split]; {
		case s.Balanced:
			balanced[a.Extent] = t.Name
			return nil
		case !s.Uneven || a.Extent == schedule.D || scales:
			return nil
		case kind(d.schedule.Ops[0].Name()) == gradient:
			return refused(field+".Uneven", "leave it out", "no pass makes a gradient in parts by counts, as those of %s",
				t.Name)
		case axis > 0:
			return refused(field+".Uneven", "leave it out", "Bind is told how many rows each rank has, and %s has parts "+
				"of another axis", t.Name)
		case constant(a.Extent):
			return refused(fmt.Sprintf("%s.Extent", field[:len(field)-len(".Outer[0]")]), "use schedule.M",
				"Bind is told how many rows of %s each rank has, and their number is constant", t.Name)
		}
		counted[a.Extent] = t.Name
		return nil
	})
	if err != nil {
		return err
	}
	for i, o := range d.original.Ops {
		if o.Call != "" && len(counted) > 0 {
			return refused(fmt.Sprintf("Ops[%d]", i), inTwo(d.original, i),
				"no pass calls beside rows by counts, such as those of %s", anyOf(counted))
		}
	}
	for _, s := range d.chain.stages {
		if len(counted) > 0 && s.gathersColumns() {
			return d.misplaced(s.of(), "let each rank have its columns", "no pass gathers columns of %s, whose rows are by "+
				"counts", s.of())
		}
	}
	return d.eachSplit(func(t schedule.Tensor, axis, split int, field string) error {
		a := t.Axes[axis]
		if a.Outer[split] != schedule.DIDx(schedule.D) {
			return nil
		}
		if of := cmp.Or(counted[a.Extent], balanced[a.Extent]); of != "" {
			return refused(field, "place both alike", "the rows of %s need not be in equal parts, and those of %s are", of,
				t.Name)
		}
		return nil
	})
}

// anyOf is the first name of some.
func anyOf(names map[schedule.Extent]string) (first string) {
	for _, name := range names {
		if first == "" || name < first {
			first = name
		}
	}
	return first
}

// movedSums refuses sums whose parts are moved on, and functions of them.
func movedSums(d *draft) error {
	for _, t := range d.original.Tensors {
		path, n := d.shiftOf(t.Name)
		o, made := d.original.Maker(t.Name)
		for made && kind(o.Name()) == copied && !d.known(o.In[0]) || len(o.Then) > 0 && kind(o.Name()) == copied {
			o, made = d.original.Maker(o.In[0])
		}
		if n != 0 && made && d.original.Partial(o) {
			return refused(path, "leave it out, and move it by a schedule.Copy", "partial results of %s meet at the rank "+
				"of their number", t.Name)
		}
	}
	return nil
}

// readWhileItComes refuses work on the caller's tensor of all rows that come in pieces: this rank's are there at last.
func readWhileItComes(d *draft) error {
	for _, s := range d.chain.stages {
		i := slices.IndexFunc(d.schedule.Ops, func(o schedule.Op) bool { return reads(o, s.into) })
		if s.into == "" || !s.pulls() || i < 0 {
			continue
		}
		return refused(fmt.Sprintf("Ops[%d]", i), "read "+s.input, "products take rows of %s as they come, and %s is "+
			"there at the end", s.input, s.into)
	}
	return nil
}

// givenToBoth refuses to give the caller all rows of what a gradient takes parts of.
func givenToBoth(d *draft) error {
	for _, s := range d.chain.stages {
		if s.gathers && s.ofSummands() && s.into != "" {
			return d.misplaced(s.into, "leave it out", "a gradient takes parts of %s as they come, and all of it comes "+
				"for %s", s.input, s.into)
		}
	}
	return nil
}

// codesOfFP32 refuses a tensor of fp32 that travels in a plan of other types.
func codesOfFP32(d *draft) error {
	for _, s := range d.chain.stages {
		if t := d.tensor(s.of()); s.gathers && t.Type == schedule.FP32 {
			return refused(d.pathOf(t.Name)+".Type", "leave it out, or round it by a schedule.Copy first",
				"no pass moves a tensor of fp32, such as %s, in plans of other types", t.Name)
		}
	}
	return nil
}

// ofBatchesOfParts refuses the exchange of a tensor with other axes than rows and columns, or an index a rank.
func ofBatchesOfParts(d *draft) error {
	for _, s := range d.chain.stages {
		t := d.tensor(s.input)
		if s.moved.Kind == edges.AllToAll && len(t.Axes) > 2 &&
			(t.Axes[0].Extent != schedule.D || t.Axes[1].Extent != schedule.D) {
			return d.misplaced(t.Name, "let it have rows and columns", "no pass exchanges parts of %s, which has %d axes",
				t.Name, len(t.Axes))
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

// columnsInPieces refuses pieces of the rows of what has parts of its columns.
func columnsInPieces(d *draft) (err error) {
	hostir.Steps(d.program.Body, func(s hostir.Step) {
		from, to := s.Views()
		for _, v := range slices.Concat(from, to) {
			b, _ := d.program.Buffer(v.Buffer)
			if err == nil && !v.Index.IsZero() && v.Columns == b.Rows.IsZero() {
				err = d.inPieces(v.Buffer)
			}
		}
	})
	return err
}

// inPieces is the refusal of a buffer of which steps take pieces of rows and parts of columns.
func (d *draft) inPieces(name string) error {
	for i, e := range d.program.Edges {
		if e.Steps == name {
			name = d.program.Edges[i].Of
		}
	}
	return d.misplaced(name, "let its rows be whole, or move it in a schedule of its own",
		"parts of the columns of %s travel, and steps take its rows in pieces", name)
}

// partsOfCalls refuses sums of what calls make in other parts than equal ones.
func partsOfCalls(d *draft) error {
	for _, s := range d.chain.stages {
		if s.given != "" && d.ofSummands(s.given) && s.left.Size != edges.Even {
			return d.misplaced(s.sums, "let all ranks have equal parts",
				"no pass cuts what a call makes into other parts than equal ones, and %s has some", s.sums)
		}
	}
	return nil
}

// goesOn refuses operations on what is made of rows by counts, or of columns that were gathered behind products, where
// they begin a stage of their own.
func goesOn(d *draft) error {
	for i, s := range d.chain.stages {
		for _, o := range s.ops {
			_, _, multiplies := productOf(o)
			from := d.firstOf(o.In[0])
			switch {
			case d.behindGathered(i, o.In[0]) && (s.sums != "" || s.gathersColumns()):
				return d.behindColumns(d.opOf(o)+".In[0]", o.In[0], o.Out)
			case i == 0 || !multiplies || s.gathers:
			case from != o.In[0] && edges.Of(d.tensor(from)).Size == edges.Counted && !d.ofCounted(o.In[0]):
				return refused(d.opOf(o), inTwo(d.original, d.indexOf(o)),
					"no pass goes on with %s, which is made of rows of %s by counts", o.In[0], from)
			}
		}
	}
	return nil
}

// behindGathered says that products of all columns of a result, which an earlier stage gathers, make a tensor.
func (d *draft) behindGathered(before int, name string) bool {
	for products := 0; ; {
		o, made := d.schedule.Maker(name)
		_, _, multiplies := productOf(o)
		gathered := slices.ContainsFunc(d.chain.stages[:before], func(s *stage) bool {
			return s.gathersColumns() && s.of() == name
		})
		if gathered || !made {
			return gathered && products > 0
		}
		if multiplies {
			products++
		}
		name = o.In[0]
	}
}

// firstOf is the tensor of whose rows products and functions make another one.
func (d *draft) firstOf(name string) string {
	for {
		o, made := d.schedule.Maker(name)
		_, _, multiplies := productOf(o)
		if !made || !multiplies && kind(o.Name()) != copied || kind(o.Name()) == gradient {
			return name
		}
		name = o.In[0]
	}
}

// indexOf and opOf are the number and the path of an operation.
func (d *draft) indexOf(o schedule.Op) int {
	return max(0, slices.IndexFunc(d.original.Ops, func(x schedule.Op) bool { return x.Out == o.Out }))
}

func (d *draft) opOf(o schedule.Op) string { return fmt.Sprintf("Ops[%d]", d.indexOf(o)) }

// piecesOfColumns refuses pieces of a stage's rows where parts of the columns of a result travel.
func piecesOfColumns(d *draft) error {
	for _, t := range d.chain.stages {
		if t.moved.Kind != edges.AllToAll {
			continue
		}
		for _, s := range d.chain.stages {
			if !slices.ContainsFunc(s.ops, func(o schedule.Op) bool { return o.Out == t.input }) || !s.gathers {
				continue
			}
			for _, e := range d.program.Edges {
				if field := inPiecesBy(e.Way); e.Steps == s.here() && field != "" {
					return refused(e.Path+"."+field, "leave it out", "parts of the columns of %s travel, and its rows are "+
						"made in pieces", t.input)
				}
			}
		}
	}
	return nil
}

// inPiecesBy is the option by which a way brings a rank's rows in pieces, if it is set so.
func inPiecesBy(w schedule.Way) string {
	for _, o := range schedule.Options(w) {
		if o.Field == "Parts" && !o.Zero && o.Value != "1" || o.Value == string(schedule.Both) {
			return o.Field
		}
	}
	return ""
}

// gatheredByParts refuses functions with a number for each row behind products of parts that collectives bring.
func gatheredByParts(d *draft) error {
	for _, e := range d.program.Edges {
		way, nccl := e.Way.(schedule.NCCL)
		i := slices.IndexFunc(d.schedule.Ops, func(o schedule.Op) bool {
			return slices.ContainsFunc(o.Then, func(f schedule.Func) bool {
				return slices.ContainsFunc(f.Operands(), func(x schedule.Operand) bool {
					return x.Lies == schedule.ByRow && d.tensor(x.Tensor).Name != ""
				})
			})
		})
		if nccl && way.Parts > 1 && i >= 0 && len(e.Products) > 0 {
			return refused(e.Path+".Parts", "leave it out", "products of parts of %s have no number for each row, and %s "+
				"takes some", e.Of, d.schedule.Ops[i].Out)
		}
	}
	return nil
}

// flatSquares refuses sums whose parts are no rows, of products by scales of blocks.
func flatSquares(d *draft) error {
	for i, s := range d.chain.stages {
		blocks := slices.ContainsFunc(s.ops, func(o schedule.Op) bool {
			return d.tensor(d.tensor(o.In[0]).Scale).ByBlock()
		})
		for _, e := range d.program.Edges {
			_, two := e.Way.(schedule.TwoShot)
			_, packets := e.Way.(schedule.PushTwoShot)
			if blocks && e.Steps == s.sums && (two || packets) && i >= 0 {
				return refused(e.Path, "use schedule.Shot or schedule.Slots", "%s cuts the sums of %s between elements, "+
					"and scales of blocks lie block by block", schedule.WayName(e.Way), e.Of)
			}
		}
	}
	return nil
}
