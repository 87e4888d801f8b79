package driver

import (
	"fmt"
	"slices"
)

// Func is a function of each element of a product, by the name that schedules have for it.
type Func string

// Functions. A driver has a row for each, with what computes it there.
const (
	GELU Func = "gelu" // by its tanh approximation
	ReLU Func = "relu"
)

// Funcs are all functions.
func Funcs() []Func { return []Func{GELU, ReLU} }

// Check refuses a product that no driver makes: of no size, of no element type, or with an
// unknown function, or a function of a product that accumulates.
func (d MatmulDesc) Check() error {
	switch {
	case d.M <= 0 || d.K <= 0 || d.N <= 0:
		return fmt.Errorf("create product %d,%d,%d: the extents must be positive", d.M, d.K, d.N)
	case !d.Type.Valid():
		return fmt.Errorf("create product: there is no element type %d", d.Type)
	case d.Func != "" && !slices.Contains(Funcs(), d.Func):
		return fmt.Errorf("create product: there is no function %q of each element (%v)", d.Func, Funcs())
	case d.Func != "" && d.Accumulate:
		return fmt.Errorf("create product: %s can't follow a product that accumulates (leave out Func or Accumulate)",
			d.Func)
	}
	return nil
}
