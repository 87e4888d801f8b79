package reference

import (
	"cmp"
	"math"

	"ovgen/runtime/driver"
	"ovgen/verify/formula"
)

// Product is C[M,N] = A[M,K] * B, plus a bias over the columns if one is given.
type Product struct {
	M, K, N     int
	Type        driver.Type
	Transposed  bool   // B is [N,K], else [K,N]
	TransposedA bool   // A is [K,M], else [M,K]
	Func        string // an epilogue, applied to each element of the sum; empty is none
	// Parts is the number of parts of K whose sums are made on different ranks. These partial sums, and the sums of
	// some of them, are rounded to the type before the last one is added, also where there is one rank. 0 is a product
	// that is rounded once.
	Parts int
	// Operand is the type of A and OperandB of B where they have scales: of rows if RowScales, of blocks if
	// BlockScales; zero: there are no scales. Narrow: only B has scales, and no library makes the product.
	Operand     driver.Type
	OperandB    driver.Type
	RowScales   bool
	BlockScales bool
	Narrow      bool
	// Sum is the type to which the sum of all parts is rounded; zero is Type.
	Sum driver.Type
}

// rounds is the type to which the result is rounded.
func (p Product) rounds() driver.Type { return cmp.Or(p.Sum, p.Type) }

// terms is the number of terms of a sum, multiplied by the factor by which scales enlarge the squares of terms.
func (p Product) terms() float64 {
	switch {
	case p.Operand == 0:
		return float64(p.K)
	case p.Narrow:
		return float64(p.K) * math.Pow(largestScale, 2)
	}
	return float64(p.K) * math.Pow(largestScale, 4)
}

// digits is the number of digits with which a product is summed.
func (p Product) digits() int {
	if p.Operand == 0 || p.Narrow {
		return 24
	}
	return digitsOfEight
}

// unit is the unit of rounding to nearest.
func unit(t driver.Type) float64 { return math.Ldexp(1, -t.Digits()) }

// single is the rounding of sums in fp32.
const single = 0x1p-24

// Products of eight bits are added in steps: an instruction of a Hopper GPU takes 32 of them, of which each has 8
// digits, and the sum so far, and cuts all of these to 14 digits, counted from the first digit of the largest. It adds
// them and cuts the result likewise. That cuBLASLt takes 128 columns so, and adds what they make to a sum in fp32, is
// an assumption: docs/eight.md says what ran.
const (
	digitsOfEight = 14
	addedAtOnce   = 32
	addedNarrow   = 128
)

// eight is the error of such sums over k columns beyond that of sums in fp32, as a share of the sum of all magnitudes.
// Each cut loses less than 2^-13 of a number that is no larger than all magnitudes of its 128 columns. An instruction
// cuts its products, the sum so far and the result.
func eight(k int) float64 {
	k = min(k, addedNarrow)
	instructions := (k + addedAtOnce - 1) / addedAtOnce
	return math.Ldexp(float64(instructions*(min(k, addedAtOnce)+2)), 1-digitsOfEight)
}

// subnormal is the greatest error of a result near zero: half of the least number.
func subnormal(t driver.Type) float64 { return math.Ldexp(.5, leastBit(t)) }

// Of computes the product, plus a bias and a tensor of the same axes, where there are any.
//
// Numbers that are multiples of a power of two, on both sides, have one sum in any order under two conditions. All
// their magnitudes together have no more digits than fp32, or than 14 digits where both are of eight bits; and no more
// digits than the type, where partial sums travel in it. For other numbers there is a bound, with u the type's unit of
// rounding and S = sum |a*b| + |bias|:
//   - sums in fp32, in any order: s = (K + Parts + 1) * 2^-24 * S, and A's error times B, sum |b| * A's;
//   - sums of eight bits on both sides: eight(K) * S beside s, which is 4 * 34 * 2^-13 * S from 128 columns on;
//   - partial sums p of Parts ranks that travel rounded: each is rounded once, and the running sums at most Parts
//     times. Each of these is at most P = sum |p| plus the errors so far, so all rounding is within
//     2 * Parts * u * (P + s), (Parts + 1) * u to first order and the rest for the higher ones;
//   - a tensor that is added may be added to the rounded sum;
//   - each rounding may have an error of half of the least number near zero.
//
// A function of the product is applied to both ends of the bounds, and the result is rounded once. Terms are products
// whose partial results are added to the product's before these travel: that is one product of all, and each of its
// parts is rounded once more a term.
func (p Product) Of(a, b, bias, added Values, terms ...Term) Values {
	c, w := newValues(p.M*p.N), p.newWeight(b)
	inRows(p.M, p.K*p.N, func(first, end int) {
		r := p.newRow(w)
		var others []*row
		for _, t := range terms {
			others = append(others, t.newRow(t.newWeight(t.B)))
		}
		for i := first; i < end; i++ {
			if p.TransposedA {
				r.sum(a, i, p.M)
			} else {
				r.sum(a, i*p.K, 1)
			}
			for n, t := range terms {
				others[n].sum(t.A, i*t.K, 1)
				r.join(others[n])
			}
			for j := range p.N {
				c.set(i*p.N+j, r.finish(j, bias, added, i*p.N+j), r.rounded)
			}
		}
	})
	return c
}

