package reference

import (
	"math"

	"ovgen/verify/formula"
)

// Values are a matrix in float64, row-major, with the least and the greatest value that each element may have on a
// device. Where both are equal, a device has that value to the last bit.
type Values struct{ Want, Lo, Hi []float64 }

// points are values that are exact on every device.
func points(x []float64) Values { return Values{x, x, x} }

// newValues has room for n values.
func newValues(n int) Values {
	return Values{make([]float64, n), make([]float64, n), make([]float64, n)}
}

// At is an element.
func (v Values) At(i int) formula.Value {
	return formula.Value{Want: v.Want[i], Lo: v.Lo[i], Hi: v.Hi[i]}
}

// part is one of equal parts of the columns of rows that have that many columns in all.
func (v Values) part(columns, i, parts int) (made Values) {
	n := columns / parts
	for at := i * n; at < len(v.Want); at += columns {
		made.Want, made.Lo = append(made.Want, v.Want[at:at+n]...), append(made.Lo, v.Lo[at:at+n]...)
		made.Hi = append(made.Hi, v.Hi[at:at+n]...)
	}
	return made
}

// set sets an element, rounded to a format. A number between two bounds stays between them when all three are rounded.
// A format without NaN has a number for it.
func (v Values) set(i int, x formula.Value, f format) {
	if x.MayBeNaN() && !x.IsNaN() && !f.of.NaN() {
		x.Lo, x.Hi = math.Inf(-1), math.Inf(1)
	}
	v.Want[i], v.Lo[i] = x.Want, float64(f.round(float32(x.Lo)))
	if v.Hi[i] = v.Lo[i]; x.Hi != x.Lo {
		v.Hi[i] = float64(f.round(float32(x.Hi)))
	}
	switch {
	case v.Lo[i] == v.Hi[i]:
		v.Want[i] = v.Lo[i]
	case v.Lo[i] < v.Hi[i]:
		v.Want[i] = min(max(x.Want, v.Lo[i]), v.Hi[i])
	}
}

// Holds reports whether an element of a device may be x.
func (v Values) Holds(i int, x float64) bool { return v.At(i).Holds(x) }

// Points is the number of elements that are compared by ==.
func (v Values) Points() (n int) {
	for i := range v.Want {
		if v.At(i).IsPoint() {
			n++
		}
	}
	return n
}

// off is the greatest distance of an element from its middle.
func (v Values) off(i int) float64 { return max(v.Hi[i]-v.Want[i], v.Want[i]-v.Lo[i]) }

// grid is an exponent: all of the n elements are multiples of that power of two, and not of a greater one. ok is false
// where an element is not exact on every device.
func (v Values) grid(first, step, n int) (exponent int, ok bool) {
	exponent = math.MaxInt
	for i := first; n > 0; i, n = i+step, n-1 {
		if !(v.Hi[i]-v.Lo[i] == 0) { // or infinite, or NaN
			return 0, false
		}
		exponent = min(exponent, formula.LeastBit(v.Want[i]))
	}
	return exponent, true
}
