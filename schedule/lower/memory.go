package lower

import (
	"cmp"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
	"ovgen/schedule/stages"
)

// Buffers and semaphores of a program, and the numbers that must divide its shape for them.

// tensors declares a buffer for each tensor, indexed by the parts of its first axis,
// and the numbers by which the splits divide the shape.
func (w *writer) tensors() {
	for i, t := range w.Schedule.Tensors {
		t.Axes = slices.Clone(t.Axes)
		for j, a := range t.Axes { // with the name S for a constant number of steps
			t.Axes[j].Outer = slices.Clone(a.Outer)
			for k, split := range a.Outer {
				if split.Count != schedule.D {
					w.program.Constants[chunksName], t.Axes[j].Outer[k].Count = int64(w.Batches), chunksName
				}
			}
		}
		cut := t.Axes
		if declared, _ := w.Original.Tensor(t.Name); len(declared.Axes) > len(cut) {
			cut = declared.Axes // some of these are one
		}
		for _, a := range cut {
			if !a.InBlocks() { // the products of their tensor ask more
				w.program.AskParts(a)
			}
		}
		b := hostir.Buffer{Name: t.Name, Tensor: t, Owner: hostir.Caller, Elements: hostir.Elements(t),
			Chunk: hostir.PartOfFirst(t)}
		if i >= len(w.Original.Tensors) {
			b.Owner = hostir.Plan
		}
		w.program.Buffers = append(w.program.Buffers, b)
	}
}

// cut lets a buffer be indexed by parts of the first axis that a rank has more than one index of, and by the parts that
// rows of each rank are in there.
func (w *writer) cut(name string, parts ...schedule.Extent) {
	if n := w.fine[name]; n > 1 {
		parts = append(parts, schedule.Number(n))
	}
	w.program.At(name).Cut(parts...)
}

// cutRows asks of the shape that the ranks can cut the rows, and each rank its own into parts. It refuses parts where
// each rank has one row.
func (w *writer) cutRows(rows schedule.Extent, own parts) {
	switch {
	case rows == schedule.D && own.n > 1:
		w.wrong = cmp.Or(w.wrong, refused(own.at, leaveOut, "there are D rows, one for each rank"))
	case rows != schedule.D && !w.UnevenExtents()[rows]: // else each rank has one, or as many as Bind is told
		w.program.Ask(hostir.Divide{Extent: rows, By: schedule.D, Times: max(own.n, 1)})
	}
}

// cutFlat lets a stage's sums and their summands be indexed by a part of their elements a rank, and asks of the shape
// that the ranks can cut the elements. Parts are of rows where rows says so, or where functions or other steps take
// rows of a rank. What functions read beside the sums is cut as they are.
func (w *writer) cutFlat(s *stage, rows bool) {
	axes := w.program.At(s.Sums).Tensor.Axes
	_, finish := w.finish(s, hostir.Whole(s.Sums))
	if rows || !finish.ByPlace() || w.Widens(s.Stage) || w.Coded(s.Stage) ||
		w.any(func(s *stage) bool { return w.byRanks(s) || s.leaving.ofAll }) {
		w.cutRows(axes[0].Extent, parts{})
	} else {
		check := hostir.Divide{Extent: axes[0].Extent, With: axes[1].Extent, By: schedule.D}
		if axes[0].Extent.Constant() && !axes[1].Extent.Constant() {
			check.With = "" // a proof for every number of columns has whole rows
		}
		w.program.Ask(check)
	}
	for _, name := range append(stages.InRows(w.Schedule.With(s.Last()).Then), s.Sums, w.summands(s)) {
		w.byRank(name)
		b, n := w.program.At(name), parts{n: w.fine[name]}
		if name == w.summands(s) {
			n = w.madeIn(name)
		}
		b.Chunk = hostir.Div(b.Elements, n.all(hostir.Size))
	}
}

// madeIn are the parts in which a rank's rows of partial results are made: as fine as they are cut, or batches.
func (w *writer) madeIn(name string) parts {
	return parts{n: cmp.Or(w.fine[name], w.batchesOf(w.program.At(name).Tensor.Axes[0].Extent).n)}
}

// flatAt is the part of a rank in memory that is cut flat.
func (w *writer) flatAt(name string, rank hostir.Expr) hostir.View {
	n := w.madeIn(name)
	if n.n < 2 {
		return hostir.Chunk(name, rank)
	}
	return hostir.Chunks(name, n.all(rank), hostir.Const(n.n))
}

