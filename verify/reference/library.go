package reference

import (
	"math"

	"ovgen/verify/formula"
)

// byLibrary is a function that the library of products applies to a sum. The GPU's tangent has a relative error of
// 2^-11, and is exact where it is 1.
func byLibrary(epilogue string, x formula.Value) formula.Value {
	switch epilogue {
	case "relu":
		return formula.Value{Want: max(x.Want, 0), Lo: max(x.Lo, 0), Hi: max(x.Hi, 0)}
	case "gelu":
		lo, hi := libraryGELU(x.Lo), libraryGELU(x.Hi)
		made := formula.Value{Want: gelu(x.Want), Lo: min(lo.Lo, hi.Lo), Hi: max(lo.Hi, hi.Hi)}
		if x.Lo < leastOfGELU && leastOfGELU < x.Hi {
			made.Lo = libraryGELU(leastOfGELU).Lo
		}
		return made
	}
	return x
}

// leastOfGELU is where gelu is least. gelu falls before that point, and grows behind it.
const leastOfGELU = -0.752461

// gelu is written separately from its tree, since the library does not evaluate it in fp32 steps.
func gelu(x float64) float64 {
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

// libraryGELU is gelu with the error that the library may have.
func libraryGELU(x float64) formula.Value {
	const flat = 16 // the tangent of this number is 1 in fp32, and -1 of its negative
	if math.Abs(x) >= flat {
		return formula.Point(max(x, 0))
	}
	off := 0x1p-11 * math.Abs(x)
	return formula.Value{Want: gelu(x), Lo: gelu(x) - off, Hi: gelu(x) + off}
}
