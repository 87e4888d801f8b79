package reference

import (
	"math"

	"ovgen/runtime/driver"
)

// Values are a matrix in float64, row-major, with a bound for each element on how
// far what a device makes may be from it (nil: it is exact).
type Values struct {
	Want, Bound []float64
	// Largest magnitude of any sum on the way, and of the parts of it that travel.
	Largest float64
}

// Product is C[M,N] = A[M,K] * B, plus a bias over the columns if one is given.
type Product struct {
	M, K, N     int
	Type        driver.Type
	Transposed  bool // B is [N,K], else [K,N]
	TransposedA bool // A is [K,M], else [M,K]
	Gelu        bool // of that, by the tanh approximation
	// Parts of K whose sums are made on ranks of their own: these partial sums and
	// the sums of some of them are rounded to the type before the last is added.
	Parts int
}

// Units of rounding to nearest, and what an fp16 result may lie off near zero.
var unit = map[driver.Type]float64{driver.BF16: 0x1p-8, driver.FP16: 0x1p-11, driver.FP32: 0x1p-24}

const (
	single    = 0x1p-24
	subnormal = 0x1p-25
)

// Of computes the product. Integers come out exact, whatever the order of sums,
// while Largest is at most Exact of the type.
//
// The bound for reals, with u the type's unit of rounding, S = sum |a*b| + |bias|:
//   - sums in fp32, in any order: s = (K + Parts + 1) * 2^-24 * S, and what A's
//     own error brings in, sum |b| * A's bound;
//   - partial sums p of Parts ranks that travel rounded: each is rounded once, and
//     the running sums at most Parts times. Each of those is at most P = sum |p|
//     plus the errors so far, so all rounding is within 2 * Parts * u * (P + s),
//     (Parts + 1) * u to first order and the rest for the higher ones;
//   - GELU widens an error by at most 1.13, and a GPU's own tanh is within 2^-11;
//   - the result is rounded once: u * (|want| + all that), and an fp16 may lie
//     2^-25 off near zero at each rounding.
func (p Product) Of(a, b, bias Values) Values {
	c := Values{Want: make([]float64, 0, p.M*p.N), Bound: make([]float64, 0, p.M*p.N), Largest: a.Largest}
	aRow, aStep, bColumn, bStep := p.K, 1, 1, p.N
	if p.TransposedA {
		aRow, aStep = 1, p.M
	}
	if p.Transposed {
		bColumn, bStep = p.K, 1
	}
	for i := range p.M {
		for j := range p.N {
			d := dot{parts: max(p.Parts, 1), k: p.K}
			d.sum(a, b, i*aRow, aStep, j*bColumn, bStep)
			if bias.Want != nil {
				d.total += bias.Want[j]
				d.size += math.Abs(bias.Want[j])
				d.largest = max(d.largest, math.Abs(d.total), d.travel+math.Abs(bias.Want[j]))
			}
			want, bound := p.finish(d)
			c.Want, c.Bound, c.Largest = append(c.Want, want), append(c.Bound, bound), max(c.Largest, d.largest)
		}
	}
	return c
}

// finish is an element and its bound.
func (p Product) finish(d dot) (want, bound float64) {
	u, n := unit[p.Type], float64(d.parts)
	bound = d.inherited + float64(d.k+d.parts+1)*single*(d.size+d.inherited)
	if d.parts > 1 {
		bound += 2*n*u*(d.travel+bound) + 2*n*subnormal
	}
	want = d.total
	if p.Gelu {
		bound = 1.13*bound + 0x1p-11*math.Abs(want)
		want = gelu(want)
	}
	return want, bound + u*(math.Abs(want)+bound) + subnormal
}

// dot is a sum of products and what its bound needs.
type dot struct {
	parts, k  int
	total     float64
	size      float64 // sum of magnitudes
	travel    float64 // sum of the magnitudes of the partial sums
	inherited float64 // what the error of a brings in
	largest   float64
}

func (d *dot) sum(a, b Values, ia, stepA, ib, stepB int) {
	for part := range d.parts {
		var partial float64
		for range d.k*(part+1)/d.parts - d.k*part/d.parts {
			x := a.Want[ia] * b.Want[ib]
			partial += x
			d.size += max(x, -x)
			if a.Bound != nil {
				d.inherited += a.Bound[ia] * math.Abs(b.Want[ib])
			}
			d.largest = max(d.largest, partial, -partial)
			ia, ib = ia+stepA, ib+stepB
		}
		d.total += partial
		d.travel += math.Abs(partial)
	}
	d.largest = max(d.largest, d.travel)
}

func gelu(x float64) float64 {
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}
