package stages

import (
	"cmp"
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
)

// Uneven says that the ranks have parts of different sizes of a tensor.
func (c *Chain) Uneven(name string) bool { return c.Split(name).Uneven }

// ofCounted says that a tensor has the rows of parts as large as Bind is told, its own or all, or is made of them.
func (c *Chain) ofCounted(name string) bool {
	if t := c.Tensor(name); edges.Of(t).Size == edges.Counted {
		return true
	}
	o, made := c.Schedule.Maker(name)
	return made && o.Name() == schedule.CopyWord && c.ofCounted(o.In[0])
}

// byCounts says that the rows of a tensor are in parts as large as Bind is told.
func byCounts(t schedule.Tensor) bool {
	return edges.Of(t) == edges.State{Axis: 1, Cut: edges.Cut{Size: edges.Counted}}
}

// Multiplied is the first operand of a product of a stage, if it has rows by counts.
func (c *Chain) Multiplied(s *Stage) (rows string, counted bool) {
	for _, o := range s.Ops {
		if o.Multiplies() && c.ofCounted(o.In[0]) {
			return o.In[0], true
		}
	}
	return "", false
}

// CountedProducts refuses a product of rows by counts that are not gathered, and a sum that has such rows on one side
// only.
func (c *Chain) CountedProducts() error {
	for _, s := range c.Stages {
		rows, in := c.Multiplied(s)
		out := s.Left.Size == edges.Counted && !s.Bare()
		switch {
		case in && !s.Gathers:
			hint := "let all ranks have equal parts"
			if o, _ := c.Schedule.Maker(rows); o.Copies() && byCounts(c.Tensor(o.In[0])) {
				hint = "multiply " + o.In[0]
			}
			return c.Misplaced(c.Sized(rows), hint,
				"a product has as many rows as New is told, and Bind says how many a rank has of %s", c.Sized(rows))
		case in && s.Sums != "" && !out && !s.ToAll:
			return c.MisplacedIn(s.Sums, edges.Of(c.Tensor(c.Sized(rows))),
				"the rows of %s are by counts, and those of %s are not", c.Sized(rows), s.Sums)
		}
	}
	return nil
}

// TakesAllRows is the first call or gradient that takes all rows of an extent at once.
func (c *Chain) TakesAllRows(rows schedule.Extent) (o schedule.Op, takes bool) {
	i := slices.IndexFunc(c.Schedule.Ops, func(o schedule.Op) bool {
		all := o.Call != "" && !c.Original.OfOwnRows(o) || o.Name() == schedule.GradientWord
		return all && c.RowExtent(o.In[0]) == rows
	})
	if i < 0 {
		return o, false
	}
	return c.Schedule.Ops[i], true
}

// Sized is the declared tensor that a tensor has its rows of, or that says how these lie.
func (c *Chain) Sized(name string) string {
	for _, declared := c.Original.Tensor(name); !declared; _, declared = c.Original.Tensor(name) {
		o, _ := c.Schedule.Maker(name)
		name = cmp.Or(c.sizedAs[name], o.In[0])
	}
	return name
}

// LiesAs names the tensor that says which uneven rows one has that is not declared: ", which lies as A,".
func (c *Chain) LiesAs(name string) string {
	_, declared := c.Original.Tensor(c.DeclaredAs(name))
	if as := c.Sized(name); !declared && c.Uneven(as) {
		return ", which lies as " + as + ","
	}
	return ""
}

// callsApart refuses kernels of a rank's own rows where the ranks have parts of different sizes, and results of such
// calls that nothing says the rows of.
func (c *Chain) callsApart() error {
	for i, o := range c.Schedule.Ops {
		if !c.Original.OfOwnRows(o) {
			continue
		}
		rows := slices.IndexFunc(o.In, func(name string) bool { return c.Uneven(c.Sized(name)) })
		_, declared := c.Original.Tensor(o.Out)
		switch path := fmt.Sprintf("Ops[%d]", i); {
		case o.Kernel.File != "" && (rows >= 0 || c.Uneven(o.Out)):
			return refused(path+".Kernel", "leave it out, and set a function", "a kernel takes the numbers that New "+
				"is told, and the ranks have different numbers of rows of %s", o.Out)
		case rows >= 0 && !declared:
			return refused(path+".Out", "declare it with its placement",
				"nothing says how many rows a rank has of %s, which %s makes", o.Out, o.Call)
		}
	}
	return nil
}

