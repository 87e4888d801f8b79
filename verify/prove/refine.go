package prove

import (
	"slices"

	"ovgen/schedule"
	"ovgen/verify/ops"
)

// refine cuts the chunks of a buffer further where an operation moves or multiplies them into smaller chunks of another
// buffer. Afterwards each chunk on one side is one chunk on the other. The number of cuts depends on the numbers of
// chunks alone. Buffers with uneven chunks keep their chunks.
func refine(buffers []Buffer, columns map[string]int64, lists [][]ops.Op) []Buffer {
	f := finer{slices.Clone(buffers), columns}
	for changed := true; changed; {
		changed = false
		for _, list := range lists {
			for _, o := range list {
				changed = f.operation(o) || changed
			}
		}
	}
	return f.buffers
}

type finer struct {
	buffers []Buffer
	columns map[string]int64
}

// operation cuts chunks for one operation, and reports whether it cut any.
func (f finer) operation(o ops.Op) bool {
	for _, u := range o.Uses {
		if ops.OfStream(u.At) {
			continue
		}
		b := f.of(u)
		if b.Offsets != nil || b.Chunk == 0 || u.Bytes%b.Chunk != 0 || u.Bytes == 0 {
			return false
		}
	}
	from, to := o.Source(), o.Result()
	switch {
	case from.Bytes == 0 || to.Bytes == 0:
		return false
	case o.Kind == ops.Product:
		return f.product(o, to)
	case slices.ContainsFunc(o.Uses, f.inColumns): // no part of it makes rows of the result
		return false
	case o.Kind == ops.Collective:
		part := min(from.Bytes, to.Bytes)
		from.Bytes, to.Bytes = part, part
		return part%f.of(from).Chunk == 0 && part%f.of(to).Chunk == 0 && f.tie(from, to)
	case o.Kind == ops.Copy, o.Kind == ops.Sum, o.Kind == ops.Apply:
		changed := false
		for i, u := range o.Uses {
			if ops.OfStream(u.At) {
				continue
			}
			if o.LeftScales(i) && inHeads(&o, f.elements(to)/f.elements(u)) {
				continue // they lie head by head
			}
			beside := o.Kind == ops.Apply && !u.Write || o.LeftScales(i) || o.ScalesTerm(i) ||
				o.LiesOf(i) == schedule.ByRow // cut like their rows
			if eachRow(o.LiesOf(i)) && (beside || f.elements(u) == f.elements(from)) {
				changed = f.tie(from, u) || changed
			}
		}
		return changed
	}
	return false
}

// product cuts A like B for a gradient, and else like the rows of the result. It cuts A's scales of rows like A, but
// not those that lie block by block.
func (f finer) product(o ops.Op, to ops.Use) bool {
	x := o.Factors()
	switch {
	case o.Form == "gradient":
		return !f.inColumns(*x.A) && !f.inColumns(*x.B) && f.tie(*x.A, *x.B)
	case f.inColumns(*x.A), f.inColumns(to):
		return false
	}
	changed := f.tie(*x.A, to)
	if x.ScaleA != nil && x.ScaleA.Bytes > bytesOfScale && !o.InBlocks {
		changed = f.tie(*x.A, *x.ScaleA) || changed
	}
	return changed
}

// inColumns reports whether a use takes all columns of a buffer that is in parts of columns.
func (f finer) inColumns(u ops.Use) bool { return f.columns[u.At.Buffer] > 1 && !u.Columns }

func (f finer) elements(u ops.Use) int64 { return f.of(u).elements(u.Bytes) }

func (f finer) of(u ops.Use) *Buffer {
	i := slices.IndexFunc(f.buffers, func(b Buffer) bool { return b.Name == u.At.Buffer })
	return &f.buffers[i]
}

// tie gives two uses equally many chunks.
func (f finer) tie(u, v ops.Use) bool {
	a, b := f.of(u), f.of(v)
	n, m := u.Bytes/a.Chunk, v.Bytes/b.Chunk
	most := multiple(n, m)
	if n == m || u.Bytes%most != 0 || v.Bytes%most != 0 {
		return false
	}
	a.Chunk, b.Chunk = u.Bytes/most, v.Bytes/most
	return true
}
