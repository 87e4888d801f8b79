package lower

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// countsAlike refuses rows by counts beside what has no counts: calls, sums to equal parts, columns that are gathered,
// and tensors of that number of rows in equal parts. All tensors of those rows have one list of counts.
func countsAlike(d *draft) error {
	counted, uneven, err := d.unevenRows()
	if err == nil && counted != "" {
		err = d.besideCounts(counted)
	}
	for _, rows := range slices.Sorted(maps.Values(uneven)) {
		if rows != counted {
			err = cmp.Or(err, d.noCalls(rows, func(schedule.Op) bool { return true }))
		}
	}
	if err != nil {
		return err
	}
	for _, s := range d.chain.stages {
		sums := d.program.At(s.sums).Tensor
		if !s.toAll || len(sums.Axes) == 0 {
			continue
		}
		if of := uneven[sums.Axes[0].Extent]; of != "" {
			return d.misplacedIn(s.sums, edges.Of(d.tensor(of)), "sums for all ranks are made of equal parts, and "+
				"those of %s are of as many rows as %s, which need not be in equal parts", s.sums, of)
		}
	}
	return d.eachSplit(func(t schedule.Tensor, axis, split int, field string) error {
		a := t.Axes[axis]
		if x := a.Outer[split]; x != schedule.DIDx(schedule.D) && x != schedule.Stream(schedule.D) {
			return nil
		}
		if of := uneven[a.Extent]; of != "" {
			return refused(field, "place both alike", "the rows of %s need not be in equal parts, and those of %s are",
				of, t.Name)
		}
		return nil
	})
}

// evenSums refuses columns of sums for their ranks, and rows of sums that are not declared, where rows need not be in
// equal parts.
func evenSums(d *draft) error {
	_, uneven, err := d.unevenRows()
	for _, s := range d.chain.stages {
		if s.sums == "" || err != nil {
			continue
		}
		of := uneven[d.rowExtent(s.sums)]
		_, declared := d.schedule.Tensor(s.sums)
		switch {
		case of == "":
		case !declared && s.left.Rows() && s.left.Size == edges.Even:
			return refused(fmt.Sprintf("Ops[%d]", d.indexOf(s.last())),
				fmt.Sprintf("declare %s with its placement", s.sums), "each rank gets an equal part of "+
					"the rows of %s, and there are as many as of %s, which need not be in equal parts", s.sums, of)
		case s.left.Columns():
			return d.misplacedIn(d.declaredAs(s.sums), edges.Of(d.tensor(of)), "columns of %s are summed of all rows, "+
				"and there are as many as of %s, which need not be in equal parts", s.sums, of)
		}
	}
	return err
}

