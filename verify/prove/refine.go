package prove

import (
	"slices"

	"ovgen/verify/ops"
)

// refine cuts the chunks of a buffer further where an operation moves or multiplies them
// into smaller chunks of another buffer: afterwards each chunk on one side is one chunk on
// the other. The number of cuts depends on the numbers of chunks alone. Buffers with uneven
// chunks are left as they are.
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

// operation cuts for one operation, and reports whether it did.
func (f finer) operation(o ops.Op) bool {
	var uses []ops.Use // the result last
	for _, u := range o.Uses {
		if ops.OfStream(u.At) {
			continue
		}
		b := f.of(u)
		if b.Offsets != nil || b.Chunk == 0 || u.Bytes%b.Chunk != 0 || u.Bytes == 0 {
			return false
		}
		uses = append(uses, u)
	}
	switch {
	case len(uses) < 2:
		return false
	case o.Kind == ops.Product && o.Form == "gradient":
		return f.tie(uses[0], uses[1])
	case o.Kind == ops.Product && f.columns[uses[0].At.Buffer] > 1: // no part of it makes rows of the result
		return false
	case o.Kind == ops.Product:
		changed := f.tie(uses[0], uses[len(uses)-1])
		if at, scaled := o.ScaleOf(0); scaled && uses[at].Bytes > bytesOfScale { // scales of rows are cut as these are
			changed = f.tie(uses[0], uses[at]) || changed
		}
		return changed
	case o.Kind == ops.Collective && len(uses) == 2:
		part := min(uses[0].Bytes, uses[1].Bytes)
		uses[0].Bytes, uses[1].Bytes = part, part
		return part%f.of(uses[0]).Chunk == 0 && part%f.of(uses[1]).Chunk == 0 && f.tie(uses[0], uses[1])
	case o.Kind == ops.Copy, o.Kind == ops.Sum, o.Kind == ops.Apply:
		changed := false
		for i, u := range uses[1:] {
			if i < len(o.Lies) && !eachRow(o.Lies[i]) {
				continue
			}
			scales := o.LeavesScales && i == len(uses)-2 // cut as their rows are
			if scales || i < len(o.Lies) || f.of(u).elements(u.Bytes) == f.of(uses[0]).elements(uses[0].Bytes) {
				changed = f.tie(uses[0], u) || changed
			}
		}
		return changed
	}
	return false
}

func (f finer) of(u ops.Use) *Buffer {
	i := slices.IndexFunc(f.buffers, func(b Buffer) bool { return b.Name == u.At.Buffer })
	return &f.buffers[i]
}

// tie gives two uses as many chunks.
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
