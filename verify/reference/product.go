package reference

import "ovgen/runtime/driver"

// Product is C[M,N] = A[M,K] * B (+ bias over the columns), row-major, given by
// its inputs.
type Product struct {
	M, K, N    int
	Type       driver.Type
	Transposed bool // B is [N,K], else [K,N]
	A, B       Input
	Bias       *Input
}

// Integers is the product of integer inputs as the type holds it, and the
// largest magnitude of any sum on the way, bias included. Up to Exact(Type) every
// sum is exact, in whatever order it was made.
func (p Product) Integers() (c []float32, largest int) {
	a, b := integers(p.A, p.M*p.K), integers(p.B, p.K*p.N)
	c = make([]float32, 0, p.M*p.N)
	sums := make([]int32, p.N)
	for i := range p.M {
		clear(sums)
		for k := range p.K {
			x := int32(a[i*p.K+k])
			if x == 0 {
				continue
			}
			for j := range sums {
				sums[j] += x * int32(b[p.at(k, j)])
				largest = max(largest, int(sums[j]), -int(sums[j]))
			}
		}
		for j, s := range sums {
			if p.Bias != nil {
				s += int32(p.Bias.At(int64(j)))
			}
			largest = max(largest, int(s), -int(s))
			c = append(c, Round(p.Type, float32(s)))
		}
	}
	return c, largest
}

// at is the index of B's element for (k, column).
func (p Product) at(k, column int) int {
	if p.Transposed {
		return column*p.K + k
	}
	return k*p.N + column
}

func integers(in Input, n int) []int8 {
	v := make([]int8, n)
	for i := range v {
		v[i] = int8(in.At(int64(i)))
	}
	return v
}

// Float64 is the product in float64 of inputs rounded to the type, and for each
// element the bound on the error of a product that sums in fp32 and rounds once:
// |got - want| <= u*|want| + (K+1)*2^-24*sum|a*b| (1 + u), with u half a unit in
// the last place of the type; an fp16 result may also lie 2^-25 off, near zero.
func (p Product) Float64() (want, bound []float64) {
	a, b := p.reals(p.A, p.M*p.K), p.reals(p.B, p.K*p.N)
	u := map[driver.Type]float64{driver.BF16: 0x1p-8, driver.FP16: 0x1p-11, driver.FP32: 0x1p-24}[p.Type]
	for i := range p.M {
		for j := range p.N {
			var sum, size float64
			for k := range p.K {
				x := a[i*p.K+k] * b[p.at(k, j)]
				sum, size = sum+x, size+max(x, -x)
			}
			if p.Bias != nil {
				x := float64(Round(p.Type, p.Bias.At(int64(j))))
				sum, size = sum+x, size+max(x, -x)
			}
			want = append(want, sum)
			bound = append(bound, u*max(sum, -sum)+float64(p.K+1)*0x1p-24*size*(1+u)+0x1p-25)
		}
	}
	return want, bound
}

func (p Product) reals(in Input, n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(Round(p.Type, in.At(int64(i))))
	}
	return v
}