// unevenRows are a tensor with rows by counts, which are of M, and tensors with uneven rows by the extents of these:
// that by counts, else balanced ones. It refuses a rank's part that is cut into steps, and parts by counts of other
// axes, of a constant number of rows, and of gradients.
func (d *draft) unevenRows() (counted string, uneven map[schedule.Extent]string, err error) {
	uneven = map[schedule.Extent]string{}
	gradients := slices.ContainsFunc(d.schedule.Ops, func(o schedule.Op) bool { return kind(o.Name()) == gradient })
	err = d.eachSplit(func(t schedule.Tensor, axis, split int, field string) error {
		a := t.Axes[axis]
		_, scales := d.original.ScaledBy(t.Name)
		switch s := a.Outer[split]; {
		case s.Kind == schedule.StreamAxis && split > 0 && a.Outer[split-1].Kind == schedule.DeviceX:
			return refused(field, "leave one of the two out",
				"each rank has a part of an axis of %s, and it is made in steps as well", t.Name)
		case s.Balanced && axis > 0:
			return refused(field+".Balanced", "leave it and Uneven out",
				"only rows are in balanced parts, and %s has such parts of another axis", t.Name)
		case s.Balanced && !scales && d.program.At(t.Name).Counts.IsZero():
			return refused(field+".Balanced", "leave it and Uneven out",
				"no communication has the parts of %s, and no step reads them", t.Name)
		case s.Uneven && a.Extent == schedule.D && len(t.Axes) < 3 && !scales:
			return refused(field+".Uneven", "leave it out, and Balanced", "each rank has one row of %s, which has D",
				t.Name)
		case s.Balanced && (a.Extent == schedule.M || a.Extent.Constant()):
			uneven[a.Extent] = t.Name
		case !s.Uneven || a.Extent == schedule.D || scales:
		case gradients && !s.Balanced:
			return refused(field+".Uneven", "leave it out",
				"no pass makes a gradient in parts by counts, as those of %s", t.Name)
		case axis > 0:
			return refused(field+".Uneven", "leave it out",
				"Bind is told how many rows each rank has, and %s has parts of another axis", t.Name)
		case a.Extent.Constant():
			return refused(field+".Uneven", "leave it out, or use schedule.M",
				"Bind is told how many rows of %s each rank has, and their number is constant", t.Name)
		case a.Extent != schedule.M:
			return refused(field+".Uneven", "write M for these rows, and another extent for those that are M",
				"only rows of M are in parts that differ, and those of %s are of %s", t.Name, a.Extent)
		case s.Most != "" && d.original.HasExtent(s.Most):
			return refused(field+".Most", "write a number, or an extent that no axis has",
				"New is told the most rows that a rank has of %s, and other axes have that many", t.Name)
		default:
			counted = t.Name
		}
		return nil
	})
	if counted != "" {
		uneven[schedule.M] = counted
	}
	return counted, uneven, err
}

// callsApart refuses calls beside a tensor with rows by counts, but for functions that are called for a rank's own. Of
// these it refuses kernels, and results that nothing says the rows of.
func callsApart(d *draft) error {
	i := slices.IndexFunc(d.schedule.Tensors, func(t schedule.Tensor) bool {
		at := edges.Of(t)
		return at.Size == edges.Counted && at.Axis == 1 && t.Axes[0].Extent == schedule.M
	})
	if i < 0 {
		return nil
	}
	rows := d.schedule.Tensors[i].Name
	err := d.noCalls(rows, func(o schedule.Op) bool { return !d.original.OfOwnRows(o) })
	for i, o := range d.schedule.Ops {
		_, declared := d.original.Tensor(o.Out)
		switch path := fmt.Sprintf("Ops[%d]", i); {
		case o.Call == "":
		case o.Kernel.File != "":
			err = cmp.Or(err, refused(path+".Kernel", "leave it out, and set a function",
				"a kernel is launched for as many rows as New is told, and Bind says how many a rank has of %s", rows))
		case !declared:
			err = cmp.Or(err, refused(path+".Out", "declare it with its placement",
				"nothing says how many rows a rank has of %s, which %s makes", o.Out, o.Call))
		}
	}
	return err
}

// noCalls refuses some calls beside rows that need not be in equal parts.
func (d *draft) noCalls(rows string, some func(schedule.Op) bool) error {
	i := slices.IndexFunc(d.schedule.Ops, func(o schedule.Op) bool { return o.Call != "" && some(o) })
	if i < 0 {
		return nil
	}
	return refused(fmt.Sprintf("Ops[%d]", i), inTwo(d.schedule, i),
		"no pass calls beside rows that need not be in equal parts, such as those of %s", rows)
}

// besideCounts refuses what no pass does beside a tensor with rows by counts.
func (d *draft) besideCounts(rows string) error {
	for _, s := range d.chain.stages {
		switch {
		case s.gathersColumns():
			return d.misplaced(s.of(), "let each rank have its columns",
				"no pass gathers columns of %s, whose rows are by counts as those of %s", s.of(), rows)
		case s.sums != "" && s.left.Size != edges.Counted:
			return d.misplaced(s.sums, "place all tensors of rows alike",
				"the rows of %s are by counts, and those of %s are not", rows, s.sums)
		}
	}
	return nil
}

