package driver

import "fmt"

// Func is a function of each element of a product, by the name that schedules have for it. A driver refuses a function
// that it doesn't apply.
type Func string

// Check refuses a product that no driver makes: of no size, of no element type, or with a function of a product that
// accumulates.
func (d MatmulDesc) Check() error {
	switch {
	case d.M <= 0 || d.K <= 0 || d.N <= 0:
		return fmt.Errorf("create product %d,%d,%d: the extents must be positive", d.M, d.K, d.N)
	case !d.Type.Valid():
		return fmt.Errorf("create product: there is no element type %d", d.Type)
	case d.Func != "" && d.Accumulate:
		return fmt.Errorf("create product: %s can't follow a product that accumulates (leave out Func or Accumulate)",
			d.Func)
	}
	return nil
}
