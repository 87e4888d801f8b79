package reference

import (
	"math"

	"ovgen/verify/formula"
)

// Values are a matrix in float64, row-major, and the least and the greatest that each element may be on a device. Where
// both are equal, a device has that to the last bit.
type Values struct{ Want, Lo, Hi []float64 }

// points are values that every device has.
func points(x []float64) Values { return Values{x, x, x} }

// newValues has room for n values.
func newValues(n int) Values {
	return Values{make([]float64, n), make([]float64, n), make([]float64, n)}
}

// At is an element.
func (v Values) At(i int) formula.Value {
	return formula.Value{Want: v.Want[i], Lo: v.Lo[i], Hi: v.Hi[i]}
}

// part is one of parts of the columns of rows that have so many in all.
func (v Values) part(columns, i, parts int) (made Values) {
	n := columns / parts
	for at := i * n; at < len(v.Want); at += columns {
		made.Want, made.Lo = append(made.Want, v.Want[at:at+n]...), append(made.Lo, v.Lo[at:at+n]...)
		made.Hi = append(made.Hi, v.Hi[at:at+n]...)
	}
	return made
}

// set makes an element, rounded to a format. A number between two bounds is one still when all are rounded.
func (v Values) set(i int, x formula.Value, f format) {
	v.Lo[i] = float64(f.round(float32(x.Lo)))
	if v.Hi[i] = v.Lo[i]; x.Hi != x.Lo {
		v.Hi[i] = float64(f.round(float32(x.Hi)))
	}
	v.Want[i] = min(max(x.Want, v.Lo[i]), v.Hi[i])
}

// Holds says that an element of a device may be x. A zero may have either sign, and NaN is no element.
func (v Values) Holds(i int, x float64) bool { return v.Lo[i] <= x && x <= v.Hi[i] }

// Points is how many elements are compared by ==.
func (v Values) Points() (n int) {
	for i, lo := range v.Lo {
		if lo == v.Hi[i] {
			n++
		}
	}
	return n
}

// off is how far from its middle an element may be.
func (v Values) off(i int) float64 { return max(v.Hi[i]-v.Want[i], v.Want[i]-v.Lo[i]) }

// grid is an exponent: all of some elements are multiples of that power of two, and of no greater one. It is none where
// an element is no number that every device has.
func (v Values) grid(first, step, n int) (exponent int, ok bool) {
	exponent = math.MaxInt
	for i := first; n > 0; i, n = i+step, n-1 {
		if v.Lo[i] != v.Hi[i] {
			return 0, false
		}
		exponent = min(exponent, formula.LeastBit(v.Want[i]))
	}
	return exponent, true
}
