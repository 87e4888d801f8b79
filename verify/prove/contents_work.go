package prove

import (
	"fmt"
	"math/big"
	"slices"

	"ovgen/verify/ops"
)

// sumUp computes a copy or a sum, chunk by chunk. All operands have chunks of the same sizes.
func (s *symbols) sumUp(n int32, o *ops.Op, reads []*chunks, to *chunks) ([]expr, *Counterexample) {
	if o.Kind == ops.Copy && len(reads) != 1 {
		return nil, s.wrong(n, "a copy is of one range")
	}
	reads, beside := ops.FinishOf(o, reads)
	if o.ScaledTerms > 0 {
		var c *Counterexample
		if reads, c = s.scaledTerms(n, o, reads); c != nil {
			return nil, c
		}
	}
	for _, a := range reads {
		if !alike(a, to) {
			return nil, s.wrong(n, fmt.Sprintf("chunks of %v bytes can't be copied to chunks of %v", a.sizes, to.sizes))
		}
	}
	made := make([]expr, len(to.list))
	for i := range to.list {
		var terms []expr
		for _, a := range reads {
			if o.Kind == ops.Sum && a.list[i].expr == stale {
				return nil, s.misread(n, a, i)
			}
			terms = append(terms, a.list[i].expr)
		}
		made[i] = s.sum(terms)
	}
	return s.finish(n, o, made, beside, to)
}

// proportional reports whether two uses have equally many chunks, and each chunk is the same fraction of its whole.
func proportional(a, b *chunks) bool {
	if len(a.sizes) != len(b.sizes) || b.Bytes == 0 {
		return false
	}
	for i, size := range a.sizes {
		if size*b.Bytes != b.sizes[i]*a.Bytes {
			return false
		}
	}
	return true
}

// multiply computes a product. Each chunk of A makes one chunk of C; for a gradient, all chunks of A make one chunk.
func (s *symbols) multiply(n int32, o *ops.Op, reads []*chunks, to *chunks) ([]expr, *Counterexample) {
	for _, a := range reads {
		for i := range a.list {
			if a.list[i].expr == stale {
				return nil, s.misread(n, a, i)
			}
		}
	}
	x, ok := ops.FactorsOf(o, reads)
	if !ok { // another operand lies in words
		return nil, s.wrong(n, fmt.Sprintf("no product reads %d buffers", len(reads)))
	}
	if o.Scales > 0 {
		var c *Counterexample
		if x, c = s.scaled(n, o, x, to); c != nil {
			return nil, c
		}
	}
	if !s.fits(o.Form, x, to) {
		return nil, s.wrong(n, "no product has operands and a result of these sizes")
	}
	var made []expr
	a, b, bias := x.A.list, x.B.list, stale
	if x.Bias != nil {
		bias = s.tuple(x.Bias.exprs())
	}
	switch {
	case o.Form == "gradient" && x.Bias == nil && proportional(x.A, x.B) && even(to):
		for i := range to.list { // rows of the result are columns of the first operand
			var terms []expr
			for j := range a {
				terms = append(terms, s.product(o.Form, s.columnsOf(a[j].expr, i, len(to.list)), b[j].expr, stale))
			}
			made = append(made, s.sum(terms))
		}
	case biased(o.Form) && len(a) == len(to.list):
		for _, rows := range a {
			made = append(made, s.product(o.Form, rows.expr, s.tuple(x.B.exprs()), bias))
		}
	default:
		return nil, s.wrong(n, fmt.Sprintf("a %q of operands of %d and %d chunks does not make %d chunks", o.Form,
			len(a), len(b), len(to.list)))
	}
	if o.Accumulate {
		for i := range made {
			made[i] = s.add(to.list[i].expr, made[i])
		}
	}
	return made, nil
}

// even reports whether chunks are equal parts.
func even(a *chunks) bool {
	return !slices.ContainsFunc(a.sizes, func(size int64) bool { return size != a.sizes[0] })
}

// fits reports whether operands and result are matrices of a product: [m,k], [k,n] and [m,n] for some m. The chunks of
// A are whole rows, and A and C are cut alike.
func (s *symbols) fits(form string, x factors, to *chunks) bool {
	of, made := s.size(x.A), s.size(to)
	a, b, c := x.A.Bytes/of, x.B.Bytes/s.size(x.B), to.Bytes/made
	if form == "gradient" {
		b, c = c, b // C[n,k] takes the place of B[k,n]
	}
	m := rowsOf(a, b, c)
	if m == 0 || a%m != 0 || c%m != 0 {
		return false
	}
	alike := form != "gradient" && len(x.A.sizes) == len(to.sizes)
	for i, size := range x.A.sizes {
		row := a / m * of
		if size%row != 0 || alike && to.sizes[i] != size/row*(c/m)*made {
			return false
		}
	}
	return x.Bias == nil || x.Bias.Bytes == c/m*made
}

// rowsOf is the m of matrices of a = m*k, b = k*n and c = m*n elements; 0 if there is none.
func rowsOf(a, b, c int64) int64 {
	if a == 0 || b == 0 || c == 0 {
		return 0
	}
	square := new(big.Int).Mul(big.NewInt(a), big.NewInt(c)) // beyond an int64 for large extents
	square, rest := square.QuoRem(square, big.NewInt(b), new(big.Int))
	m := new(big.Int).Sqrt(square)
	if rest.Sign() != 0 || new(big.Int).Mul(m, m).Cmp(square) != 0 {
		return 0
	}
	return m.Int64()
}
