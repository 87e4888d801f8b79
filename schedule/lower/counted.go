package lower

import (
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

// padsAll refuses padded rows beside products of rows by counts without padding.
func (w *writer) padsAll() error {
	padded := slices.IndexFunc(w.legs, func(l leg) bool { return l.stage.padded })
	for _, s := range w.stages {
		_, in := w.Multiplied(s.Stage)
		if out := s.Left.Size == edges.Counted && !s.Stage.Bare(); padded >= 0 && !s.padded && (in || out) {
			hint := "use " + usually(gather(ofCounted)) + ", or pad the rows of all products"
			return refused(w.program.Edges[padded].Path, hint, "products take all rows of %s, without padding",
				w.Sized(s.Input))
		}
	}
	return nil
}

// countRows gives memory of such rows the counts that Bind is called with, or that New knows: of all ranks, of the
// rank's own, or of each rank's summand. Functions of what is exchanged have the counts of that.
func (w *writer) countRows() {
	for i, b := range w.program.Buffers {
		_, scales := w.Schedule.ScaledBy(b.Name)
		switch at := w.UnevenAxis(b.Tensor); {
		case at < 0 || scales:
		case at == 1:
			w.program.Buffers[i].Counts = hostir.Var(countChunk)
			w.program.Buffers[i].Chunk = hostir.Elements(schedule.Tensor{Axes: b.Tensor.Axes[2:]})
		case edges.Of(b.Tensor).Rows():
			w.counted(b.Name, hostir.Var(countRank))
		default:
			w.counted(b.Name, hostir.Var(countChunk))
		}
	}
	for _, s := range w.stages {
		sum, each := w.program.At(s.Sums), w.program.At(w.named(slots, s.Sums))
		switch {
		case each.Name != "" && w.Uneven(s.Sums):
			each.Tensor.Axes = append([]schedule.Axis{schedule.Dim(schedule.D)}, sum.Tensor.Axes...)
			each.Chunk, each.Counts, each.Elements = sum.Chunk, sum.Counts, hostir.Mul(hostir.Size, sum.Elements)
		case w.Uneven(s.Input) && len(w.Tensor(s.Input).Axes) > 2 && len(s.Ops) > 0 && s.Sums == "":
			for _, name := range append(w.there(w.EachRows(s.Stage)), s.here()) {
				w.counted(name, exchangedCounts(edges.Of(w.Tensor(s.Input))))
			}
		}
	}
}

// exchangedCounts are those of the parts that each rank has for every rank, or of every rank.
func exchangedCounts(at edges.State) hostir.Expr {
	from, to := hostir.Var(countRank), hostir.Var(countChunk)
	if !at.Rows() {
		from, to = to, from
	}
	return hostir.Add(hostir.Mul(from, hostir.Size), to)
}

// counted gives the chunks of a buffer the counts that Bind is called with, and room for the most rows of a part.
func (w *writer) counted(name string, counts hostir.Expr) {
	var most hostir.Expr
	if m := w.Split(name).Most; m != "" {
		most = hostir.Extent(m)
	} else if counts.Equal(hostir.Var(countRank)) {
		most = w.program.MostBalanced()
	}
	w.program.At(name).Count(counts, most)
}
