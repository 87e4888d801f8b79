package emit

import (
	"fmt"
	"maps"
	"strconv"

	"ovgen/runtime/kernels"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// gemm is a product of one shape and form.
type gemm struct {
	field   string
	m, k, n hostir.Expr
	tiles   kernels.Kind // the kernel of tiles that makes it, for a shard; empty: none does
	parts   bool         // the product has the rows of a balanced part: there is one for each part, and no m
	form
}

// form is a product's transposition, bias and function.
type form struct {
	transposed, transposedA, bias, accumulate, inOrder bool
	rowScales, inBlocks, narrow                        bool
	of, ofB                                            schedule.Type // of 8 bits: of A, or of a weight alone; of B
	function                                           string        // applied to each element
}

// findProducts lists the products of the program, each once, and names them: gemm if there is one result, else after
// their results.
func (u *unit) findProducts() error {
	var results []string
	several := map[string]bool{}
	var err error
	hostir.Steps(u.program.Body, func(s hostir.Step) {
		if s.Kind() != hostir.ProductKind && hostir.Tiled(s.Do) == nil || err != nil {
			return
		}
		var g gemm
		if g, err = u.shapeOf(s); err == nil && u.find(g) == nil {
			to := s.Result().Buffer
			u.gemms = append(u.gemms, g)
			results = append(results, to)
			several[to] = true
		}
	})
	taken := map[string]bool{}
	for i := range u.gemms {
		stem := "gemm"
		if len(several) > 1 {
			stem += exported(results[i])
		}
		name := stem
		for n := 2; taken[name]; n++ {
			name = stem + strconv.Itoa(n)
		}
		taken[name] = true
		u.gemms[i].field = name
	}
	return err
}

// gemmOf returns the field that holds a product and, where there is a product for each part, the number of the part.
func (u *unit) gemmOf(x hostir.Step) (field string, part hostir.Expr, err error) {
	g, err := u.shapeOf(x)
	if err != nil {
		return "", part, err
	}
	if g.parts { // as many rows as it multiplies
		own, _ := x.OwnProduct()
		part = u.countOf(own.Do.(hostir.Product).A)
	}
	return u.find(g).field, part, nil
}

// countOf is the number of the count of a view's chunk.
func (u *unit) countOf(v hostir.View) hostir.Expr {
	b, _ := u.program.Buffer(v.Buffer)
	rank, chunk := v.Peer, v.Index
	if rank.IsZero() {
		rank = hostir.Rank
	}
	if chunk.IsZero() {
		chunk = hostir.Const(0)
	}
	return b.Counts.Replace(map[string]hostir.Expr{"q": rank, "c": chunk})
}

func (u *unit) find(g gemm) *gemm {
	for i, o := range u.gemms {
		if o.m.Equal(g.m) && o.k.Equal(g.k) && o.n.Equal(g.n) && o.parts == g.parts && o.tiles == g.tiles &&
			o.form == g.form {
			return &u.gemms[i]
		}
	}
	return nil
}

// shapeOf returns the product that New declares for a step. Its number of rows may depend on the rank, but on nothing
// that changes during a run.
func (u *unit) shapeOf(x hostir.Step) (gemm, error) {
	own, tiled := x.OwnProduct()
	var tiles kernels.Kind
	if tiled {
		tiles = kernels.Kind(x.By)
	}
	p := own.Do.(hostir.Product)
	c, a := p.To, p.A
	f, err := hostir.ParseProduct(p.Index)
	g := gemm{form: form{f.TransposedB, f.TransposedA, p.Bias.Buffer != "", p.Accumulate, p.InOrder, false, p.InBlocks,
		p.Narrow(), "", "", p.Func}, tiles: tiles}
	if p.Scaled() {
		scales, _ := u.program.Buffer(p.ScaleB.Buffer)
		g.rowScales = scales.Tensor.OfRows() && !p.InBlocks
		b, _ := u.program.Buffer(p.B.Buffer)
		g.of = b.Tensor.Type
		if x, _ := u.program.Buffer(p.A.Buffer); !g.narrow && x.Tensor.Type != g.of {
			g.of, g.ofB = x.Tensor.Type, g.of
		}
	}
	if err != nil {
		return g, err
	}
	if g.n, err = u.columns(c); err != nil {
		return g, err
	}
	columns, err := u.columns(a)
	if err != nil {
		return g, err
	}
	switch {
	case g.transposedA:
		g.m = columns
		g.k, err = u.rows(a, columns)
	case u.counted(c) && !u.allParts(c):
		g.k, g.parts = columns, true
	default:
		g.k = columns
		g.m, err = u.rows(c, g.n)
	}
	if err != nil {
		return g, err
	}
	known := map[string]bool{"r": true, "D": true}
	for _, s := range u.symbols() {
		known[s] = true
	}
	for name := range maps.Keys(u.program.Constants) {
		known[name] = true
	}
	if _, balanced := u.program.Balanced(); g.parts && !balanced {
		return g, fmt.Errorf("a product makes a part of %s, whose rows are not known before Bind", c.Buffer)
	}
	for _, e := range []hostir.Expr{g.m, g.k} {
		e.Vars(func(name string) {
			if !known[name] && err == nil {
				err = fmt.Errorf("the extents of a product into %s depend on %s: they must be known before a run",
					c.Buffer, name)
			}
		})
	}
	return g, err
}
