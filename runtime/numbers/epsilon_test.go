package numbers

import (
	"math"
	"testing"
)

// An epsilon is a number that norms add; none is 1e-5, in fp32.
func TestEpsilon(t *testing.T) {
	for e, want := range map[Epsilon]string{0: ", epsilon 1e-05", 1e-5: ", epsilon 1e-05", 1e-6: ", epsilon 1e-06",
		1: ", epsilon 1"} {
		if err := e.Check(); err != nil || e.String() != want {
			t.Errorf("%g: %s, %v, want %s", e, e, err, want)
		}
	}
	if got, want := Epsilon(0).Value(), float64(float32(1e-5)); got != want {
		t.Errorf("no epsilon is %g, want %g", got, want)
	}
	if got, want := Epsilon(1e-6).Value(), float64(float32(1e-6)); got != want {
		t.Errorf("1e-6 is %g, want %g", got, want)
	}
	for _, e := range []float64{-1e-5, 2, 1e-40, math.NaN(), math.Inf(1)} {
		if Epsilon(e).Check() == nil {
			t.Errorf("an epsilon of %g is taken", e)
		}
	}
}
