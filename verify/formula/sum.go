package formula

import "math"

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
// than fp32. Else each rounding of the numbers that a device has changes their sum by a share of their sizes, so that a
// sum of greater numbers is no less.
func sum(values []Value) Value {
	var s Value
	below, above, least, points := 0.0, 0.0, math.MaxInt, true // sizes of the least and of the greatest values
	for _, v := range values {
		s.Want, s.Lo, s.Hi = s.Want+v.Want, s.Lo+v.Lo, s.Hi+v.Hi
		below, above = below+math.Abs(v.Lo), above+math.Abs(v.Hi)
		points = points && v.IsPoint()
		if points {
			least = min(least, LeastBit(v.Lo))
		}
	}
	if points && (above == 0 || above <= min(math.Ldexp(1, 24+least), math.MaxFloat32)) {
		return Point(s.Lo)
	}
	off := depth(len(values)) * ulp / 2 * (1 + 0x1p-10) // with the error that rounding adds to rounded numbers
	lo, hi := s.Lo-off*below, s.Hi+off*above
	if max(below, above)*(1+off) > math.MaxFloat32 {
		lo, hi = overflown(s, lo, hi, values)
	}
	return rounded(s.Want, lo, hi)
}

// overflown are the bounds of a sum of which a partial sum may be infinite. It may be NaN where partial sums may be
// infinities of both signs.
func overflown(s Value, lo, hi float64, values []Value) (least, greatest float64) {
	rise, fall, either := 0.0, 0.0, 0 // sizes by sign, and the number of values that may be any infinity
	for _, v := range values {
		if math.IsInf(v.Lo, -1) && math.IsInf(v.Hi, 1) {
			either++
			continue
		}
		rise, fall = rise+max(v.Hi, 0), fall+max(-v.Lo, 0)
	}
	const most = math.MaxFloat32 / (1 + 0x1p-10)
	switch up, down := rise > most, fall > most; {
	case either > 1, either == 1 && (up || down), up && down:
		return math.NaN(), math.NaN()
	case up && math.IsInf(s.Lo, 1):
		return s.Lo, s.Lo
	case up:
		return lo, math.Inf(1)
	case down && math.IsInf(s.Hi, -1):
		return s.Hi, s.Hi
	case down:
		return math.Inf(-1), hi
	}
	return lo, hi
}