func movedSums(d *draft) error {
	for _, t := range d.original.Tensors {
		path, n := d.shiftOf(t.Name)
		o, made := d.original.Maker(t.Name)
		for made && kind(o.Name()) == copied && (len(o.Then) > 0 || !d.known(o.In[0])) {
			o, made = d.original.Maker(o.In[0])
		}
		if n != 0 && made && d.original.Partial(o) {
			return refused(path, "leave it out, and move it by a schedule.Copy",
				"partial results of %s meet at the rank of their number", t.Name)
		}
	}
	return nil
}

// goesOn refuses a stage whose operands are made of rows by counts, or of balanced ones, and a sum behind products of
// gathered columns.
func goesOn(d *draft) error {
	for i, s := range d.chain.stages {
		for _, o := range s.ops {
			from, in := d.firstOf(o.In[0]), edges.Of(d.tensor(o.In[0]))
			size := edges.Of(d.tensor(from)).Size
			parts := in.Size != edges.Even || d.ofCounted(o.In[0]) || size == edges.Counted && s.gathers
			sums := d.any(func(x *stage) bool { return x.toAll && slices.Contains(inRows(o.Then), x.sums) })
			switch {
			case d.behindGathered(i, o.In[0]) && (s.sums != "" || s.gathersColumns()),
				multiplies(o) && s.gathers && s.moved.From.Columns() && sums: // which are made a rank's rows at a time
				return d.behindColumns(fmt.Sprintf("Ops[%d].In[0]", d.indexOf(o)), o.In[0], o.Out)
			case i == 0 || !multiplies(o):
			case from != o.In[0] && size != edges.Even && !parts: // of the tensor of whose rows it is made
				return ofItsOwn(d.schedule, d.indexOf(o), fmt.Sprintf(
					"no pass goes on with %s, which is made of rows of %s that need not be in equal parts",
					o.In[0], from))
			}
		}
	}
	return nil
}

// firstOf is the tensor of whose rows products and functions make another one.
func (d *draft) firstOf(name string) string {
	for {
		o, made := d.schedule.Maker(name)
		if !made || !multiplies(o) && kind(o.Name()) != copied || kind(o.Name()) == gradient {
			return name
		}
		name = o.In[0]
	}
}

// indexOf is the number of an operation of a stage. asDeclared takes its path to that of the declared one.
func (d *draft) indexOf(o schedule.Op) int {
	return slices.IndexFunc(d.schedule.Ops, func(x schedule.Op) bool { return x.Out == o.Out })
}

// columnsInPieces refuses pieces of the rows of what has parts of its columns.
func columnsInPieces(d *draft) error {
	name := ""
	hostir.Steps(d.program.Body, func(s hostir.Step) {
		from, to := s.Views()
		for _, v := range slices.Concat(from, to) {
			b, _ := d.program.Buffer(v.Buffer)
			if name == "" && !v.Index.IsZero() && v.Columns == b.Rows.IsZero() {
				name = v.Buffer
			}
		}
	})
	if name == "" {
		return nil
	}
	for _, e := range d.program.Edges {
		if e.Steps == name {
			name = e.Of
		}
	}
	return d.misplaced(name, "let its rows be whole, or move it in a schedule of its own",
		"parts of the columns of %s travel, and steps take its rows in pieces", name)
}

// behindGathered says that products of all columns of a result, which an earlier stage gathers, make a tensor.
func (d *draft) behindGathered(before int, name string) bool {
	for products := 0; ; {
		o, made := d.schedule.Maker(name)
		gathered := slices.ContainsFunc(d.chain.stages[:before], func(s *stage) bool {
			return s.gathersColumns() && (s.of() == name || s.into == name)
		})
		if gathered || !made {
			return gathered && products > 0
		}
		if multiplies(o) {
			products++
		}
		name = o.In[0]
	}
}
