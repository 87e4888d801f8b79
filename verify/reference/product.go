package reference

import (
	"cmp"
	"math"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/functions"
)

// Values are a matrix in float64, row-major, with a bound for each element on the error of a device's result (nil: the
// result is exact).
type Values struct {
	Want, Bound []float64
	// Largest magnitude that a sum of some of an element's partial sums can have.
	Largest float64
}

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
	Sum  driver.Type
	Real bool // with bounds
}

// rounds is the type that the result is rounded to.
func (p Product) rounds() driver.Type { return cmp.Or(p.Sum, p.Type) }

// unit is the unit of rounding to nearest.
func unit(t driver.Type) float64 { return math.Ldexp(1, -t.Digits()) }

// single is the rounding of sums in fp32.
const single = 0x1p-24

// subnormal is the error of a result near zero, at most: half of the least number.
func subnormal(t driver.Type) float64 { return math.Ldexp(1, 1-bias(t)-t.Digits()) }

// Of computes the product. Integers come out exact in any order of sums, while Largest is
// at most Exact of the type.
//
// The bound, where Real asks for it, with u the type's unit of rounding and
// S = sum |a*b| + |bias|:
//   - sums in fp32, in any order: s = (K + Parts + 1) * 2^-24 * S, and A's
//     error times B, sum |b| * A's bound;
//   - partial sums p of Parts ranks that travel rounded: each is rounded once, and
//     the running sums at most Parts times. Each of these is at most P = sum |p|
//     plus the errors so far, so all rounding is within 2 * Parts * u * (P + s),
//     (Parts + 1) * u to first order and the rest for the higher ones;
//   - a function widens an error by its slope, and the GPU's version of the function adds one (package functions);
//   - the result is rounded once: u * (|want| + all that), and may lie half of
//     the least number off near zero at each rounding.
func (p Product) Of(a, b, bias Values) Values {
	c := Values{Want: make([]float64, 0, p.M*p.N), Largest: a.Largest}
	if p.Transposed {
		b.Want = transpose(b.Want, p.N, p.K)
	}
	step := 1
	if p.TransposedA {
		step = p.M
	}
	r := p.newRow()
	for i := range p.M {
		first := i * p.K
		if p.TransposedA {
			first = i
		}
		r.sum(a, first, step, b.Want)
		for j := range p.N {
			want, bound := r.finish(j, bias)
			c.Want, c.Largest = append(c.Want, want), max(c.Largest, r.travel[j])
			if p.Real {
				c.Bound = append(c.Bound, bound)
			}
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

// plus adds a tensor to a result before the one rounding, which it makes where there are no bounds.
func (v Values) plus(added Values, t driver.Type) Values {
	sum := Values{Want: make([]float64, len(v.Want))}
	if v.Bound != nil {
		sum.Bound = make([]float64, len(v.Want))
	}
	most := 0.0
	for i, x := range added.Want {
		sum.Want[i], most = v.Want[i]+x, max(most, math.Abs(x))
		if v.Bound == nil {
			sum.Want[i] = float64(formatOf(t).round(t, float32(sum.Want[i])))
			continue
		}
		sum.Bound[i] = v.Bound[i] + (unit(t)+single)*(math.Abs(v.Want[i])+2*math.Abs(x)) +
			added.Off(i)*(1+2*unit(t))
	}
	sum.Largest = v.Largest + most
	return sum
}

// row is one row of a product and the terms of its bounds, an entry a column.
type row struct {
	Product
	unit, subnormal float64 // of the element type
	function        functions.Function
	summed          bool      // over ranks
	partial         []float64 // the sum over one part
	total           []float64
	travel          []float64 // sum of the magnitudes of the partial sums, and of the bias
	size            []float64 // sum of all magnitudes
	inherited       []float64 // the part that the error of A causes
}

func (p Product) newRow() *row {
	r := &row{Product: p, unit: unit(p.Type), subnormal: subnormal(p.Type), function: elementwise(p.Func)}
	for _, v := range []*[]float64{&r.partial, &r.total, &r.travel, &r.size, &r.inherited} {
		*v = make([]float64, p.N)
	}
	r.Parts, r.summed = max(p.Parts, 1), p.Parts > 0
	return r
}

// sum multiplies the K elements of a, step apart, with b as [K,N].
func (r *row) sum(a Values, at, step int, b []float64) {
	for _, v := range [][]float64{r.total, r.travel, r.size, r.inherited} {
		clear(v)
	}
	for part := range r.Parts {
		clear(r.partial)
		for k := r.K * part / r.Parts; k < r.K*(part+1)/r.Parts; k++ {
			x, line := a.Want[at+k*step], b[k*r.N:(k+1)*r.N]
			if x != 0 {
				for j, y := range line {
					r.partial[j] += x * y
				}
			}
			if !r.Real {
				continue
			}
			err := 0.0
			if a.Bound != nil {
				err = a.Bound[at+k*step]
			}
			for j, y := range line {
				r.size[j] += math.Abs(x * y)
				r.inherited[j] += err * math.Abs(y)
			}
		}
		for j, x := range r.partial {
			r.total[j] += x
			r.travel[j] += math.Abs(x)
		}
	}
}

// finish is an element and its bound.
func (r *row) finish(j int, bias Values) (want, bound float64) {
	u, n := r.unit, float64(r.Parts)
	want = r.total[j]
	if bias.Want != nil {
		want += bias.Want[j]
		r.size[j] += math.Abs(bias.Want[j])
		r.travel[j] += math.Abs(bias.Want[j])
	}
	bound = r.inherited[j] + float64(r.K+r.Parts+1)*single*(r.size[j]+r.inherited[j])
	if r.summed {
		bound += 2*n*u*(r.travel[j]+bound) + 2*n*r.subnormal
	}
	if f := r.function; r.Func != "" {
		bound = f.Slope*bound + f.Product(want)
		want = f.Of(want)
	}
	return want, bound + unit(r.rounds())*(math.Abs(want)+bound) + subnormal(r.rounds())
}
