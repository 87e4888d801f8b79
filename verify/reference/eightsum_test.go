package reference

import (
	"math"
	"testing"

	"ovgen/runtime/driver"
)

// cut leaves 14 digits of numbers, counted from the first digit of the largest.
func cut(list []float64) (sum float64) {
	most := 0.0
	for _, x := range list {
		most = max(most, math.Abs(x))
	}
	if most == 0 {
		return 0
	}
	step := math.Ldexp(1, math.Ilogb(most)-13)
	for _, x := range list {
		sum += math.Trunc(x/step) * step
	}
	return sum
}

// TestSumsOfEight adds products of eight bits as a Hopper GPU does. Most are so small beside the first one that all of
// their digits are cut off: the sum is in the interval, and close to its end.
func TestSumsOfEight(t *testing.T) {
	for _, k := range []int{1, 32, 33, 64, 128, 160, 1024} {
		a, b := make([]float64, k), make([]float64, k)
		for i := range a {
			a[i], b[i] = 1.875*0x1p-6, 0x1p-8
			if i%128 == 0 {
				a[i], b[i] = 1, 1
			}
		}
		total, plain := 0.0, 0.0
		for first := 0; first < k; first += 128 {
			sum := 0.0
			for at := first; at < min(first+128, k); at += 32 {
				list := []float64{sum}
				for i := at; i < min(at+32, k); i++ {
					list, plain = append(list, a[i]*b[i]), plain+a[i]*b[i]
				}
				sum = cut([]float64{cut(list)})
			}
			total += sum
		}
		p := Product{M: 1, K: k, N: 1, Type: driver.FP32, Operand: driver.E4M3}
		v := p.Of(points(a), points(b), Values{}, Values{}).At(0)
		if total < v.Lo || v.Hi < total || k&(k-1) == 0 && k > 1 && plain-total < .8*(plain-v.Lo) {
			t.Errorf("K %d: the sum is %g, %g off, in [%g, %g]", k, total, plain-total, v.Lo-plain, v.Hi-plain)
		}
	}
}