// ofRanks are the products of the ranks' parts of the columns of a and b, one after another.
func (s Step) ofRanks(a, b Values) (made Values) {
	for r := range s.Ranks {
		x := s.Of(a.part(s.Ranks*s.K, r, s.Ranks), b.part(s.Ranks*s.K, r, s.Ranks), Values{}, Values{})
		made.Want, made.Lo, made.Hi = append(made.Want, x.Want...), append(made.Lo, x.Lo...), append(made.Hi, x.Hi...)
	}
	return made
}

// Term is a product, with its operands, whose partial results are added to the partial results of another product.
type Term struct {
	Product
	A, B Values
}

// row is one row of a product with the terms of its bounds, one entry a column.
type row struct {
	Product
	*weight
	rounded         format    // the type to which the result is rounded
	unit, subnormal float64   // of the element type
	summed          bool      // over ranks
	a, off          []float64 // the elements of A, and how far each may be off
	grid            int       // of the products
	points          bool      // all elements have one value
	partial         []float64 // the sum over one part
	total           []float64
	travel          []float64 // sum of the magnitudes of the partial sums
	most            float64   // bounds the sum of all magnitudes in each column
	sizes           []float64 // these sums; empty before they are first used
	inherited       []float64 // the part that the errors of A and B cause; NaN where the sum may be NaN
	others, terms   int       // the number of joined products, and the terms of their sums
}

func (p Product) newRow(w *weight) *row {
	r := &row{Product: p, weight: w, rounded: formatOf(p.rounds()), unit: unit(p.Type), subnormal: subnormal(p.Type)}
	for _, v := range []*[]float64{&r.partial, &r.total, &r.travel, &r.sizes, &r.inherited} {
		*v = make([]float64, p.N)
	}
	r.a, r.off = make([]float64, p.K), make([]float64, p.K)
	r.Parts, r.summed = max(p.Parts, 1), p.Parts > 0
	return r
}

// sum multiplies the K elements of a, step apart, with b.
func (r *row) sum(a Values, at, step int) {
	r.sizes, r.most, r.others, r.terms = r.sizes[:0], 0, 0, 0
	wild, spoiled := false, false
	for k := range r.a {
		x := a.At(at + k*step)
		wild, spoiled = wild || !x.IsFinite(), spoiled || x.IsNaN()
		r.a[k] = x.Want
		r.most += math.Abs(r.a[k]) * r.largest
	}
	gridA, pointsA := a.grid(at, step, r.K)
	r.points = r.weight.points && pointsA
	if r.grid = math.MaxInt; gridA != math.MaxInt && r.weight.grid != math.MaxInt {
		r.grid = gridA + r.weight.grid
	}
	clear(r.total)
	clear(r.travel)
	for part := range r.Parts {
		clear(r.partial)
		first, end := r.K*part/r.Parts, r.K*(part+1)/r.Parts
		multiply(r.partial, r.a[first:end], r.b[first*r.N:])
		for j, x := range r.partial {
			r.total[j] += x
			r.travel[j] += math.Abs(x)
		}
	}
	clear(r.inherited)
	greatest := r.a
	if !pointsA {
		greatest = magnitudes(r.a)
		for k := range r.off {
			r.off[k] = a.off(at + k*step)
			greatest[k] += r.off[k]
		}
		multiply(r.inherited, r.off, r.magnitudes())
	}
	if r.weight.offs != nil {
		multiply(r.inherited, magnitudes(greatest), r.weight.offs)
	}
	for j := 0; j < r.N && (wild || r.weight.wild != nil); j++ {
		if wild || r.weight.wild[j] {
			r.inherited[j] = math.NaN()
			if !spoiled {
				r.total[j] = 0
			}
		}
	}
}

