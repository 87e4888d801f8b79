package lower

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// Buffers and semaphores of a program, and the numbers that must divide its shape for them.

// cut lets a buffer be indexed by parts of the first axis that a rank has more than one index of.
func (d *draft) cut(name string, parts ...schedule.Extent) {
	b := d.program.At(name)
	b.Chunk = part(b.Tensor, parts...)
}

// part counts the elements of one chunk of a rank's shard of a tensor, which the extents cut.
func part(t schedule.Tensor, parts ...schedule.Extent) hostir.Expr {
	axes := append([]schedule.Axis{}, t.Axes...)
	first := 0
	one := func(a schedule.Axis) bool { // index of it is each rank's
		return a.Extent == schedule.D && len(a.Outer) == 1 && a.Outer[0].Kind == schedule.DeviceX
	}
	for len(parts) > 0 && one(axes[first]) {
		first++
	}
	axes[first].Outer = append([]schedule.Split{}, axes[first].Outer...)
	for _, n := range parts {
		axes[first].Outer = append(axes[first].Outer, schedule.DIDx(n))
	}
	return hostir.Elements(schedule.Tensor{Axes: axes})
}

// cutRows asks of the shape that the ranks can cut the rows, and each rank its own into parts.
func (d *draft) cutRows(rows schedule.Extent, parts int64) {
	if rows == schedule.D {
		return // one a rank
	}
	check := hostir.Divide{Extent: rows, By: schedule.D}
	i := slices.IndexFunc(d.program.Checks, func(c hostir.Divide) bool {
		c.Times = 0
		return c == check
	})
	if i < 0 {
		i, d.program.Checks = len(d.program.Checks), append(d.program.Checks, check)
	}
	if parts > 1 {
		d.program.Checks[i].Times = parts
	}
}

// partOf is the axis of the elements of a matrix, of which each rank has a part.
func partOf(matrix schedule.Tensor) schedule.Axis {
	return schedule.Dim(matrix.Axes[0].Extent.Joined(matrix.Axes[1].Extent), schedule.DIDx(schedule.D))
}

// cutFlat lets a stage's sums, and other buffers, be indexed by a part of their elements a rank, and asks of the shape
// that the ranks can cut the elements. Parts are of rows where rows says so, or where functions or other steps take
// rows of a rank. What functions read beside the sums is cut as they are.
func (w *writer) cutFlat(s *stage, rows bool, names ...string) {
	sums := w.program.At(s.sums)
	axes := sums.Tensor.Axes
	_, finish := w.finish(s, hostir.Whole(s.sums))
	if rows || !finish.ByPlace() || w.widens(s) || w.any(w.byRanks) || w.coded(s) {
		w.cutRows(axes[0].Extent, 1)
	} else {
		check := hostir.Divide{Extent: axes[0].Extent, With: axes[1].Extent, By: schedule.D}
		if axes[0].Extent.Constant() && !axes[1].Extent.Constant() {
			check.With = "" // a proof for every number of columns has whole rows
		}
		w.program.Ask(check)
	}
	for _, name := range append(names, s.sums) {
		w.program.At(name).Chunk = hostir.Div(sums.Elements, parts{n: max(w.fine[name], 1)}.all(hostir.Size))
	}
	for _, f := range w.schedule.With(s.last()).Then {
		for _, x := range f.Operands() {
			if b := w.program.At(x.Tensor); x.Lies != schedule.ByColumn && !f.Joins {
				b.Chunk = hostir.Div(b.Elements, hostir.Size)
			}
		}
	}
}

// flatSums refuses sums that another stage's sums add in parts of a rank's rows, if ranks' parts are between elements
// or are summed whole.
func (w *writer) flatSums() error {
	for _, l := range w.legs {
		sums := l.stage.sums
		own := w.named(reduced, sums)
		whole := w.program.At(own).Name != "" && w.fine[own] == 0
		if l.move != sums || !l.by.elements && !whole || w.fine[sums] < 2 {
			continue
		}
		for _, s := range w.chain.stages {
			if s.leaving.cut > 1 && slices.Contains(inRows(s.last().Then), sums) {
				return refused(s.leaving.cutAt, "leave it out, or use schedule.Shot for "+sums,
					"%s are added in parts of each rank's rows, and are not summed in these", sums)
			}
		}
	}
	return nil
}

