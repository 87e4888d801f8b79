package emit

import (
	"fmt"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// chunk returns the field that holds the bytes of a view; views of equal size share one.
func (u *unit) chunk(v hostir.View) (string, error) {
	b, ok := u.program.Buffer(v.Buffer)
	if !ok {
		return "", fmt.Errorf("the program has no buffer %q", v.Buffer)
	}
	elements := b.Elements
	prefix := "bytes"
	if !v.Index.IsZero() {
		elements, prefix = b.Chunk, "chunk"
	}
	for _, c := range u.chunks {
		if c.elements.Equal(elements) {
			return c.field, nil
		}
	}
	// The caller's name for a size is the better known one: chunkA, not chunkAgathered.
	name := b.Name
	for _, other := range u.program.Buffers {
		if !v.Index.IsZero() && other.Chunk.Equal(elements) {
			name = other.Name
			break
		}
	}
	u.chunks = append(u.chunks, chunk{field: prefix + name, elements: elements})
	return prefix + name, nil
}

// gemm returns the field that holds the product of these views; equal products share one.
func (u *unit) gemm(c, a, b hostir.View, bias *hostir.View) (string, error) {
	g := gemm{transposed: bias != nil, bias: bias != nil && bias.Buffer != ""}
	var err error
	if g.m, err = u.rows(c); err != nil {
		return "", err
	}
	if g.k, err = u.columns(a); err != nil {
		return "", err
	}
	if g.n, err = u.columns(c); err != nil {
		return "", err
	}
	for _, other := range u.gemms {
		if other.m.Equal(g.m) && other.k.Equal(g.k) && other.n.Equal(g.n) && other.transposed == g.transposed && other.bias == g.bias {
			return other.field, nil
		}
	}
	g.field = "gemm"
	if n := len(u.gemms); n > 0 {
		g.field += strconv.Itoa(n + 1)
	}
	u.gemms = append(u.gemms, g)
	return g.field, nil
}

// rows of a view: those of a slice where it has an index, else of all that a rank holds.
func (u *unit) rows(v hostir.View) (hostir.Expr, error) {
	t, err := u.matrix(v)
	if err != nil {
		return hostir.Expr{}, err
	}
	e := extent(t.Axes[0].Extent)
	for _, s := range t.Axes[0].Outer {
		if s.Kind == schedule.DeviceX || !v.Index.IsZero() {
			e = hostir.Div(e, extent(s.Count))
		}
	}
	return e, nil
}

// columns of a view.
func (u *unit) columns(v hostir.View) (hostir.Expr, error) {
	t, err := u.matrix(v)
	if err != nil {
		return hostir.Expr{}, err
	}
	if len(t.Axes[1].Outer) > 0 {
		return hostir.Expr{}, fmt.Errorf("columns of %s are cut: a product takes whole rows", v.Buffer)
	}
	return extent(t.Axes[1].Extent), nil
}

func (u *unit) matrix(v hostir.View) (schedule.Tensor, error) {
	b, ok := u.program.Buffer(v.Buffer)
	if !ok || len(b.Tensor.Axes) != 2 {
		return schedule.Tensor{}, fmt.Errorf("%s is no matrix of the program", v.Buffer)
	}
	return b.Tensor, nil
}

// extent is a symbol or constant as an expression.
func extent(e schedule.Extent) hostir.Expr {
	if n, err := strconv.ParseInt(string(e), 10, 64); err == nil {
		return hostir.Const(n)
	}
	return hostir.Var(string(e))
}
