package lower

import (
	"fmt"
	"slices"

	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// Variables of Buffer.Counts: a rank, and a chunk of its buffer.
const (
	countRank  = "q"
	countChunk = "c"
)

// uneven says that a tensor's parts have extents of their own.
func (d *draft) uneven(name string) bool {
	t, _ := d.schedule.Tensor(name)
	axis, split, ok := t.Sharded()
	return ok && t.Axes[axis].Outer[split].Uneven
}

// ofCounted says that a tensor has the rows of parts as large as Bind is told, its own or all, or is made of them.
func (d *draft) ofCounted(name string) bool {
	if t, _ := d.schedule.Tensor(name); edges.Of(t).Size == edges.Counted {
		return true
	}
	o, made := d.schedule.Maker(name)
	return made && kind(o.Name()) == copied && d.ofCounted(o.In[0])
}

// counts says that copies and functions alone are made of a tensor whose rows are in parts as large as Bind is told.
func (d *draft) counts(t schedule.Tensor) bool {
	return edges.Of(t) == edges.State{Axis: 1, Cut: edges.Cut{Size: edges.Counted}} &&
		!slices.ContainsFunc(d.schedule.Ops, func(o schedule.Op) bool {
			return kind(o.Name()) != copied && slices.ContainsFunc(o.In, d.ofCounted)
		})
}

// countedRows gives the memory of functions of such rows their counts.
func (w *writer) countedRows() {
	for _, s := range w.chain.stages {
		if !w.ofCounted(s.input) || len(s.ops) == 0 || s.sums != "" {
			continue
		}
		counts := hostir.Var(countChunk)
		if s.own {
			counts = hostir.Var(countRank)
		}
		for _, name := range append(w.eachRows(s), s.here()) {
			w.counted(name, counts)
		}
	}
}

// counted gives the chunks of a buffer the counts that Bind is called with, of rows; of
// elements where rows have different lengths. New makes room for the most rows
// that a part may have, or else for all of the tensor, which one rank may have.
func (d *draft) counted(name string, counts hostir.Expr) {
	b := d.buffer(name)
	if b.Name == "" {
		return
	}
	b.Counts = counts
	rows, columns := b.Tensor.Axes[0], b.Tensor.Axes[1:]
	if len(columns) > 1 {
		rows, columns = columns[1], columns[2:]
	}
	b.Chunk = hostir.Const(1)
	if len(columns) > 0 {
		b.Chunk = elements(schedule.Tensor{Axes: columns})
	}
	most := extent(rows.Extent)
	if m, ok := d.most(name); ok {
		most = extent(m)
	} else if e, ok := d.program.Balanced(); ok && counts.Equal(hostir.Var(countRank)) {
		most = rowsOfFirst(e)
	}
	b.Elements = times(most, b.Chunk)
}

// rowsOfFirst are the rows of the first of balanced parts, which has the most.
func rowsOfFirst(e schedule.Extent) hostir.Expr {
	return hostir.Div(hostir.Sub(hostir.Add(extent(e), hostir.Size), hostir.Const(1)), hostir.Size)
}

// most is the bound on the rows of a tensor's uneven parts.
func (d *draft) most(name string) (schedule.Extent, bool) {
	t, _ := d.schedule.Tensor(name)
	axis, split, ok := t.Sharded()
	if !ok || t.Axes[axis].Outer[split].Most == "" {
		return "", false
	}
	return t.Axes[axis].Outer[split].Most, true
}

// unbounded refuses a bound on uneven parts where room is made for all rows of a rank.
func (d *draft) unbounded() error {
	for i, t := range d.schedule.Tensors {
		j, k, ok := t.Sharded()
		if ok && t.Axes[j].Outer[k].Most != "" {
			return refused(fmt.Sprintf("Tensors[%d].Axes[%d].Outer[%d].Most", i, j, k), "leave it out",
				"an all-to-all makes room for M elements a rank, whatever its parts are")
		}
	}
	return nil
}

// counts gives the chunks of what a stage moves, and of what it makes of that, the counts that Bind is called with or
// that New knows, if its parts have extents of their own.
func (w *writer) counts(s *stage) bool {
	switch {
	case s.given != "" && w.uneven(s.sums):
		for _, name := range []string{s.given, s.input} {
			given := w.buffer(name)
			given.Counts = hostir.Var(countChunk)
			given.Chunk = elements(schedule.Tensor{Axes: given.Tensor.Axes[2:]})
		}
		w.counted(s.sums, hostir.Var(countRank))
		w.counted(s.ops[len(s.ops)-1].Added(), hostir.Var(countRank))
	case s.sums != "" && w.uneven(s.sums):
		w.counted(s.ops[0].In[0], hostir.Var(countChunk))
		w.counted(w.named(partial, s.sums), hostir.Var(countChunk))
		w.counted(s.sums, hostir.Var(countRank))
		w.counted(s.ops[0].Added(), hostir.Var(countRank))
		sum, own := w.buffer(s.sums), w.buffer(w.named(slots, s.sums))
		own.Tensor.Axes = append([]schedule.Axis{schedule.Dim(schedule.D)}, sum.Tensor.Axes...)
		own.Chunk, own.Counts, own.Elements = sum.Chunk, sum.Counts, hostir.Mul(hostir.Size, sum.Elements)
	case !s.bare() && w.uneven(s.input):
		w.counted(s.input, hostir.Var(countRank))
		for _, name := range append(w.eachRows(s), s.here()) {
			w.counted(name, hostir.Var(countChunk))
		}
	default:
		return false
	}
	return true
}
