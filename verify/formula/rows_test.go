package formula_test

import (
	"math"
	"testing"

	"ovgen/verify/formula"
)

// knownRows are the first two values of rows that repeat two elements. A is 3 in each even column and 7 in each odd
// one, and B is 5 in all.
var knownRows = map[string]struct{ of, first [2]float64 }{
	"scale":    {of: [2]float64{2, -3}, first: [2]float64{.5, -.75}},
	"multiply": {of: [2]float64{2, -3}, first: [2]float64{6, -21}},
	"add":      {of: [2]float64{2, -3}, first: [2]float64{5, 4}},
	"bias":     {of: [2]float64{2, -3}, first: [2]float64{5, 4}},
	"reglu":    {of: [2]float64{2, -3}, first: [2]float64{6, 0}},
	"swiglu":   {of: [2]float64{2, -3}, first: [2]float64{5.284782468, -0.9959433367}},
	"modulate": {of: [2]float64{2, -3}, first: [2]float64{15, -11}},
	// 3/448 is between 2^-8 and 2^-7.
	"quantise":     {of: [2]float64{2, -3}, first: [2]float64{256, -384}},
	"quantisee5m2": {of: [2]float64{2, -3}, first: [2]float64{32768, -49152}},
	// 3/6 is a number of e4m3.
	"quantisemxfp4": {of: [2]float64{2, -2.5}, first: [2]float64{4, -5}},
	"quantisefp4":   {of: [2]float64{2, -3}, first: [2]float64{4, -6}},
	"dequantise":    {of: [2]float64{2, -3}, first: [2]float64{6, -9}},
	"softmax":       {of: [2]float64{2, -3}, first: [2]float64{0.02069389894, 0.0001394343943}},

	"rmsnorm":   {of: [2]float64{2, -3}, first: [2]float64{2.353391811, -8.23687134}},
	"head norm": {of: [2]float64{2, -3}, first: [2]float64{2.353391811, -8.23687134}},
	"layernorm": {of: [2]float64{2, -3}, first: [2]float64{7.9999976, -1.9999944}},
	// The table has the cosine 3 and the sine 3 in even columns, and 7 in odd ones. A partner is half a head away, of
	// the same value, or the column beside.
	"rotary":      {of: [2]float64{2, -3}, first: [2]float64{0, 0}},
	"interleaved": {of: [2]float64{2, -3}, first: [2]float64{15, -3}},
	"some":        {of: [2]float64{2, -3}, first: [2]float64{0, 0}},
}

// TestKnownRows holds the functions of rows, heads and operands against known values, and that no function of the
// library is without any.
func TestKnownRows(t *testing.T) {
	for name := range functions {
		if _, row := knownRows[name]; !row && known[name] == nil && name != "rest" {
			t.Errorf("no value of %s is known", name)
		}
	}
	for name, test := range knownRows {
		r := &formula.Row{Param: epsilon, Width: width, Operand: func(tensor string, i int) formula.Value {
			if tensor == "B" {
				return formula.Point(5)
			}
			return formula.Point([2]float64{3, 7}[i%2])
		}}
		for i := range columns {
			r.X = append(r.X, formula.Point(test.of[i%2]))
		}
		for i, v := range r.Of(tree(functions[name]))[:2] {
			if want := test.first[i]; math.Abs(v.Want-want) > 3e-7*math.Abs(want) {
				t.Errorf("%s of %v, column %d, is %.10g, want %.10g", name, test.of, i, v.Want, want)
			}
		}
	}
}
