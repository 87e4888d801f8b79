package numbers

import (
	"math"
	"testing"
)

// An epsilon is a number that norms add; none is 1e-5, in fp32.
func TestEpsilon(t *testing.T) {
	for e, want := range map[float32]string{0: ", epsilon 1e-05", 1e-5: ", epsilon 1e-05", 1e-6: ", epsilon 1e-06",
		1: ", epsilon 1"} {
		if n := Epsilon(e); n.Check() != nil || n.String() != want {
			t.Errorf("%g: %s, %v, want %s", e, n, n.Check(), want)
		}
	}
	if got, want := Epsilon(0).Value(), float64(float32(1e-5)); got != want {
		t.Errorf("no epsilon is %g, want %g", got, want)
	}
	if got, want := Epsilon(1e-6).Value(), float64(float32(1e-6)); got != want {
		t.Errorf("1e-6 is %g, want %g", got, want)
	}
	for _, e := range []float64{-1e-5, 2, 1e-40, math.NaN(), math.Inf(1)} {
		if Epsilon(float32(e)).Check() == nil {
			t.Errorf("an epsilon of %g is taken", e)
		}
	}
}

// A number of another name is any that is finite, and 0 is 0.
func TestNamed(t *testing.T) {
	for _, x := range []float32{0, -3, .5, math.MaxFloat32} {
		if n := Named("Alpha", x); n.Check() != nil || n.Value() != float64(x) {
			t.Errorf("%g is %g, %v", x, n.Value(), n.Check())
		}
	}
	if got, want := Named("Alpha", .5).String(), ", Alpha 0.5"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if Named("Alpha", float32(x)).Check() == nil {
			t.Errorf("%g is taken", x)
		}
	}
}