// columnsOfEven is the fact of columns that travel: a copy to columns takes all rows in one piece, and where parts of
// rows differ a rank has a piece for each.
const columnsOfEven = "a copy to columns of %s takes all rows in one piece, and rows in parts as those of %s are a " +
	"piece for each rank"

// countsAlike refuses rows by counts beside what has no counts: calls, sums to equal parts, columns that are gathered,
// and tensors of that number of rows in equal parts. All tensors of those rows have one list of counts.
func (c *Chain) countsAlike() error {
	counted, uneven, err := c.unevenRows()
	if err == nil && counted != "" {
		err = c.besideCounts(counted)
	}
	if err != nil {
		return err
	}
	for _, s := range c.Stages {
		columns := (s.Moved.From.Columns() || s.Moved.To.Columns()) && !s.GathersColumns()
		if of := uneven[c.RowExtent(s.Of())]; columns && of != "" {
			moved := s.Of()
			if c.Tensor(moved).Name == "" {
				moved = s.Into
			}
			return c.Misplaced(moved, "let each rank have its columns", columnsOfEven, s.Of(), of)
		}
		if of := uneven[c.RowExtent(s.Sums)]; s.ToAll && s.Given != "" && of != "" {
			return c.MisplacedIn(s.Sums, edges.Of(c.Tensor(of)), "a sum alone for all ranks, such as %s, is of equal "+
				"parts, and the rows of %s need not be in such", s.Sums, of)
		}
	}
	return c.eachSplit(func(t schedule.Tensor, axis, split int, field string) error {
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

// declareSum declares a sum that is not declared, of rows whose parts differ, with the rows of a tensor that is.
func (c *Chain) declareSum(s *Stage) {
	_, declared := c.Schedule.Tensor(s.Sums)
	i := slices.IndexFunc(c.Schedule.Tensors, func(t schedule.Tensor) bool {
		return edges.Of(t) == s.Left && t.Axes[0].Extent == c.RowExtent(s.Sums)
	})
	if !declared && s.Left.Size != edges.Even && i >= 0 {
		c.sizedAs[s.Sums] = c.Schedule.Tensors[i].Name
		t := schedule.Tensor{Name: s.Sums, Axes: []schedule.Axis{c.Schedule.Tensors[i].Axes[0], c.ColumnsOf(s.Sums)}}
		c.Schedule.Tensors = append(slices.Clip(c.Schedule.Tensors), t)
	}
}

// evenSums refuses columns of sums for their ranks, and columns that are gathered, where rows need not be in equal
// parts.
func (c *Chain) evenSums() error {
	_, uneven, err := c.unevenRows()
	for _, s := range c.Stages {
		if of := uneven[c.RowExtent(s.Of())]; of != "" && s.GathersColumns() {
			err = cmp.Or(err, c.Misplaced(cmp.Or(s.Into, s.Of()), "let each rank have its columns", columnsOfEven,
				s.Of(), of))
		}
		if s.Sums == "" || err != nil {
			continue
		}
		of := uneven[c.RowExtent(s.Sums)]
		if of != "" && s.Left.Columns() {
			return c.MisplacedIn(s.Sums, edges.Of(c.Tensor(of)), "columns of %s are summed of all rows, and there are "+
				"as many as of %s, which need not be in equal parts", s.Sums, of)
		}
	}
	return err
}

// unevenRows are a tensor with rows by counts, which are of M, and tensors with uneven rows by the extents of these:
// that by counts, else balanced ones. It refuses a rank's part that is cut into steps, and parts by counts of other
// axes, of a constant number of rows, and of gradients.
func (c *Chain) unevenRows() (counted string, uneven map[schedule.Extent]string, err error) {
	uneven = map[schedule.Extent]string{}
	first := struct{ tensor, counts string }{}
	err = c.eachSplit(func(t schedule.Tensor, axis, split int, field string) error {
		a := t.Axes[axis]
		_, scales := c.Original.ScaledBy(t.Name)
		s := a.Outer[split]
		counts := fmt.Sprint(a.Extent, s.Balanced)
		if s.Uneven && !scales && len(t.Axes) < 3 {
			if first.counts == "" {
				first.tensor, first.counts = t.Name, counts
			}
			if counts != first.counts {
				return refused(field, "let all ranks have equal parts of one", "a plan has one list of the numbers of "+
					"rows that ranks have, those of %s, and %s has others", first.tensor, t.Name)
			}
		}
		switch {
		case s.Kind == schedule.StreamAxis && split > 0 && a.Outer[split-1].Kind == schedule.DeviceX:
			return refused(field, "leave one of the two out",
				"each rank has a part of an axis of %s, and it is made in steps as well", t.Name)
		case s.Balanced && axis > 0:
			return refused(field+".Balanced", "leave it and Uneven out",
				"only rows are in balanced parts, and %s has such parts of another axis", t.Name)
		case s.Balanced && !scales && !c.hasCounts(t.Name):
			return refused(field+".Balanced", "leave it and Uneven out",
				"no communication has the parts of %s, and no step reads them", t.Name)
		case s.Uneven && a.Extent == schedule.D && len(t.Axes) < 3 && !scales:
			return refused(field+".Uneven", "leave it out, and Balanced", "each rank has one row of %s, which has D",
				t.Name)
		case s.Uneven && a.Extent == schedule.D && !scales && t.Axes[2].Extent.Constant():
			return refused(c.PathOf(t.Name)+".Axes[2].Extent", "use schedule.M",
				"New is told how long a part of %s may be, and that is constant here", t.Name)
		case s.Balanced:
			uneven[a.Extent] = t.Name
		case !s.Uneven || a.Extent == schedule.D || scales:
		case axis > 0:
			return refused(field+".Uneven", "leave it out",
				"Bind is told how many rows each rank has, and %s has parts of another axis", t.Name)
		case a.Extent.Constant():
			return refused(field+".Uneven", "leave it out, or use schedule.M",
				"Bind is told how many rows of %s each rank has, and their number is constant", t.Name)
		case a.Extent != schedule.M:
			return refused(field+".Uneven", "write M for these rows, and another extent for those that are M",
				"only rows of M are in parts that differ, and those of %s are of %s", t.Name, a.Extent)
		case s.Most != "" && c.Original.HasExtent(s.Most):
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

// besideCounts refuses what no pass does beside a tensor with rows by counts.
func (c *Chain) besideCounts(rows string) error {
	for _, s := range c.Stages {
		if s.Sums != "" && !s.ToAll && s.Left.Size != edges.Counted && c.RowExtent(s.Sums) == schedule.M {
			return c.Misplaced(s.Sums, "place all tensors of rows alike",
				"the rows of %s are by counts, and those of %s are not", rows, s.Sums)
		}
	}
	return nil
}

// eachSplit calls f for each split of the declared tensors, with its field.
func (c *Chain) eachSplit(f func(t schedule.Tensor, axis, split int, field string) error) error {
	for i, t := range c.Original.Tensors {
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

// UnevenExtents are those of a stage's rows whose parts have extents of their own.
func (c *Chain) UnevenExtents() map[schedule.Extent]bool {
	found := map[schedule.Extent]bool{}
	for _, t := range c.Schedule.Tensors {
		rows := t.Axes[0].Extent
		of := func(s *Stage) bool { return c.RowExtent(s.Input) == rows || c.RowExtent(s.Sums) == rows }
		if c.Uneven(t.Name) && edges.Of(t).Rows() && len(t.Axes) < 3 && c.any(of) {
			found[rows] = true
		}
	}
	return found
}

// UnevenAxis is the axis of a tensor that has rows of such extents: the first, or the second of ranks' summands; -1:
// none.
func (c *Chain) UnevenAxis(t schedule.Tensor) int {
	uneven := c.UnevenExtents()
	switch n := len(t.Axes); {
	case n == 3 && len(t.Axes[0].Outer) > 0 && uneven[t.Axes[1].Extent]:
		return 1
	case n > 0 && n < 3 && uneven[t.Axes[0].Extent]:
		return 0
	}
	return -1
}

// hasCounts says that New gives a tensor's parts counts: they are rows of such extents, or are exchanged.
func (c *Chain) hasCounts(name string) bool {
	return c.UnevenAxis(c.Tensor(name)) >= 0 ||
		c.any(func(s *Stage) bool { return c.Uneven(s.Input) && (s.Input == name || s.Into == name) })
}
