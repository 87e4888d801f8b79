package formula_test

import (
	"math"
	"testing"

	"ovgen/verify/formula"
)

// devicesGELU are gelu in fp32, in several orders, by a tanh with that relative error.
func devicesGELU(x float32, off float64) (made []float32) {
	const root, cube = float32(0.7978845608), float32(0.044715)
	for _, u := range []float32{root * (x + cube*x*x*x), root * x * (1 + cube*x*x), x * (root + root*cube*(x*x)),
		float32(float64(root) * (float64(x) + float64(cube)*float64(x*x*x)))} {
		t := float32(math.Tanh(float64(u)) * (1 + off))
		t = min(max(t, -1), 1)
		made = append(made, x/2*(1+t), x/2+x/2*t, float32(float64(x/2)+float64(x/2)*float64(t)))
	}
	return made
}

// TestGELU: whatever the order of its steps, the library's gelu is in its interval where its tanh has the documented
// error, and often outside where it has twice that.
func TestGELU(t *testing.T) {
	caught, of := 0, 0
	for i := -2000; i <= 2000; i++ {
		x := float32(i) / 100
		in := formula.ByLibrary("gelu", formula.Point(float64(x)))
		for _, off := range []float64{-0x1p-11, -0x1p-13, 0, 0x1p-11} {
			for order, y := range devicesGELU(x, off) {
				if math.Abs(float64(x)) >= 16 {
					y = max(x, 0) // no tanh is 1 and off
				}
				if y := float64(y); y < in.Lo || in.Hi < y {
					t.Fatalf("gelu of %g in order %d with a tanh %g off is %g, not in [%g, %g]", x, order, off, y,
						in.Lo, in.Hi)
				}
			}
		}
		for _, y := range devicesGELU(x, -0x1p-10) {
			if y := float64(y); y < in.Lo || in.Hi < y {
				caught++
			}
			of++
		}
	}
	if caught < of*3/4 {
		t.Errorf("%d of %d values with twice the error are caught", caught, of)
	}
	for _, v := range known["gelu"] {
		if got := formula.ByLibrary("gelu", formula.Point(v[0])).Want; math.Abs(got-v[1]) > 3e-7*math.Abs(v[1]) {
			t.Errorf("gelu of %g is %.10g, want %.10g", v[0], got, v[1])
		}
	}
}

// TestIntervalsOfLibrary: an interval holds the intervals of all numbers in it, and numbers far from zero are exact.
func TestIntervalsOfLibrary(t *testing.T) {
	for _, word := range []string{"", "relu", "gelu"} {
		for i := -90; i <= 90; i++ {
			lo := float64(i) / 4
			for _, width := range []float64{0, .01, .5, 3, 40} {
				all := formula.ByLibrary(word, formula.Value{Want: lo, Lo: lo, Hi: lo + width})
				for k := range 21 {
					one := formula.ByLibrary(word, formula.Point(lo+width*float64(k)/20))
					if one.Lo < all.Lo || all.Hi < one.Hi {
						t.Fatalf("%s from %g to %g is %v, and %v within", word, lo, lo+width, all, one)
					}
				}
			}
			exact := word != "gelu" || math.Abs(lo) >= 16
			if one := formula.ByLibrary(word, formula.Point(lo)); exact && !one.IsPoint() {
				t.Errorf("%s of %g is %v", word, lo, one)
			}
		}
	}
	for _, x := range []float64{math.Inf(1), math.Inf(-1)} {
		if got := formula.ByLibrary("gelu", formula.Point(x)); got != formula.Point(max(x, 0)) {
			t.Errorf("gelu of %g is %v", x, got)
		}
	}
}

// TestGELUEnds: a device on which each rounding, and tanh, is off as far as it may be, all in one direction, is in the
// interval, and less than one more rounding of tanh's operand from its end.
func TestGELUEnds(t *testing.T) {
	const unit = 0x1p-24
	for _, x := range []float64{.001, .01, .03, .1} {
		u := math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x)
		in := formula.ByLibrary("gelu", formula.Point(x))
		for _, sign := range []float64{1, -1} {
			far := x/2*(1+math.Tanh(u*(1+sign*7*unit))*(1+sign*0x1p-11)) + sign*4*unit*x
			end := in.Hi
			if sign < 0 {
				end = in.Lo
			}
			if off := sign * (end - far); off < -1e-3*unit*u*x/2 || off > 1.1*unit*u*x/2 {
				t.Errorf("gelu of %g ends at %g, and a device may have %g: %g roundings between", x, end, far,
					off/(unit*u*x/2))
			}
		}
	}
}

// TestGELUBetween: gelu is between 0 and its operand, also where the other end of its interval is far off.
func TestGELUBetween(t *testing.T) {
	for _, x := range []formula.Value{{Want: 1, Lo: 1e-3, Hi: 10}, {Want: 1, Lo: -1e-3, Hi: 10},
		{Want: -1, Lo: -10, Hi: -1e-3}, {Want: -1, Lo: -10, Hi: 1e-3}, {Want: 10, Lo: 10, Hi: 10}} {
		if v := formula.ByLibrary("gelu", x); v.Lo < min(x.Lo, 0) || v.Hi > max(x.Hi, 0) {
			t.Errorf("gelu of %v is %v", x, v)
		}
	}
}