// heads asks of the shape that heads are whole on each rank, where a function has some of a result with such columns.
func (w *writer) heads() {
	for _, o := range w.Schedule.Ops {
		for _, f := range o.Then {
			check := hostir.Divide{Extent: w.ColumnsOf(o.Out).Extent}
			if w.At[o.Out].Columns() {
				check.By = schedule.D
			}
			widths, pairs := schedule.Heads(schedule.Nodes(w.Original.Tree(f))), w.TurnsPairs(f)
			for _, check.Heads = range widths {
				if check.Heads == schedule.W && pairs {
					w.program.Ask(hostir.Divide{Extent: schedule.W, By: "2"})
				}
				if check.Heads != schedule.W && slices.Contains(widths, schedule.W) { // parts of heads
					w.program.Ask(hostir.Divide{Extent: schedule.W, By: check.Heads})
				}
				w.program.Ask(check)
			}
		}
	}
}

// memories declares the memory that the stages need beside the caller's tensors.
func (w *writer) memories() {
	for _, s := range w.stages {
		all := schedule.Dim(w.ColumnsOf(s.Input).Extent)
		switch {
		case !s.Gathers, w.program.At(s.Into).Name != "": // the caller's
		case s.Into != "" && s.Moved != (edges.Edge{}), s.Moved.From.Columns():
			w.ofRows(s.here(), s.Input, s.Moved.To.Rows(), all)
		default:
			w.eachRank(s.here(), s.Input, w.ColumnsOf(s.Input))
		}
		for _, o := range s.Ops {
			if o.Out == s.Sums {
				w.sums(s)
			} else {
				w.results(s, o)
			}
		}
	}
	for _, s := range w.stages {
		switch {
		case s.AddsShares() && w.inTurns(s): // else of all rows at once
			w.byRank(s.Whole())
			w.cut(s.Whole(), schedule.D)
		case w.byRanks(s) && !s.TakesParts():
			w.indexed(s)
		}
	}
}

// results declares memory for a result of an operation that the caller does not get.
func (w *writer) results(s *stage, o schedule.Op) {
	columns, made := w.ColumnsOf(o.Out), w.MadeIn(o.Out)
	_, declared := w.Schedule.Tensor(o.Out)
	if made != o.Out {
		columns.Outer = []schedule.Split{schedule.DIDx(schedule.D)}
	}
	switch {
	case declared && made == o.Out:
	case o.Name() == schedule.GradientWord: // whose rows are columns of an operand
		w.ofRows(made, o.Out, w.At[o.Out].Rows(), columns)
	case w.byRanks(s) && !w.Uneven(s.Input) && !w.Uneven(s.Sums):
		w.eachRank(made, o.Out, columns)
	case w.CalledForSummands(o.Out):
		each := schedule.Dim(schedule.D, schedule.DIDx(schedule.D))
		w.program.Memory(made, hostir.Expr{}, each, w.RowAxis(o.Out, false), columns)
	default:
		w.ofRows(made, o.Out, s.Own, columns)
	}
}

// sums declares memory for partial results, and for their sums if there is none.
func (w *writer) sums(s *stage) {
	partial := w.named(partial, s.Sums)
	switch {
	case s.departs():
		for _, of := range s.leaving.memory {
			of(w, s)
		}
	case s.inKernel(s.Last()): // into memory of its kernel's way
	case s.Given != "":
		if !s.ToAll || w.byRanks(s) {
			w.cut(s.Given, schedule.D)
		}
	case w.byRanks(s), w.leaveIn(s).n > 1:
		w.eachRank(partial, s.Sums, w.ColumnsOf(s.Sums))
	default:
		if w.ofRows(partial, s.Sums, false, w.ColumnsOf(s.Sums)); !s.ToAll {
			w.cut(partial, schedule.D)
		}
	}
	w.sum(s)
}

// sum declares memory for a stage's sums, if there is none.
func (w *writer) sum(s *stage) {
	if w.program.At(s.Sums).Name == "" {
		w.ofRows(s.Sums, s.Sums, !s.ToAll, w.ColumnsOf(s.Sums))
		if !s.ToAll && !s.Left.Columns() {
			w.cutRows(w.RowExtent(s.Sums), parts{})
		}
	}
}

// ofRows declares memory with rows of a tensor: all, or this rank's own, indexed by their batches.
func (w *writer) ofRows(name, of string, own bool, columns schedule.Axis) {
	rows := w.RowAxis(of, own)
	if own && w.batchesOf(rows.Extent).n > 1 {
		rows.Outer = slices.Insert(rows.Outer, 0, schedule.Split{Kind: schedule.Plain, Count: chunksName})
	}
	w.inChunks(name, rows, columns)
}

