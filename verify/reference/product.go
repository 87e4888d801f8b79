package reference

import (
	"cmp"
	"math"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/formula"
)

// Product is C[M,N] = A[M,K] * B, plus a bias over the columns if one is given.
type Product struct {
	M, K, N     int
	Type        driver.Type
	Transposed  bool              // B is [N,K], else [K,N]
	TransposedA bool              // A is [K,M], else [M,K]
	Func        schedule.FuncKind // of each element of that; empty is none
	// Parts of K whose sums are made on different ranks: these partial sums and
	// the sums of some of them are rounded to the type before the last is added, also
	// where there is one rank. 0 is a product that is rounded once.
	Parts int
	// Sum is the type that the sum of all parts is rounded to; zero is Type.
	Sum driver.Type
}

// rounds is the type that the result is rounded to.
func (p Product) rounds() driver.Type { return cmp.Or(p.Sum, p.Type) }

// unit is the unit of rounding to nearest.
func unit(t driver.Type) float64 { return math.Ldexp(1, -t.Digits()) }

// single is the rounding of sums in fp32.
const single = 0x1p-24

// subnormal is the error of a result near zero, at most: half of the least number.
func subnormal(t driver.Type) float64 { return math.Ldexp(1, 1-bias(t)-t.Digits()) }

// Of computes the product, and what is added to it: a bias and a tensor of the same axes, where there are any.
//
// Numbers that are multiples of a power of two, on both sides, have one sum in any order while all their magnitudes
// have no more digits than fp32, and no more than the type where partial sums travel in it. Of others there is a
// bound, with u the type's unit of rounding and S = sum |a*b| + |bias|:
//   - sums in fp32, in any order: s = (K + Parts + 1) * 2^-24 * S, and A's error times B, sum |b| * A's;
//   - partial sums p of Parts ranks that travel rounded: each is rounded once, and the running sums at most Parts
//     times. Each of these is at most P = sum |p| plus the errors so far, so all rounding is within
//     2 * Parts * u * (P + s), (Parts + 1) * u to first order and the rest for the higher ones;
//   - a tensor that is added may find the sum rounded;
//   - each rounding may be half of the least number off near zero.
//
// A function of the product's takes both ends, and the result is rounded once.
func (p Product) Of(a, b, bias, added Values) Values {
	c := newValues(p.M * p.N)
	r := p.newRow(b)
	step := 1
	if p.TransposedA {
		step = p.M
	}
	for i := range p.M {
		first := i * p.K
		if p.TransposedA {
			first = i
		}
		r.sum(a, first, step)
		for j := range p.N {
			c.set(i*p.N+j, r.finish(j, bias, added, i*p.N+j), p.rounds())
		}
	}
	return c
}

func transpose(v []float64, rows, columns int) []float64 {
	t := make([]float64, len(v))
	for i := range rows {
		for j := range columns {
			t[j*rows+i] = v[i*columns+j]
		}
	}
	return t
}

// row is one row of a product and the terms of its bounds, an entry a column.
type row struct {
	Product
	b               []float64 // [K,N]
	unit, subnormal float64   // of the element type
	summed          bool      // over ranks
	gridB           int       // of b
	pointsB         bool
	grid            int // of the products
	points          bool
	partial         []float64 // the sum over one part
	total           []float64
	travel          []float64 // sum of the magnitudes of the partial sums, and of the bias
	size            []float64 // sum of all magnitudes
	inherited       []float64 // the part that the error of A causes
}

func (p Product) newRow(b Values) *row {
	r := &row{Product: p, b: b.Want, unit: unit(p.Type), subnormal: subnormal(p.Type)}
	r.gridB, r.pointsB = b.grid(0, 1, len(b.Want))
	if p.Transposed {
		r.b = transpose(b.Want, p.N, p.K)
	}
	for _, v := range []*[]float64{&r.partial, &r.total, &r.travel, &r.size, &r.inherited} {
		*v = make([]float64, p.N)
	}
	r.Parts, r.summed = max(p.Parts, 1), p.Parts > 0
	return r
}

// sum multiplies the K elements of a, step apart, with b.
func (r *row) sum(a Values, at, step int) {
	for _, v := range [][]float64{r.total, r.travel, r.size, r.inherited} {
		clear(v)
	}
	gridA, pointsA := a.grid(at, step, r.K)
	r.points = r.pointsB && pointsA
	if r.grid = math.MaxInt; gridA != math.MaxInt && r.gridB != math.MaxInt {
		r.grid = gridA + r.gridB
	}
	for part := range r.Parts {
		clear(r.partial)
		for k := r.K * part / r.Parts; k < r.K*(part+1)/r.Parts; k++ {
			x, off, line := a.Want[at+k*step], 0.0, r.b[k*r.N:(k+1)*r.N]
			if !pointsA {
				off = a.off(at + k*step)
			}
			if x == 0 && off == 0 {
				continue
			}
			for j, y := range line {
				r.partial[j] += x * y
				r.size[j] += math.Abs(x * y)
			}
			if off == 0 {
				continue
			}
			for j, y := range line {
				r.inherited[j] += off * math.Abs(y)
			}
		}
		for j, x := range r.partial {
			r.total[j] += x
			r.travel[j] += math.Abs(x)
		}
	}
}

// finish is element j of the row before it is rounded; at is where it lies in the result.
func (r *row) finish(j int, bias, added Values, at int) formula.Value {
	want, size, travel, grid, known := r.total[j], r.size[j], r.travel[j], r.grid, r.points
	if bias.Want != nil {
		x := bias.Want[j]
		want, size, travel = want+x, size+math.Abs(x), travel+math.Abs(x)
		grid, known = min(grid, formula.LeastBit(x)), known && bias.Lo[j] == bias.Hi[j]
	}
	off := 0.0
	if known = known && fits(size, 24, grid) && (!r.summed || fits(travel, r.Type.Digits(), grid)); !known {
		off = r.off(j, size, travel)
	}
	if added.Want != nil {
		return r.plus(formula.Value{Want: want, Lo: want - off, Hi: want + off}, added.At(at), size, grid)
	}
	return byLibrary(r.Func, formula.Value{Want: want, Lo: want - off, Hi: want + off})
}

// fits says that multiples of a power of two, of at most a size, have so many digits.
func fits(size float64, digits, grid int) bool {
	return size == 0 || size <= math.Ldexp(1, digits+grid)
}

// off bounds the error of a sum.
func (r *row) off(j int, size, travel float64) float64 {
	n := float64(r.Parts)
	off := r.inherited[j] + (float64(r.K)+n+1)*single*(size+r.inherited[j])
	if r.summed {
		off += 2*n*r.unit*(travel+off) + 2*n*r.subnormal
	}
	return off
}

// plus adds a tensor's element x to a sum of numbers of a size: it may come first, or last, or after the sum is
// rounded.
func (r *row) plus(sum, x formula.Value, size float64, grid int) formula.Value {
	lo, hi := sum.Lo+x.Lo, sum.Hi+x.Hi
	exact := sum.IsPoint() && x.IsPoint() && fits(size+x.Size(), 24, min(grid, formula.LeastBit(x.Lo))) &&
		float64(formatOf(r.rounds()).round(r.rounds(), float32(sum.Lo))) == sum.Lo
	if !exact {
		u := unit(r.rounds()) + single
		off := u*(sum.Size()+2*x.Size()) + subnormal(r.rounds())
		lo, hi = lo-off, hi+off
	}
	return formula.Value{Want: sum.Want + x.Want, Lo: lo, Hi: hi}
}
