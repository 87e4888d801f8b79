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

func (d *draft) uneven(name string) bool { return d.split(name).Uneven }

// ofCounted says that a tensor has the rows of parts as large as Bind is told, its own or all, or is made of them.
func (d *draft) ofCounted(name string) bool {
	if t := d.tensor(name); edges.Of(t).Size == edges.Counted {
		return true
	}
	o, made := d.schedule.Maker(name)
	return made && kind(o.Name()) == copied && d.ofCounted(o.In[0])
}

// byCounts says that the rows of a tensor are in parts as large as Bind is told.
func byCounts(t schedule.Tensor) bool {
	return edges.Of(t) == edges.State{Axis: 1, Cut: edges.Cut{Size: edges.Counted}}
}

// multiplied is the first operand of a product of a stage, if it has rows by counts.
func (d *draft) multiplied(s *stage) (rows string, counted bool) {
	for _, o := range s.ops {
		if multiplies(o) && d.ofCounted(o.In[0]) {
			return o.In[0], true
		}
	}
	return "", false
}

// countedProducts checks products where rows are by counts. It refuses a product whose rows are not gathered, a sum
// that has rows by counts on one side only, and padded rows beside rows whose number New knows.
func (d *draft) countedProducts() error {
	padded := slices.IndexFunc(d.legs, func(l leg) bool { return l.stage.padded })
	for _, s := range d.chain.stages {
		rows, in := d.multiplied(s)
		out := s.left.Size == edges.Counted && !s.bare()
		switch {
		case in && !s.gathers:
			return d.misplaced(d.sized(rows), "let all ranks have equal parts",
				"a product has as many rows as New is told, and Bind says how many a rank has of %s", d.sized(rows))
		case in && s.sums != "" && !out:
			return d.misplacedIn(s.sums, edges.Of(d.tensor(d.sized(rows))),
				"the rows of %s are by counts, and those of %s are not", d.sized(rows), s.sums)
		case out && !in && (s.ofAll() || !s.first):
			return d.misplaced(s.sums, "place all tensors of rows alike, and declare them",
				"the rows of %s are by counts, and those of %s are not", s.sums, s.input)
		case padded >= 0 && !s.padded && (in || out):
			return refused(d.program.Edges[padded].Path, "use schedule.Pull, or pad the rows of all products",
				"products take all rows of %s, without padding", d.sized(s.input))
		}
	}
	return nil
}

// sized is the declared tensor that a tensor has its rows of.
func (d *draft) sized(name string) string {
	for _, declared := d.original.Tensor(name); !declared; _, declared = d.original.Tensor(name) {
		o, _ := d.schedule.Maker(name)
		name = o.In[0]
	}
	return name
}

// unevenExtents are those of a stage's rows whose parts have extents of their own.
func (d *draft) unevenExtents() map[schedule.Extent]bool {
	found := map[schedule.Extent]bool{}
	for _, t := range d.schedule.Tensors {
		rows := t.Axes[0].Extent
		of := func(s *stage) bool { return d.rowExtent(s.input) == rows || d.rowExtent(s.sums) == rows }
		if d.uneven(t.Name) && edges.Of(t).Rows() && len(t.Axes) < 3 && d.any(of) {
			found[rows] = true
		}
	}
	return found
}

// countRows gives memory of such rows the counts that Bind is called with, or that New knows: of all ranks, of the
// rank's own, or of each rank's summand. Functions of what is exchanged have the counts of that.
func (w *writer) countRows() {
	uneven := w.unevenExtents()
	for _, b := range slices.Clone(w.program.Buffers) {
		axes := b.Tensor.Axes
		_, scales := w.schedule.ScaledBy(b.Name)
		switch n := len(axes); {
		case n == 0 || scales:
		case n == 3 && uneven[axes[1].Extent] && len(axes[0].Outer) > 0:
			x := w.program.At(b.Name)
			x.Counts, x.Chunk = hostir.Var(countChunk), hostir.Elements(schedule.Tensor{Axes: axes[2:]})
		case n > 2 || !uneven[axes[0].Extent]:
		case slices.ContainsFunc(axes[0].Outer, func(s schedule.Split) bool { return s.Kind == schedule.DeviceX }):
			w.counted(b.Name, hostir.Var(countRank))
		default:
			w.counted(b.Name, hostir.Var(countChunk))
		}
	}
	for _, s := range w.chain.stages {
		switch {
		case s.puts() && !s.bare() && w.uneven(s.sums):
			sum, slots := w.program.At(s.sums), w.program.At(w.named(slots, s.sums))
			slots.Tensor.Axes = append([]schedule.Axis{schedule.Dim(schedule.D)}, sum.Tensor.Axes...)
			slots.Chunk, slots.Counts, slots.Elements = sum.Chunk, sum.Counts, hostir.Mul(hostir.Size, sum.Elements)
		case w.uneven(s.input) && w.manyAxes(s.input) && len(s.ops) > 0 && s.sums == "":
			for _, name := range append(w.eachRows(s), s.here()) {
				w.counted(name, exchangedCounts(edges.Of(w.tensor(s.input))))
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

// counted gives the chunks of a buffer the counts that Bind is called with, of rows; of
// elements where rows have different lengths. New makes room for the most rows
// that a part may have, or else for all of the tensor, which one rank may have.
func (d *draft) counted(name string, counts hostir.Expr) {
	b := d.program.At(name)
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
		b.Chunk = hostir.Elements(schedule.Tensor{Axes: columns})
	}
	most := hostir.Extent(rows.Extent)
	if m := d.split(name).Most; m != "" {
		most = hostir.Extent(m)
	} else if e, ok := d.program.Balanced(); ok && counts.Equal(hostir.Var(countRank)) {
		most = hostir.Div(hostir.Sub(hostir.Add(hostir.Extent(e), hostir.Size), one), hostir.Size) // those of the first
	}
	b.Elements = hostir.Times(most, b.Chunk)
}
