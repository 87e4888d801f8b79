package schedule

import "fmt"

// Epsilon is the name of the number that norms add to the mean of squares.
const Epsilon = "Epsilon"

// DefaultEpsilon is the number that a norm adds to the mean of squares by default, as in Llama 3 and PyTorch.
const DefaultEpsilon = 1e-5

// WithEpsilon is the norm with a number of its own added to the mean of squares, such as 1e-6.
func (f Func) WithEpsilon(epsilon float64) Func {
	if f.Do == "" {
		f.Is = f.Is.replaced(Param(Epsilon), Num(epsilon))
		return f
	}
	f.Epsilon = epsilon
	return f
}

// AddedToSquares is the number that a norm adds to the mean of squares; 0 of another function.
func (f Func) AddedToSquares() float64 {
	if f.Norm() && f.Epsilon == 0 {
		return DefaultEpsilon
	}
	return f.Epsilon
}

// Numbers of fp32 between which an epsilon lies: the least normal one, and one that no norm comes near.
const leastEpsilon, mostEpsilon = 0x1p-126, 1

// checkEpsilon refuses a number that fp32 does not hold, and one that nothing reads.
func (f Func) checkEpsilon(v *validation, path string) {
	switch {
	case f.Epsilon == 0:
	case !f.Norm():
		v.add(path, "leave it out", "only norms add an epsilon, and %s is none", f.Do)
	case !(f.Epsilon >= leastEpsilon && f.Epsilon <= mostEpsilon): // NaN too
		v.add(path, fmt.Sprintf("use a number such as 1e-6, or 0 for %g", DefaultEpsilon),
			"no norm adds %g to the mean of squares", f.Epsilon)
	}
}
