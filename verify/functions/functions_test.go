package functions_test

import (
	"math"
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/verify/functions"
)

// known are values of each function to ten digits: of 50 digits by mpmath, where a formula is not plain.
var known = map[string][][2]float64{
	"relu": {{-3, 0}, {-0.5, 0}, {0, 0}, {0.5, 0.5}, {3, 3}},
	"gelu": {{-3, -0.003637392082}, {-1, -0.1588080094}, {-0.5, -0.1542859902}, {0, 0}, {0.5, 0.3457140098},
		{1, 0.8411919906}, {3, 2.996362608}},
}

// TestKnown holds each function against known values, and its unit against what fp32 makes of multiples.
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
		for i := -1000; i <= 1000; i++ {
			x := float64(i * f.Unit)
			if got := f.Of(x); got != max(x, 0) {
				t.Errorf("%s(%g) is %g", name, x, got)
			}
		}
	}
}

// TestNamed compares the rows with what schedules say of functions.
func TestNamed(t *testing.T) {
	var want []string
	for _, do := range schedule.Functions() {
		if f := (schedule.Func{Do: do}); f.ByProduct() && f.Elementwise() {
			want = append(want, string(do))
		}
	}
	if got := functions.OfProducts(); !slices.Equal(got, want) || len(want) != len(known) {
		t.Errorf("products apply %q, in schedules %q, and values of %d functions are known", got, want, len(known))
	}
}