func (d *draft) memory(name string, chunk hostir.Expr, axes ...schedule.Axis) {
	t := schedule.Tensor{Name: name, Axes: axes}
	d.program.Buffers = append(d.program.Buffers, hostir.Buffer{Name: name, Tensor: t, Owner: hostir.Plan,
		Elements: hostir.Elements(t), Chunk: chunk})
}

func (d *draft) semaphores(names ...string) {
	for _, n := range names {
		d.program.Semaphores = append(d.program.Semaphores, hostir.Semaphore{Name: n})
	}
}

// heads asks of the shape that heads are whole on each rank, where a function has some of a result with such columns.
// It refuses an odd number of columns, of which one has no partner.
func (d *draft) heads() error {
	for i, o := range d.schedule.Ops {
		columns, spread := d.columnsOf(o.Out).Extent, d.chain.at[o.Out].Columns()
		for j, f := range o.Then {
			nodes := schedule.Nodes(d.original.Tree(f))
			turns := slices.ContainsFunc(nodes, func(n schedule.Node) bool {
				return n.Do == schedule.DoTurn || n.Do == schedule.DoPairs
			})
			if n, err := strconv.Atoi(string(columns)); err == nil && n%2 > 0 && turns {
				return refused(fmt.Sprintf("Ops[%d].Then[%d]", i, j), "leave it out, or let the columns be even",
					"%s turns pairs of columns, and there are %d", f.Name(), n)
			}
			widths := schedule.Heads(nodes)
			for _, width := range widths {
				check := hostir.Divide{Extent: columns, Heads: width}
				if spread {
					check.By = schedule.D
				}
				if width == schedule.W && turns {
					d.program.Ask(hostir.Divide{Extent: width, By: "2"})
				}
				if width != schedule.W && slices.Contains(widths, schedule.W) { // parts of heads
					d.program.Ask(hostir.Divide{Extent: schedule.W, By: width})
				}
				d.program.Ask(check)
			}
		}
	}
	return nil
}

// memories declares the memory that the stages need beside the caller's tensors.
func (w *writer) memories() {
	for _, s := range w.chain.stages {
		all := schedule.Dim(w.columnsOf(s.input).Extent)
		switch {
		case !s.gathers, s.into != "" && w.program.At(s.into).Name != "": // the caller's
		case s.into != "" && s.moved != (edges.Edge{}):
			w.ofRows(s.into, s.input, s.moved.To.Rows(), all)
		case s.into == "" && s.moved.From.Columns():
			w.memory(s.here(), hostir.Expr{}, w.rowAxis(s.input, false), all)
		default:
			w.eachRank(s.here(), s.input, w.columnsOf(s.input))
		}
		for _, o := range s.ops {
			w.results(s, o)
		}
	}
	for _, s := range w.chain.stages {
		switch {
		case s.addsShares():
			w.cut(s.otherOperand(), schedule.D)
		case w.byRanks(s) && !s.takesParts():
			w.indexed(s)
		}
	}
}