// join adds the same row of another product, part by part.
func (r *row) join(t *row) {
	r.size(0) // makes all sizes
	t.size(0)
	for j := range r.total {
		r.total[j] += t.total[j]
		r.travel[j] += t.travel[j]
		r.sizes[j] += t.sizes[j]
		r.inherited[j] += t.inherited[j]
	}
	r.most, r.grid, r.points = r.most+t.most, min(r.grid, t.grid), r.points && t.points
	r.others, r.terms = r.others+1, r.terms+t.K
}

// size is the sum of all magnitudes of column j.
func (r *row) size(j int) float64 {
	if len(r.sizes) == 0 {
		r.sizes = r.sizes[:r.N]
		clear(r.sizes)
		multiply(r.sizes, magnitudes(r.a), r.magnitudes())
	}
	return r.sizes[j]
}

// fits reports whether the sum of all magnitudes of column j, and of more, has no more digits than the sum is made
// with.
func (r *row) fits(j int, more float64, grid int) bool {
	return fits(r.most+more, r.digits(), grid) || fits(r.size(j)+more, r.digits(), grid)
}

// finish is element j of the row before it is rounded; at is its place in the result.
func (r *row) finish(j int, bias, added Values, at int) formula.Value {
	sum, more, grid, known := formula.Point(r.total[j]), 0.0, r.grid, r.points
	if bias.Want != nil {
		x := bias.At(j)
		sum = formula.Within(sum.Want+x.Want, sum.Lo+x.Lo, sum.Hi+x.Hi)
		more, grid, known = x.Size(), min(grid, formula.LeastBit(x.Lo)), known && x.IsPoint()
	}
	travel, off := r.travel[j]+more, 0.0
	if known = known && r.fits(j, more, grid) && (!r.summed || holds(r.Type, travel, grid)); !known {
		off = r.bound(j, r.size(j)+more, travel)
	}
	sum = formula.Within(sum.Want, sum.Lo-off, sum.Hi+off)
	if added.Want != nil {
		return r.plus(j, sum, added.At(at), more, grid)
	}
	return formula.ByLibrary(r.Func, sum)
}

// fits reports whether multiples of a power of two, up to a size, fit into that many digits.
func fits(size float64, digits, grid int) bool {
	return size == 0 || size <= math.Ldexp(1, digits+grid)
}

// holds reports whether multiples of a power of two, up to a size, are numbers of a type.
func holds(t driver.Type, size float64, grid int) bool {
	return size == 0 || fits(size, t.Digits(), grid) && size <= math.Ldexp(1, bias(t)) && grid >= leastBit(t)
}

// leastBit is the exponent of the least number of a type.
func leastBit(t driver.Type) int { return 2 - bias(t) - t.Digits() }

// bound is the greatest error of a sum.
func (r *row) bound(j int, size, travel float64) float64 {
	n := float64(r.Parts + r.others)
	off := r.inherited[j] + (float64(r.K+r.terms)+n+1)*single*(size+r.inherited[j])
	if r.digits() < 24 {
		off += eight(max(r.K, r.terms)) * (size + r.inherited[j])
	}
	if r.summed {
		off += 2*n*r.unit*(travel+off) + 2*n*r.subnormal
	}
	if r.summed && travel+off >= math.Ldexp(1, bias(r.Type)+1) { // partial sums may be infinite, of both signs
		return math.NaN()
	}
	return off
}

// plus adds an element x of a tensor to the sum of column j; more is the size of the terms beside the column's
// products. A device may add x first, or last, or after the sum is rounded.
func (r *row) plus(j int, sum, x formula.Value, more float64, grid int) formula.Value {
	lo, hi := sum.Lo+x.Lo, sum.Hi+x.Hi
	exact := sum.IsPoint() && x.IsPoint() && r.fits(j, more+x.Size(), min(grid, formula.LeastBit(x.Lo))) &&
		float64(r.rounded.round(float32(sum.Lo))) == sum.Lo
	if !exact {
		u := unit(r.rounds()) + single
		off := u*(sum.Size()+2*x.Size()) + subnormal(r.rounds())
		lo, hi = lo-off, hi+off
	}
	return formula.Within(sum.Want+x.Want, lo, hi)
}
