package formula

import (
	"math"
	"math/bits"
)

// Value is an element in float64, with the least and the greatest value that it may have on a device. Where it may be
// NaN there, both are NaN, and it may be any number too. Where it is NaN on every device, so is Want.
type Value struct{ Want, Lo, Hi float64 }

// Point is a value that is exact on every device.
func Point(x float64) Value { return Value{x, x, x} }

// Unsure is a value of which nothing is known.
func Unsure() Value { return Value{0, math.NaN(), math.NaN()} }

// Within is a value between two bounds. Where one is no number, the value may be NaN.
func Within(want, lo, hi float64) Value {
	if lo == lo && hi == hi {
		return Value{want, lo, hi}
	}
	if math.IsInf(want, 0) {
		want = 0
	}
	return Value{want, math.NaN(), math.NaN()}
}

// IsPoint reports whether every device has the same value.
func (v Value) IsPoint() bool { return v.Lo == v.Hi || v.IsNaN() }

// IsNaN reports whether every device has NaN.
func (v Value) IsNaN() bool { return v.Want != v.Want }

// MayBeNaN reports whether a device may have NaN.
func (v Value) MayBeNaN() bool { return v.Lo != v.Lo }

// IsFinite reports whether no device has an infinity or NaN.
func (v Value) IsFinite() bool { return v.Hi-v.Lo < math.Inf(1) }

// Holds reports whether a device may have x. A zero may have either sign.
func (v Value) Holds(x float64) bool {
	if v.MayBeNaN() {
		return x != x || !v.IsNaN()
	}
	return v.Lo <= x && x <= v.Hi
}

// Size is the greatest magnitude.
func (v Value) Size() float64 { return max(math.Abs(v.Lo), math.Abs(v.Hi)) }

// anything is a value that may be any number, infinities too.
func anything() Value { return Value{0, math.Inf(-1), math.Inf(1)} }

// fp32 is the nearest number of fp32. If x lies between two values of a device, so does the nearest number.
func fp32(x float64) float64 { return float64(float32(x)) }

// ulp is the greatest distance between neighbouring numbers of fp32, relative to their size; tiny is the distance
// between the smallest numbers.
const ulp, tiny = 0x1p-23, 0x1p-149

// rounded is a value between two bounds, each rounded to fp32. It is infinite where every device has no other value.
func rounded(want, lo, hi float64) Value {
	v := Within(want, fp32(lo), fp32(hi))
	if math.IsInf(v.Lo, 0) && v.Lo == v.Hi {
		v.Want = v.Lo
	}
	return v
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

// hasZero reports whether a value may be zero.
func (v Value) hasZero() bool { return v.Lo <= 0 && v.Hi >= 0 }

// plus is a sum: infinities of two signs make NaN.
func plus(a, b Value) Value {
	if math.IsInf(a.Hi, 1) && math.IsInf(b.Lo, -1) || math.IsInf(a.Lo, -1) && math.IsInf(b.Hi, 1) {
		return Point(math.NaN())
	}
	return rounded(a.Want+b.Want, a.Lo+b.Lo, a.Hi+b.Hi)
}

// sure is what an operation made of two values: NaN on every device where all have both values, or one is NaN.
func sure(made, a, b Value) Value {
	if made.IsNaN() && !(a.IsPoint() && b.IsPoint() || a.IsNaN() || b.IsNaN()) {
		return Unsure()
	}
	return made
}

// negated is a value of the other sign.
func negated(v Value) Value { return Value{-v.Want, -v.Hi, -v.Lo} }

// times is a product: zero and an infinity make NaN.
func times(a, b Value) Value {
	if a.hasZero() && math.IsInf(b.Size(), 1) || b.hasZero() && math.IsInf(a.Size(), 1) {
		return Point(math.NaN())
	}
	return corners(func(a, b float64) float64 { return a * b }, a, b)
}

// squared is the product of a value and itself.
func squared(v Value) Value {
	p := corners(func(a, b float64) float64 { return a * b }, v, v)
	if v.Lo < 0 && v.Hi > 0 {
		p.Lo = 0
	}
	return p
}

// over is a quotient: two zeros, or two infinities, make NaN.
func over(a, b Value) Value {
	switch infinite := math.IsInf(a.Size(), 1) && math.IsInf(b.Size(), 1); {
	case !b.hasZero():
		return corners(func(a, b float64) float64 { return a / b }, a, b)
	case a.hasZero() || infinite || a.MayBeNaN():
		return Point(math.NaN())
	}
	return anything()
}

// root is a square root.
func root(v Value) Value { return rounded(math.Sqrt(v.Want), math.Sqrt(v.Lo), math.Sqrt(v.Hi)) }

// chosen is the greatest of two values by max, or the least by min, as a > b ? a : b: it is b where one is NaN.
func chosen(of func(a, b float64) float64, a, b Value) Value {
	switch {
	case b.MayBeNaN() || a.IsNaN():
		return b
	case a.MayBeNaN():
		a.Lo, a.Hi = math.Inf(-1), math.Inf(1)
	}
	return Value{of(a.Want, b.Want), of(a.Lo, b.Lo), of(a.Hi, b.Hi)}
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

// finite is a value, or 0 where it is infinite or NaN.
func finite(v Value) Value {
	switch {
	case v.IsNaN():
		return Point(0)
	case v.MayBeNaN():
		return anything()
	case math.IsInf(v.Lo, 0) && v.IsPoint():
		return Point(0)
	case math.IsInf(v.Lo, 0) || math.IsInf(v.Hi, 0):
		return Value{v.Want, min(v.Lo, 0), max(v.Hi, 0)}
	}
	return v
}

// sized is the value of a growing function of sizes. Of NaN it is what the function says.
func sized(of func(size float64) float64, v Value) Value {
	least := 0.0
	if v.Lo > 0 || v.Hi < 0 {
		least = min(math.Abs(v.Lo), math.Abs(v.Hi))
	}
	if v.IsNaN() {
		least = v.Want
	}
	return Within(of(math.Abs(v.Want)), of(least), of(v.Size()))
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
