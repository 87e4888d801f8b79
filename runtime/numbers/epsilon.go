package numbers

import (
	"cmp"
	"fmt"
)

// Epsilon is the number of a Shape that norms add to the mean of squares. 0 stands for 1e-5, as in Llama 3 and PyTorch.
type Epsilon float32

const defaultEpsilon Epsilon = 1e-5

// Numbers of fp32 between which an Epsilon lies: the least normal one, and one that no norm comes near.
const leastEpsilon, mostEpsilon Epsilon = 0x1p-126, 1

// Value is the number that kernels take.
func (e Epsilon) Value() float64 { return float64(cmp.Or(e, defaultEpsilon)) }

// Check refuses a number that no norm adds.
func (e Epsilon) Check() error {
	if e == 0 || e >= leastEpsilon && e <= mostEpsilon { // no NaN
		return nil
	}
	return fmt.Errorf("Epsilon is %g: use a number such as 1e-6, or 0 for %g", float32(e), float32(defaultEpsilon))
}

// String is the end of a shape's text: ", epsilon 1e-06".
func (e Epsilon) String() string {
	return fmt.Sprintf(", epsilon %g", float32(cmp.Or(e, defaultEpsilon)))
}
