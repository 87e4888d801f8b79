package formula

import "math"

// ByLibrary is what the library of products makes of a sum by one of its functions, or by none, in the interval in
// which it lies. No formula says in which steps the library computes it, nor what it makes of NaN.
func ByLibrary(epilogue string, x Value) Value {
	switch {
	case epilogue != "" && x.MayBeNaN():
		return Unsure()
	case epilogue == "relu":
		return positive(x)
	case epilogue == "gelu":
		return gelu(x)
	}
	return x
}

func positive(x Value) Value { return Value{max(x.Want, 0), max(x.Lo, 0), max(x.Hi, 0)} }

// cuBLASLt's gelu is x/2 * (1 + t), where t is about tanh(u) for u = sqrt(2/pi) * (x + 0.044715*x^3), computed in
// fp32 in an order that is not documented.
//   - u is a product of a constant and a sum of numbers of one sign: each of its 7 roundings, those of the constants
//     among them, changes it by up to 2^-24 of its size. tanh(u) changes by no larger share than u does.
//   - PTX documents a relative error of up to 2^-11 for tanh.approx.f32. Its result is at most 1.
//   - 1 + t, half of x and their product, or half of x and a sum of two products, are at most |x| in size, and so is
//     what each of up to 4 roundings changes by 2^-24 of.
const (
	ofTanh = 0x1p-11 + 8*0x1p-24
	ofSums = 4 * 0x1p-24
	// From flat on, u is 159 or more, and tanh(u) is 1 to the last bit of fp32: gelu is its operand, or 0.
	flat = 16
	// leastGELU is where gelu is least. It falls before that point, and grows behind it.
	leastGELU = -0.752461
)

// gelu is the library's. Its value is between 0 and its operand, since roundings keep order.
func gelu(x Value) Value {
	if x.Lo >= flat || x.Hi <= -flat {
		return positive(x)
	}
	lo, hi := realGELU(x.Lo), realGELU(x.Hi)
	made := Value{realGELU(x.Want), min(lo, hi), max(lo, hi)}
	if x.Lo < leastGELU && leastGELU < x.Hi {
		made.Lo = realGELU(leastGELU)
	}
	off := geluOff(min(x.Size(), flat))
	made.Lo = max(made.Lo-off, min(x.Lo, 0))
	made.Hi = min(made.Hi+off, max(x.Hi, 0))
	return made
}

// realGELU is gelu without an error. Infinities have none either.
func realGELU(x float64) float64 {
	if math.Abs(x) >= flat {
		return max(x, 0)
	}
	return x / 2 * (1 + tanh(x))
}

// geluOff is the greatest error of gelu for numbers of up to that size.
func geluOff(size float64) float64 { return size/2*tanh(size)*ofTanh + size*ofSums + tiny }

// tanh is t without an error.
func tanh(x float64) float64 { return math.Tanh(math.Sqrt(2/math.Pi) * (x + 0.044715*x*x*x)) }