// results declares memory for partial results of an operation, and for a result that the caller does not get.
func (w *writer) results(s *stage, o schedule.Op) {
	columns, made := w.columnsOf(o.Out), w.madeIn(o.Out)
	_, declared := w.schedule.Tensor(o.Out)
	if made != o.Out {
		columns.Outer = []schedule.Split{schedule.DIDx(schedule.D)}
	}
	switch {
	case o.Out != s.sums && declared && made == o.Out:
	case o.Out != s.sums && kind(o.Name()) == gradient: // whose rows are columns of an operand
		w.ofRows(made, o.Out, w.chain.at[o.Out].Rows(), columns)
	case o.Out != s.sums && w.byRanks(s) && !w.uneven(s.input) && !w.uneven(s.sums):
		w.eachRank(made, o.Out, columns)
	case o.Out != s.sums && w.calledForSummands(o.Out):
		axes := []schedule.Axis{schedule.Dim(schedule.D, schedule.DIDx(schedule.D)), w.rowAxis(o.Out, false), columns}
		w.memory(made, hostir.Elements(schedule.Tensor{Axes: axes}), axes...)
	case o.Out != s.sums:
		w.ofRows(made, o.Out, s.own, columns)
	case s.puts():
		s.leaving.memory(w, s, columns)
	case s.inKernel(o): // into memory of its kernel's way
	case s.given != "":
		if !s.toAll {
			w.cut(s.given, schedule.D)
		}
	case w.byRanks(s):
		w.eachRank(w.named(partial, s.sums), s.sums, columns)
	default:
		var cut []schedule.Extent
		if !s.toAll {
			cut = []schedule.Extent{schedule.D}
		}
		t := schedule.Tensor{Axes: []schedule.Axis{w.rowAxis(s.sums, false), columns}}
		w.memory(w.named(partial, s.sums), part(t, cut...), t.Axes...)
	}
	if o.Out == s.sums {
		w.sum(s, columns)
	}
}

// sum declares memory for a stage's sums, if there is none.
func (w *writer) sum(s *stage, columns schedule.Axis) {
	if w.program.At(s.sums).Name == "" {
		w.ofRows(s.sums, s.sums, !s.toAll, columns)
		if rows := w.rowExtent(s.sums); !s.toAll && !s.left.Columns() && !w.unevenExtents()[rows] {
			w.cutRows(rows, 1)
		}
	}
}

// rowAxis is the rows of a tensor: each rank's own, or all.
func (w *writer) rowAxis(of string, own bool) schedule.Axis {
	rows := schedule.Dim(w.rowExtent(of))
	if own {
		rows.Outer = []schedule.Split{schedule.DIDx(schedule.D)}
	}
	return rows
}

func (w *writer) ofRows(name, of string, own bool, columns schedule.Axis) {
	axes := []schedule.Axis{w.rowAxis(of, own), columns}
	w.memory(name, hostir.Elements(schedule.Tensor{Axes: axes}), axes...)
}

func (d *draft) rowExtent(name string) schedule.Extent {
	if t, declared := d.schedule.Tensor(name); declared {
		return t.Axes[0].Extent
	}
	return d.extentOf(name, schedule.Contraction.Rows)
}

// columnsOf is the axis of a tensor's columns. Of a tensor that is not declared each rank has what operations leave.
func (d *draft) columnsOf(name string) schedule.Axis {
	if t, declared := d.schedule.Tensor(name); declared {
		return t.Axes[len(t.Axes)-1]
	}
	columns := schedule.Dim(d.extentOf(name, schedule.Contraction.Columns))
	if d.chain != nil && d.chain.at[name].Columns() {
		columns.Outer = []schedule.Split{schedule.DIDx(schedule.D)}
	}
	return columns
}

// extentOf is the extent of the rows or of the columns of a tensor that an operation makes: that of an operand's axis
// with their letter.
func (d *draft) extentOf(name string, letter func(schedule.Contraction) byte) schedule.Extent {
	o, _ := d.schedule.Maker(name)
	c, _ := d.schedule.Contraction(o) // Validate has read it
	for i, in := range c.In {
		at := strings.IndexByte(in, letter(c))
		t, declared := d.schedule.Tensor(o.In[i])
		switch {
		case at < 0:
		case declared:
			return t.Axes[at].Extent
		case at > 0 && at == len(in)-1:
			return d.extentOf(o.In[i], schedule.Contraction.Columns)
		default:
			return d.extentOf(o.In[i], schedule.Contraction.Rows)
		}
	}
	return ""
}

// eachRank declares memory with all ranks' rows of a tensor, indexed by ranks, and the given columns. Where the rows
// come in batches each batch has those of all ranks.
func (w *writer) eachRank(name, of string, columns schedule.Axis) {
	rows := schedule.Dim(w.rowExtent(of))
	if w.n > 1 {
		rows.Outer = []schedule.Split{{Kind: schedule.Plain, Count: chunksName}}
	}
	if !w.uneven(of) { // else they lie one after another
		rows.Outer = append(rows.Outer, schedule.Split{Kind: schedule.Plain, Count: schedule.D})
	}
	t := schedule.Tensor{Name: name, Axes: []schedule.Axis{rows, columns}}
	w.memory(name, chunk(t), t.Axes...)
}

