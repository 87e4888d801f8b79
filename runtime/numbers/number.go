package numbers

import (
	"cmp"
	"fmt"
	"math"
)

// Number is a number of a Shape that formulas read by its name. If it is 0, zero takes its place.
type Number struct {
	name                  string
	is, zero, least, most float32
}

// Named is a number without a default.
func Named(name string, is float32) Number {
	return Number{name, is, 0, -math.MaxFloat32, math.MaxFloat32}
}

// Epsilon is the number that norms add to the mean of squares, 1e-5 by default: a normal number of fp32, and at most 1.
func Epsilon(is float32) Number { return Number{"epsilon", is, 1e-5, 0x1p-126, 1} }

// Value is the number that kernels take.
func (n Number) Value() float64 { return float64(cmp.Or(n.is, n.zero)) }

// Check refuses a number that is out of range, and a NaN.
func (n Number) Check() error {
	if x := float32(n.Value()); x >= n.least && x <= n.most { // a NaN fails both
		return nil
	}
	return fmt.Errorf("%s is %g: use a number from %g to %g", n.name, n.is, n.least, n.most)
}

// String is the end of a shape's text: ", epsilon 1e-06".
func (n Number) String() string { return fmt.Sprintf(", %s %g", n.name, float32(n.Value())) }
