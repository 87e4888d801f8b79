package reference

import (
	"fmt"
	"math"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/formula"
)

var inf, nan = math.Inf(1), math.NaN()

// valuesOf are values one after another.
func valuesOf(list ...formula.Value) Values {
	v := newValues(len(list))
	for i, x := range list {
		v.set(i, x, formatOf(driver.FP32))
	}
	return v
}

// TestNaNOfProducts: a product is NaN where a row of its first operand has NaN on every device; it may be NaN where
// that row, or the column of its second operand, may have NaN or an infinity; and it is not NaN elsewhere.
func TestNaNOfProducts(t *testing.T) {
	zero, one, point := formula.Point(0), formula.Point(1), formula.Point
	const never, maybe, always = "never", "maybe", "always"
	for _, test := range []struct {
		row, column formula.Value
		is          string // a sum with such elements
	}{
		{one, one, never}, {zero, formula.Within(1, 0, 2), never}, {formula.Within(1, 0, 2), one, never},
		{point(nan), one, always}, {point(nan), zero, always}, {formula.Unsure(), zero, maybe},
		{point(inf), zero, maybe}, {formula.Within(1, 1, inf), zero, maybe}, {zero, point(nan), maybe},
		{zero, point(inf), maybe}, {zero, formula.Within(1, -inf, 1), maybe}, {zero, formula.Unsure(), maybe},
	} {
		for _, p := range []Product{{Type: driver.FP32}, {Type: driver.BF16, Parts: 2},
			{Transposed: true, Type: driver.FP16}} {
			p.M, p.K, p.N = 2, 2, 2
			a, b := valuesOf(one, test.row, one, one), valuesOf(one, one, test.column, one)
			if p.Transposed {
				b = valuesOf(one, test.column, one, one)
			}
			others := Term{p, points([]float64{1, 1, 1, 1}), points([]float64{1, 1, 1, 1})}
			for i, c := range []Values{p.Of(a, b, Values{}, Values{}), p.Of(a, b, points([]float64{1, 2}), Values{}),
				p.Of(a, b, Values{}, points([]float64{1, 2, 3, 4})), p.Of(a, b, Values{}, Values{}, others),
				p.Of(others.A, others.B, Values{}, Values{}, Term{p, a, b})} {
				is := never
				switch v := c.At(0); {
				case v.IsNaN():
					is = always
				case v.MayBeNaN():
					is = maybe
				}
				if is != test.is {
					t.Errorf("%v: %v times %v, %d, is %v, want NaN %s", p, test.row, test.column, i, c.At(0), test.is)
				}
				if c.Holds(3, nan) || c.Holds(3, 100) {
					t.Errorf("%v: a sum beside %v and %v, %d, is %v", p, test.row, test.column, i, c.At(3))
				}
			}
		}
	}
	p := Product{M: 1, K: 1, N: 1, Type: driver.FP16, Parts: 2}
	if c := p.Of(points([]float64{30000}), points([]float64{3}), Values{}, Values{}); !c.Holds(0, nan) {
		t.Errorf("a sum of partial results that may be infinite is %v", c.At(0))
	}
}

// TestNaNInTypes: a type without NaN has a number for it, and where another may be, any.
func TestNaNInTypes(t *testing.T) {
	for _, typ := range []driver.Type{driver.FP32, driver.BF16, driver.FP16, driver.E4M3, driver.E5M2, driver.E2M1} {
		v, f := newValues(3), formatOf(typ)
		for i, x := range []formula.Value{formula.Point(nan), formula.Unsure(), formula.Within(1, .5, 2)} {
			v.set(i, x, f)
		}
		of := float64(Round(typ, float32(nan)))
		if typ.NaN() != (of != of) || !v.Holds(0, of) || v.Holds(0, 1) || !v.At(0).IsPoint() {
			t.Errorf("NaN in %s is %v", typ, v.At(0))
		}
		if !v.Holds(1, of) || !v.Holds(1, -1) || !v.Holds(1, 6) || v.At(1).IsPoint() || v.Points() != 1 {
			t.Errorf("any number, or NaN, in %s is %v; %d points", typ, v.At(1), v.Points())
		}
		if v.Holds(2, nan) || !v.Holds(2, 1) || v.Holds(2, 3) {
			t.Errorf("a number in %s is %v", typ, v.At(2))
		}
	}
}

// TestNaNOfFunctions: of inputs of both signs, roots are NaN or 1, and nothing else is right at either. NaN is not
// drawn as exact.
func TestNaNOfFunctions(t *testing.T) {
	root := schedule.Func{Word: "root", Is: schedule.Root(schedule.X)}
	p := chain("A[mK] C[mK]", schedule.Copy("C", "A", root))
	q := chain("A[mK] W[fK] V[Nf] C[mN]", schedule.Linear("H", "A", "W", root), schedule.Linear("C", "H", "V"))
	never := schedule.Func{Is: schedule.Root(schedule.Minus(schedule.Num(-1), schedule.Abs(schedule.X)))}
	r := chain("A[mK] C[mK]", schedule.Copy("C", "A", never))
	for _, typ := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
		for _, x := range []*Problem{p, q, r} {
			x.Type = typ
			if err := x.Check(); err != nil {
				t.Fatal(err)
			}
			if x.draws().exact {
				t.Errorf("%s: roots of numbers below zero are drawn as exact", typ)
			}
		}
		count := map[string]int{}
		for i, v := 0, p.Results(inputs(p, false))["C"]; i < len(v.Want); i++ {
			count[fmt.Sprint(v.Holds(i, nan), v.Holds(i, 1), v.At(i).IsPoint())]++
		}
		if count["true false true"] == 0 || count["false true true"] == 0 || len(count) != 2 {
			t.Errorf("%s: NaN, 1, one value: %v", typ, count)
		}
	}
}
