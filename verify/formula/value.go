package formula

import (
	"math"
	"math/bits"
)

// Value is an element in float64, with the least and the greatest value that it may have on a device.
type Value struct{ Want, Lo, Hi float64 }

// Point is a value that is exact on every device.
func Point(x float64) Value { return Value{x, x, x} }

// IsPoint reports whether every device has the same value.
func (v Value) IsPoint() bool { return v.Lo == v.Hi }

// Size is the greatest magnitude.
func (v Value) Size() float64 { return max(math.Abs(v.Lo), math.Abs(v.Hi)) }

// anything is a value that may be any number.
func anything(want float64) Value { return Value{want, math.Inf(-1), math.Inf(1)} }

// fp32 is the nearest number of fp32. If x lies between two values of a device, so does the nearest number.
func fp32(x float64) float64 { return float64(float32(x)) }

// ulp is the greatest distance between neighbouring numbers of fp32, relative to their size; tiny is the distance
// between the smallest numbers.
const ulp, tiny = 0x1p-23, 0x1p-149

// rounded is a value between two bounds, each rounded to fp32. It is anything where the bounds are not numbers.
func rounded(want, lo, hi float64) Value {
	if math.IsNaN(lo) || math.IsNaN(hi) {
		return anything(want)
	}
	return Value{want, fp32(lo), fp32(hi)}
}

// about is a value of a growing function, with an error of up to n units at both ends, between two limits.
func about(of func(float64) float64, v Value, n, least, most float64) Value {
	off := func(x, units float64) float64 {
		if math.IsInf(x, 0) {
			return x
		}
		return x + units*(ulp*math.Abs(x)+tiny)
	}
	return rounded(of(v.Want), max(off(of(v.Lo), -n), least), min(off(of(v.Hi), n), most))
}

// corners is the interval of an operation of two operands that has its extremes at ends of both.
func corners(of func(a, b float64) float64, a, b Value) Value {
	w, x, y, z := of(a.Lo, b.Lo), of(a.Lo, b.Hi), of(a.Hi, b.Lo), of(a.Hi, b.Hi)
	return rounded(of(a.Want, b.Want), min(w, x, y, z), max(w, x, y, z))
}

// squared is the product of a value and itself.
func squared(v Value) Value {
	p := corners(func(a, b float64) float64 { return a * b }, v, v)
	if v.Lo < 0 && v.Hi > 0 {
		p.Lo = 0
	}
	return p
}

// over is a quotient.
func over(a, b Value) Value {
	if b.Lo <= 0 && b.Hi >= 0 {
		return anything(a.Want / b.Want)
	}
	return corners(func(a, b float64) float64 { return a / b }, a, b)
}

// root is a square root.
func root(v Value) Value { return rounded(math.Sqrt(v.Want), math.Sqrt(v.Lo), math.Sqrt(v.Hi)) }

// reciprocal is 1 over a value that is not negative.
func reciprocal(v Value) Value {
	if !(v.Lo >= 0) {
		return anything(1 / v.Want)
	}
	return rounded(1/v.Want, 1/v.Hi, 1/v.Lo)
}

// depth is the greatest number of roundings of a number in a sum of a width. Kernels add as docs/proof.md says: parts,
// of which there are up to 512 and a power of 2, take units of 8 columns in turn, and the first of a part's columns is
// added to nothing. Then the parts are added by halves.
func depth(width int) float64 {
	const unit, mostParts = 8, 512
	units, parts := (width+unit-1)/unit, 1
	for parts < min(units, mostParts) {
		parts *= 2
	}
	return float64((units+parts-1)/parts*unit-1) + math.Log2(float64(parts))
}

// sum is a sum in fp32. It is a point where all numbers are multiples of one number, and no partial sum has more digits
// than fp32.
func sum(values []Value) Value {
	var s Value
	size, least, points := 0.0, math.MaxInt, true
	for _, v := range values {
		s.Want, s.Lo, s.Hi = s.Want+v.Want, s.Lo+v.Lo, s.Hi+v.Hi
		size += v.Size()
		points = points && v.IsPoint()
		if points {
			least = min(least, LeastBit(v.Lo))
		}
	}
	if points && (size == 0 || size <= math.Ldexp(1, 24+least)) {
		return Point(s.Lo)
	}
	off := depth(len(values)) * ulp / 2 * size * (1 + 0x1p-10) // with the error that rounding adds to rounded numbers
	return rounded(s.Want, s.Lo-off, s.Hi+off)
}

// LeastBit is the exponent of the least bit of a number that is not zero: 1 for 6. For zero it is the greatest int.
func LeastBit(x float64) int {
	b := math.Float64bits(x) &^ (1 << 63)
	e, m := int(b>>52), b&(1<<52-1)
	if b == 0 {
		return math.MaxInt
	}
	if e == 0 {
		return bits.TrailingZeros64(m) - 1074
	}
	return e - 1075 + bits.TrailingZeros64(m|1<<52)
}

// finite is a value, or 0 where it is infinite.
func finite(v Value) Value {
	switch {
	case math.IsInf(v.Lo, 0) && v.IsPoint():
		return Point(0)
	case math.IsInf(v.Lo, 0) || math.IsInf(v.Hi, 0):
		return Value{v.Want, min(v.Lo, 0), max(v.Hi, 0)}
	}
	return v
}

// sized is the value of a growing function of sizes.
func sized(of func(size float64) float64, v Value) Value {
	least := 0.0
	if v.Lo > 0 || v.Hi < 0 {
		least = min(math.Abs(v.Lo), math.Abs(v.Hi))
	}
	return Value{of(math.Abs(v.Want)), of(least), of(v.Size())}
}

// powerOf is the least power of two that is not below a size, from 2^-126 to 2^126, which no number has.
func powerOf(size float64) float64 {
	if !(size < 0x1p126) {
		size = 0x1p126
	}
	fraction, exponent := math.Frexp(max(size, 0x1p-126))
	if fraction == .5 {
		exponent--
	}
	return math.Ldexp(1, exponent)
}

// loudPower is powerOf, but NaN for NaN.
func loudPower(size float64) float64 {
	if size != size {
		return size
	}
	return powerOf(size)
}

// up is the least number of e4m3 that is not below a size, from 2^-9 to 448: a number of four digits, or a multiple of
// 2^-9.
func up(size float64) float64 {
	_, exponent := math.Frexp(size)
	unit := math.Ldexp(1, max(exponent-4, -9))
	return max(min(math.Ceil(size/unit)*unit, 448), 0x1p-9)
}
