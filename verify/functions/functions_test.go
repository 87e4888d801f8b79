package functions_test

import (
	"math"
	"testing"

	"ovgen/runtime/kernels"
	"ovgen/schedule"
	"ovgen/verify/functions"
)

// known are values of each function to ten digits: of 50 digits by mpmath, where a formula is not plain.
var known = map[string][][2]float64{
	"relu": {{-3, 0}, {-0.5, 0}, {0, 0}, {0.5, 0.5}, {3, 3}},
	"gelu": {{-3, -0.003637392082}, {-1, -0.1588080094}, {-0.5, -0.1542859902}, {0, 0}, {0.5, 0.3457140098},
		{1, 0.8411919906}, {3, 2.996362608}},
	"silu": {{-3, -0.1422776195}, {-1, -0.2689414214}, {-0.5, -0.1887703344}, {0, 0}, {0.5, 0.3112296656},
		{1, 0.7310585786}, {3, 2.857722380}},
	"geglu":  {{-1, -0.1588080094}, {0, 0}, {3, 2.996362608}},
	"swiglu": {{-1, -0.2689414214}, {0, 0}, {3, 2.857722380}},
}

// TestKnown holds each function against known values, its slope against its differences, and its unit against what
// fp32 makes of multiples.
func TestKnown(t *testing.T) {
	for name, values := range known {
		f, ok := functions.Find(name)
		if !ok {
			t.Errorf("%s: no function", name)
			continue
		}
		for _, v := range values {
			if got := f.Of(v[0]); math.Abs(got-v[1]) > 1e-9*math.Abs(v[1]) {
				t.Errorf("%s(%g) is %.10g, want %.10g", name, v[0], got, v[1])
			}
		}
		steepest := 0.0
		for x := -10.0; x < 10; x += 1. / 64 {
			steepest = max(steepest, math.Abs(f.Of(x+1./64)-f.Of(x))*64)
		}
		if steepest > f.Slope || steepest < 0.99*f.Slope {
			t.Errorf("%s: the greatest slope is %g, and %g in its row", name, steepest, f.Slope)
		}
		for i := -1000; i <= 1000; i++ {
			x := float64(i * f.Unit)
			got := f.Of(x)
			if f.Product == nil { // its result is rounded before others are added to it
				got = float64(float32(got))
			}
			if got != max(x, 0) {
				t.Errorf("%s(%g) is %g", name, x, got)
			}
		}
	}
}

// TestNamed compares the rows with what schedules say of their functions, and with the kernels that apply them.
func TestNamed(t *testing.T) {
	rows := 0
	for _, do := range schedule.Functions() {
		f := schedule.Func{Do: do}
		if kernel := kernels.Kind(do).Work() == kernels.Applies; kernel != f.ByKernel() {
			t.Errorf("%s has a kernel: %v, and in schedules %v", do, kernel, f.ByKernel())
		}
		x, ok := functions.Find(string(do))
		if f.Elementwise() && !ok {
			t.Errorf("%s has no row", do)
		}
		if !ok {
			continue
		}
		rows++
		if product := x.Product != nil; product != f.ByProduct() {
			t.Errorf("products apply %s: %v, and in schedules %v", do, product, f.ByProduct())
		}
		if kernel := x.Kernel != nil; kernel != f.ByKernel() {
			t.Errorf("%s has bounds of a kernel: %v, and in schedules one: %v", do, kernel, f.ByKernel())
		}
		if len(known[string(do)]) < 3 {
			t.Errorf("too few values of %s are known", do)
		}
	}
	if rows != len(known) {
		t.Errorf("%d rows, and values of %d functions", rows, len(known))
	}
}
