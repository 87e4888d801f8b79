package emit

import (
	"fmt"
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// size is the unit in which a view counts: the elements of the whole buffer, or of a chunk.
func (u *unit) size(v hostir.View) (e hostir.Expr, whole bool, err error) {
	b, ok := u.program.Buffer(v.Buffer)
	if !ok {
		return e, false, fmt.Errorf("the program has no buffer %q", v.Buffer)
	}
	if u.allParts(v) {
		return b.Elements, true, nil
	}
	if !b.Counts.IsZero() {
		return e, false, fmt.Errorf("the chunks of %s are uneven: their sizes are known at Bind", v.Buffer)
	}
	if v.Index.IsZero() && v.Count.IsZero() {
		return b.Elements, true, nil
	}
	return b.Chunk, false, nil
}

// chunk returns the field that holds the bytes of a view's unit, a chunk or the whole buffer; equal sizes share one.
func (u *unit) chunk(v hostir.View) (string, error) {
	elements, whole, err := u.size(v)
	if err != nil {
		return "", err
	}
	name, prefix := v.Buffer, "bytes"
	if !whole {
		// Prefer the name of a caller's tensor that is multiplied or made: chunkA, not chunkAgathered, and chunkC,
		// not chunkResidual.
		prefix = "chunk"
		own, _ := u.program.Buffer(v.Buffer)
		i := slices.IndexFunc(u.program.Buffers, func(b hostir.Buffer) bool {
			return b.Chunk.Equal(elements) && b.Bits(0) == own.Bits(0) && !u.onlyAdded(b.Name)
		})
		if i >= 0 {
			name = u.program.Buffers[i].Name
		}
	}
	return u.field(prefix+exported(name), v.Buffer, elements), nil
}

// stretch returns the field that holds the bytes of one row of a buffer whose columns are cut: of a part of the row, or
// of the whole row.
func (u *unit) stretch(buffer string, all bool) (string, error) {
	b, ok := u.program.Buffer(buffer)
	if !ok || b.Rows.IsZero() {
		return "", fmt.Errorf("the columns of %s are not cut", buffer)
	}
	of, prefix := b.Chunk, "part"
	if all {
		of, prefix = b.Elements, "row"
	}
	elements, ok := of.Without(b.Rows)
	if !ok {
		elements = hostir.Div(of, b.Rows)
	}
	return u.field(prefix+exported(buffer), buffer, elements.Simplify()), nil
}

// field returns the field that holds the bytes of these elements of a buffer. If there is none, it adds a field with
// the given name.
func (u *unit) field(name, buffer string, elements hostir.Expr) string {
	b, _ := u.program.Buffer(buffer)
	bits := b.Bits(0)
	for _, c := range u.chunks {
		if c.elements.Equal(elements) && c.bits == bits {
			return c.field
		}
	}
	u.chunks = append(u.chunks, chunk{field: name, elements: elements, bits: bits})
	return name
}

// onlyAdded reports whether only functions read a tensor: a bias, a residual or the weight of a norm.
func (u *unit) onlyAdded(tensor string) bool {
	s, added := u.program.Schedule, false
	for _, o := range s.Ops {
		if slices.Contains(o.In, tensor) {
			return false
		}
		added = added || slices.ContainsFunc(o.Then,
			func(f schedule.Func) bool { return slices.Contains(f.Reads(), tensor) })
	}
	return added && !s.Made(tensor)
}

// rows is the number of rows of a view, each of the given columns.
func (u *unit) rows(v hostir.View, columns hostir.Expr) (hostir.Expr, error) {
	e, whole, err := u.size(v)
	if err != nil {
		return e, err
	}
	rows, ok := e.Without(columns)
	if !ok {
		rows = hostir.Div(e, columns)
	}
	if !whole && !v.Count.IsZero() && !v.Count.Equal(hostir.Const(1)) {
		rows = hostir.Mul(rows, v.Count)
	}
	return rows, nil
}

// columns is the number of elements of a view's last axis on a rank.
func (u *unit) columns(v hostir.View) (hostir.Expr, error) {
	b, ok := u.program.Buffer(v.Buffer)
	if !ok || len(b.Tensor.Axes) < 2 {
		return hostir.Expr{}, fmt.Errorf("%s is no matrix of the program", v.Buffer)
	}
	last := b.Tensor.Axes[len(b.Tensor.Axes)-1]
	e := extent(last.Extent)
	for _, s := range last.Outer {
		if s.Kind != schedule.DeviceX {
			return hostir.Expr{}, fmt.Errorf("columns of %s are cut: a product takes whole rows", v.Buffer)
		}
		e = hostir.Div(e, extent(s.Count))
	}
	return e, nil
}

// extent is a symbol or constant as an expression.
func extent(e schedule.Extent) hostir.Expr {
	if n, err := strconv.ParseInt(string(e), 10, 64); err == nil {
		return hostir.Const(n)
	}
	return hostir.Var(string(e))
}
