package formula_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	s "ovgen/schedule"
	"ovgen/verify/formula"
)

var inf, nan = math.Inf(1), math.NaN()

// corner values and, of each, numbers that a device may have: the ends, and what lies between them or is NaN.
var cornerValues = []struct {
	formula.Value
	of []float64
}{
	{formula.Point(0), []float64{0}}, {formula.Point(1), []float64{1}}, {formula.Point(-1), []float64{-1}},
	{formula.Point(0x1.8p127), []float64{0x1.8p127}}, {formula.Point(-0x1.8p127), []float64{-0x1.8p127}},
	{formula.Point(inf), []float64{inf}}, {formula.Point(-inf), []float64{-inf}}, {formula.Point(nan), []float64{nan}},
	{formula.Within(.5, -1, 1), []float64{-1, -.5, 0, 1}}, {formula.Within(-.5, -1, 1), []float64{-1, -.5, 0, 1}},
	{formula.Within(0, 0, 1), []float64{0, .5, 1}}, {formula.Within(0, -1, 0), []float64{-1, -.5, 0}},
	{formula.Within(1, 1, 2), []float64{1, 1.5, 2}}, {formula.Within(-2, -2, -1), []float64{-2, -1.5, -1}},
	{formula.Within(1, 1, inf), []float64{1, 0x1p127, inf}},
	{formula.Within(-1, -inf, -1), []float64{-inf, -0x1p127, -1}},
	{formula.Within(-1, -1, inf), []float64{-1, 0, 1, inf}},
	{formula.Within(1, -inf, inf), []float64{-inf, -1, 0, 1, inf}},
	{formula.Unsure(), []float64{-inf, -1, 0, 1, inf, nan}},
}

// judged compares a value with what devices make of numbers: it holds each, may be NaN where one is NaN, and is NaN on
// every device, where it says so, since all are. Of points it always says so.
func judged(t *testing.T, what string, v formula.Value, made []float64, points bool) {
	t.Helper()
	nans := 0
	for _, x := range made {
		if !v.Holds(x) {
			t.Errorf("%s is %g on a device, and not in %v", what, x, v)
		}
		if x != x {
			nans++
		}
	}
	if v.MayBeNaN() != (nans > 0) || v.Holds(nan) != (nans > 0) {
		t.Errorf("%s is %v, and NaN on %d of %d devices", what, v, nans, len(made))
	}
	all := nans == len(made)
	if v.IsNaN() && (!all || v.Holds(1)) || points && all && !v.IsNaN() {
		t.Errorf("%s is %v, and NaN on %d of %d devices", what, v, nans, len(made))
	}
}

// finiteOf is x, or 0 where that is infinite or NaN.
func finiteOf(x float64) float64 {
	if math.IsInf(x, 0) || x != x {
		return 0
	}
	return x
}

// onDevices are operations of numbers in fp32.
var onDevices = map[s.Do]func(a, b float32) float32{
	s.DoPlus:     func(a, b float32) float32 { return a + b },
	s.DoMinus:    func(a, b float32) float32 { return a - b },
	s.DoTimes:    func(a, b float32) float32 { return a * b },
	s.DoOver:     func(a, b float32) float32 { return a / b },
	s.DoGreatest: greatest,
	s.DoLeast:    func(a, b float32) float32 { return -greatest(-a, -b) },
	s.DoNeg:      func(a, _ float32) float32 { return -a },
	s.DoAbs:      single(math.Abs), s.DoExp: single(math.Exp), s.DoTanh: single(math.Tanh), s.DoErf: single(math.Erf),
	s.DoLog: single(math.Log), s.DoRoot: single(math.Sqrt), s.DoFinite: single(finiteOf),
	s.DoRecipRoot: single(func(x float64) float64 { return 1 / math.Sqrt(x) }),
	s.DoPower:     single(powerOfSize),
	s.DoLoud: single(func(x float64) float64 {
		if x != x {
			return x
		}
		return powerOfSize(x)
	}),
	s.DoUp: single(func(x float64) float64 { return min(max(math.Abs(x), 0x1p-9), 448) }), // of numbers of e4m3
}

// single is a function of one number in fp32.
func single(f func(float64) float64) func(a, _ float32) float32 {
	return func(a, _ float32) float32 { return float32(f(float64(a))) }
}

func powerOfSize(x float64) float64 {
	if x = math.Abs(x); !(x < 0x1p126) {
		return 0x1p126
	}
	return math.Exp2(max(math.Ceil(math.Log2(x)), -126))
}

// TestNaN: an operation may be NaN where it is that of some numbers of its operands, and nowhere else.
func TestNaN(t *testing.T) {
	for do, device := range onDevices {
		for _, a := range cornerValues {
			for _, b := range cornerValues {
				r := &formula.Row{X: []formula.Value{a.Value},
					Operand: func(string, int) formula.Value { return b.Value }}
				e, made := s.Expr{Do: do, Of: []s.Expr{s.X}}, []float64(nil)
				if slices.Contains([]s.Do{s.DoPlus, s.DoMinus, s.DoTimes, s.DoOver, s.DoGreatest, s.DoLeast}, do) {
					e.Of = append(e.Of, s.Of("B"))
				}
				for _, x := range a.of {
					for _, y := range b.of {
						made = append(made, float64(device(float32(x), float32(y))))
					}
				}
				judged(t, fmt.Sprint(do, " of ", a.Value, " and ", b.Value), r.Of(s.Nodes(e))[0], made,
					a.IsPoint() && b.IsPoint())
			}
		}
	}
	for _, word := range []string{"relu", "gelu"} {
		if v := formula.ByLibrary(word, formula.Point(nan)); !v.Holds(nan) || !v.Holds(0) {
			t.Errorf("the library's %s of NaN is %v", word, v)
		}
	}
}

// TestNaNOfGroups: a statistic may be NaN where it is that of some numbers in some order, and nowhere else.
func TestNaNOfGroups(t *testing.T) {
	orders := [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	for _, of := range []func(s.Expr) s.Expr{s.SumOver, s.Mean, s.Most} {
		nodes := s.Nodes(of(s.X))
		for i, a := range cornerValues {
			for j, b := range cornerValues[:i+1] {
				for _, c := range cornerValues[:j+1] {
					var made []float64
					for n := range len(a.of) * len(b.of) * len(c.of) {
						v := [3]float32{float32(a.of[n%len(a.of)]), float32(b.of[n/len(a.of)%len(b.of)]),
							float32(c.of[n/len(a.of)/len(b.of)])}
						for _, o := range orders {
							made = append(made, float64(statistic(nodes[1].Do, []float32{v[o[0]], v[o[1]], v[o[2]]})))
						}
					}
					r := &formula.Row{X: []formula.Value{a.Value, b.Value, c.Value}}
					judged(t, fmt.Sprint(nodes[1].Do, " of ", r.X), r.Of(nodes)[0], made, false)
				}
			}
		}
	}
}
