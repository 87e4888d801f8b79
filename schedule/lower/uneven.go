package lower

import (
	"fmt"

	"ovgen/schedule"
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

// counted gives the chunks of a buffer the counts that Bind is called with, of rows; of
// elements where rows have different lengths. New makes room for the most rows
// that a part may have, or else for all of the tensor, which one rank may have.
func (d *draft) counted(name string, counts hostir.Expr) {
	b := d.buffer(name)
	b.Counts = counts
	rows, columns := b.Tensor.Axes[0], b.Tensor.Axes[1:]
	if len(columns) == 2 {
		rows, columns = columns[1], nil
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
		given := w.buffer(s.given)
		given.Counts = hostir.Var(countChunk)
		given.Chunk = elements(schedule.Tensor{Axes: given.Tensor.Axes[2:]})
		w.counted(s.sums, hostir.Var(countRank))
	case s.summing != nil && w.uneven(s.sums):
		w.counted(s.ops[0].In[0], hostir.Var(countChunk))
		w.counted(w.named(partial, s.sums), hostir.Var(countChunk))
		w.counted(s.sums, hostir.Var(countRank))
		if added := s.ops[0].Added(); added != "" {
			w.counted(added, hostir.Var(countRank))
		}
	case s.given == "" && w.uneven(s.input):
		w.counted(s.input, hostir.Var(countRank))
		for _, name := range append(w.eachRows(s), s.here()) {
			w.counted(name, hostir.Var(countChunk))
		}
	default:
		return false
	}
	return true
}