// eachRank declares memory with all ranks' rows of a tensor, indexed by ranks, and the given columns. Where the rows
// come in batches each batch has those of all ranks.
func (w *writer) eachRank(name, of string, columns schedule.Axis) {
	rows := schedule.Dim(w.RowExtent(of))
	if w.batchesOf(rows.Extent).n > 1 {
		rows.Outer = []schedule.Split{{Kind: schedule.Plain, Count: chunksName}}
	}
	if !w.Uneven(of) { // else they lie one after another
		rows.Outer = append(rows.Outer, schedule.Split{Kind: schedule.Plain, Count: schedule.D})
	}
	w.inChunks(name, rows, columns)
}

// inChunks declares memory indexed by the parts of its first axis.
func (w *writer) inChunks(name string, axes ...schedule.Axis) {
	w.program.Memory(name, hostir.PartOfFirst(schedule.Tensor{Axes: axes}), axes...)
}

// indexed lets the caller's tensors of a stage be indexed by the rows of a rank.
func (w *writer) indexed(s *stage) {
	rows := s.Input
	if s.Bare() {
		rows = s.Sums
	}
	if w.UnevenExtents()[w.RowExtent(rows)] { // counted
		return
	}
	if s.Left.Columns() {
		for _, o := range append(slices.Clone(s.Terms), s.Ops...) {
			w.cut(o.In[1], schedule.D)
		}
		return
	}
	w.cutRows(w.RowExtent(rows), parts{})
	cut := []schedule.Extent{schedule.D}
	if w.batchesOf(w.RowExtent(rows)).n > 1 {
		cut = []schedule.Extent{chunksName, schedule.D}
	}
	names := append(w.EachRows(s.Stage), s.Into)
	if !s.OfAll() && !s.Bare() {
		names = append(names, s.Input)
	}
	for _, name := range names {
		if b := w.program.At(name); b.Name != "" && len(b.Tensor.Axes[0].Outer) == 0 {
			w.byRank(name)
			w.cut(name, cut...)
		}
	}
}

// byRank refuses parts of all rows in memory that is taken by the rows of a rank.
func (w *writer) byRank(name string) {
	if by := w.parted[name]; by != nil {
		w.wrong = cmp.Or(w.wrong, refused(by.leaving.cut.at, leaveOut,
			"parts of all rows of %s meet, and %s is taken by the rows of a rank", by.Sums, name))
	}
}

// leavingRows is the memory, ahead of all that in which partial results are made, of rows that leave a stage of a chain
// one rank's after another's.
func (w *writer) leavingRows(s *stage) []string {
	if !s.departs() || s.leaving.ofAll {
		return nil
	}
	names := append(stages.InRows(s.Last().Then), w.summands(s), w.named(slots, s.Sums), w.named(reduced, s.Sums),
		s.Sums)
	switch {
	case !s.Bare() && s.outward(): // which is multiplied in these parts
		names = append(append(names, w.EachRows(s.Stage)...), s.Input)
	case s.Bare() && s.Summand.Out != "":
		names = append(names, s.Input)
	}
	return names
}

// declare is memory of what leaves a stage; each is that with a part of every rank.
type declare func(w *writer, s *stage)

func each(name string) declare { return func(w *writer, s *stage) { w.ofEachRank(s, name) } }

// ofEachRank declares such memory: of partial results, or of slots for this rank's. Rows of batches that leave together
// lie together there.
func (w *writer) ofEachRank(s *stage, name string) {
	name = w.named(name, s.Sums)
	if sum := *w.program.At(s.Sums); s.Left.Columns() {
		w.ofRanks(name, sum.Chunk, sum.Tensor.Axes...)
		return
	}
	w.eachRank(name, s.Sums, w.ColumnsOf(s.Sums))
	if x := w.inRound(s); x.n > 1 {
		w.fine[name] = x.n
	}
}

// ofRanks declares memory with a part of every rank, which has the given elements and axes.
func (w *writer) ofRanks(name string, part hostir.Expr, axes ...schedule.Axis) {
	w.program.Memory(name, part, append([]schedule.Axis{schedule.Dim(schedule.D)}, axes...)...)
}

// there are the names of memory that is declared.
func (w *writer) there(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return w.program.At(name).Name == "" })
}

// summands is the memory in which each rank has its summands of a stage's sums.
func (w *writer) summands(s *stage) string {
	if s.Given != "" {
		return s.Given
	}
	return w.named(partial, s.Sums)
}