// indexed lets the caller's tensors of a stage be indexed by the rows of a rank.
func (w *writer) indexed(s *stage) {
	rows := s.input
	if s.bare() {
		rows = s.sums
	}
	if w.unevenExtents()[w.rowExtent(rows)] { // counted
		return
	}
	if s.left.Columns() {
		for _, o := range append(slices.Clone(s.terms), s.ops...) {
			w.cut(o.In[1], schedule.D)
		}
		return
	}
	w.cutRows(w.rowExtent(rows), 1)
	cut := []schedule.Extent{schedule.D}
	if w.n > 1 {
		cut = []schedule.Extent{chunksName, schedule.D}
	}
	names := append(w.eachRows(s), s.into)
	if !s.ofAll() && !s.bare() {
		names = append(names, s.input)
	}
	for _, name := range names {
		b, by := w.program.At(name), w.parted[name]
		if b.Name == "" || len(b.Tensor.Axes[0].Outer) > 0 {
			continue
		}
		if w.cut(name, cut...); by != nil {
			w.chain.blame(refused(by.leaving.cutAt, "leave it out",
				"parts of all rows of %s meet, and %s is taken by the rows of a rank", by.sums, name))
		}
	}
}

// leavingRows is the memory, ahead of all that in which partial results are made, of rows that leave a stage of a chain
// one rank's after another's.
func (w *writer) leavingRows(s *stage) []string {
	if !s.puts() {
		return nil
	}
	names := append(inRows(s.last().Then), w.summands(s), w.named(slots, s.sums), w.named(reduced, s.sums), s.sums)
	if !s.bare() && w.outward(s) { // which is multiplied in these parts
		names = append(names, w.eachRows(s)...)
	}
	if !s.bare() && w.outward(s) || s.bare() && s.summand.Out != "" {
		names = append(names, s.input)
	}
	return slices.DeleteFunc(names, func(name string) bool { return w.program.At(name).Name == "" })
}

// ofEachRank declares memory with a part of every rank of what leaves a stage: of partial results, or of slots for this
// rank's. Rows of batches that leave together lie together there.
func (w *writer) ofEachRank(s *stage, columns schedule.Axis, name string) {
	name = w.named(name, s.sums)
	if sum := *w.program.At(s.sums); s.left.Columns() {
		w.memory(name, sum.Chunk, append([]schedule.Axis{schedule.Dim(schedule.D)}, sum.Tensor.Axes...)...)
		return
	}
	if w.eachRank(name, s.sums, columns); w.takes == batchesInRound {
		w.fine[name] = w.n
	}
}

// eachRows are the tensors of a stage, but for its input, that it reads or makes by the rows of one rank at a time.
func (w *writer) eachRows(s *stage) (names []string) {
	for _, t := range s.terms {
		names = append(names, t.In[0])
	}
	for _, o := range s.ops {
		if o.Out != s.sums || s.toAll {
			names = append(append(names, w.madeIn(o.Out)), inRows(w.schedule.With(o).Then)...)
		}
		if o.Out == s.sums && s.toAll {
			names = append(names, w.named(reduced, s.sums))
		}
		names = append(names, inRows(w.schedule.Own(o))...)
	}
	return slices.DeleteFunc(names, func(name string) bool { return w.program.At(name).Name == "" })
}

// inRows are the operands of functions that have the rows of what these are of. Partial results are in no memory of
// their own.
func inRows(list []schedule.Func) (names []string) {
	for _, f := range list {
		for _, x := range f.Operands() {
			if x.Lies != schedule.ByColumn && x.Lies != schedule.ByHead && !f.Joins {
				names = append(names, x.Tensor)
			}
		}
	}
	return names
}

// summands is the memory in which each rank has its summands of a stage's sums.
func (w *writer) summands(s *stage) string {
	if s.given != "" {
		return s.given
	}
	return w.named(partial, s.sums)
}
