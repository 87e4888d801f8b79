package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/edges"
	"ovgen/schedule/hostir"
)

// share is how the partial results of a lonely stage are cut for their owners: by rows, in parts or of each batch, or
// by columns.
type share struct {
	parts
	of *stage
}

// shareOf is the share of a stage: a rank's rows in n parts.
func shareOf(s *stage, n int) share { return share{parts{int64(max(n, 1)), "j"}, s} }

var batches = hostir.Var(chunksName)

func (c share) inBatches() bool { return c.of.left.Batches != "" }

// what is cut.
func (c share) what() string {
	if c.of.left.Columns() {
		return "columns"
	}
	return "rows"
}

// at is the part of a rank in memory of all ranks' parts. Rows of batches lie together there.
func (c share) at(buffer string, rank hostir.Expr) hostir.View {
	if c.inBatches() {
		return hostir.Chunks(buffer, hostir.Mul(rank, batches), batches)
	}
	return hostir.Chunk(buffer, c.chunk(rank))
}

// made is that product, if the caller has not done it.
func (c share) made(on hostir.StreamRef, into hostir.View, rank hostir.Expr) []hostir.Node {
	if c.of.given != "" {
		return nil
	}
	return []hostir.Node{c.product(on, into, rank)}
}

// product makes the partial result of a rank's part.
func (c share) product(on hostir.StreamRef, into hostir.View, rank hostir.Expr) hostir.Node {
	o := c.of.ops[0]
	index, _, _ := productOf(o)
	x, weight := hostir.Chunk(o.In[0], c.chunk(rank)), hostir.Whole(o.In[1])
	switch {
	case c.of.left.Columns(): // they are rows of the weight
		x, weight = hostir.Whole(o.In[0]), hostir.Chunk(o.In[1], rank)
	case c.inBatches():
		batch := hostir.Var("batch")
		x.Index = hostir.Add(hostir.Mul(batch, hostir.Size), rank)
		into.Index, into.Count = hostir.Add(into.Index, batch), hostir.Expr{}
		return hostir.Loop("batch", hostir.Const(0), batches, hostir.Multiply(on, index, into, x, weight))
	}
	return hostir.Multiply(on, index, into, x, weight)
}

// callers lets the caller's tensors be indexed by the parts.
func (c share) callers(w *writer) {
	s, o := c.of, c.of.ops[0]
	cut := []schedule.Extent{schedule.D}
	if c.n > 1 {
		cut = append(cut, decimal(int(c.n)))
	}
	switch {
	case s.left.Columns():
		w.cut(o.In[1], schedule.D)
	case c.inBatches():
		w.cut(o.In[0], chunksName, schedule.D)
	case s.left.Size == edges.Balanced:
		w.counted(o.In[0], hostir.Var(countChunk))
		w.counted(s.sums, hostir.Var(countRank))
	default:
		w.cut(o.In[0], cut...)
		w.cutRows(w.rowExtent(s.sums), c.n)
	}
	switch {
	case s.toAll:
		w.cut(s.sums, cut...)
	case c.n > 1:
		w.cut(s.sums, cut[1:]...)
	}
	if o.Added() != "" {
		sum, added := w.buffer(s.sums), w.buffer(o.Added())
		added.Chunk, added.Counts, added.Elements = sum.Chunk, sum.Counts, sum.Elements
	}
}

// stacks declares memory with a part of every rank's: of partial results, of slots for this rank's, or of sums.
func (w *writer) stacks(s *stage, columns schedule.Axis, n int, names ...string) {
	c, alone := shareOf(s, n), w.alone(s)
	if alone {
		c.callers(w)
	}
	for _, name := range names {
		if of := w.named(name, s.sums); alone {
			c.stack(w, of, name == slots)
		} else {
			w.eachRank(of, s.sums, columns)
		}
	}
}

// stack declares memory for a part of every rank: each as large as that of its rank, or as this rank's.
func (c share) stack(w *writer, name string, alike bool) {
	sum := *w.buffer(c.of.sums)
	axes, rows := sum.Tensor.Axes, sum.Tensor.Axes[0]
	each := append([]schedule.Axis{schedule.Dim(schedule.D)}, axes...)
	switch {
	case c.of.left.Size == edges.Balanced:
		w.memory(name, sum.Chunk, append([]schedule.Axis{schedule.Dim(rows.Extent)}, axes[1:]...)...)
		w.counted(name, hostir.Var(countChunk))
		if alike {
			b := w.buffer(name)
			b.Tensor.Axes, b.Counts, b.Elements = each, sum.Counts, hostir.Mul(hostir.Size, sum.Elements)
		}
	case c.of.left.Columns(), c.inBatches():
		w.memory(name, sum.Chunk, each...)
	default:
		w.memory(name, sum.Chunk, append([]schedule.Axis{schedule.Dim(rows.Extent, schedule.Stream(schedule.D))},
			axes[1:]...)...)
	}
}
