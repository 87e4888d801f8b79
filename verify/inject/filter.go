package inject

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/driver/around"
)

// Filter is a Driver that reports its calls. Set its fields before the calls that they are to see; they are read
// without a lock.
type Filter struct {
	driver.Decorator
	// Before sees each call that around.New knows. Its error becomes the error of the call, which is then not made.
	Before func(*around.Call) error
	// Without removes from batches the writes to addresses for which it is true.
	Without func(driver.Ptr) bool

	items []driver.MemOp
}

// New makes a Filter that changes nothing.
func New(d driver.Driver) *Filter {
	f := &Filter{}
	f.Driver = around.New(d, f.each)
	return f
}

func (f *Filter) each(c *around.Call) error {
	if f.Before != nil {
		if err := f.Before(c); err != nil {
			return err
		}
	}
	if f.Without != nil && c.Items != nil {
		f.items = f.items[:0]
		for _, it := range c.Items {
			if it.Kind != driver.Write || !f.Without(it.Address) {
				f.items = append(f.items, it)
			}
		}
		c.Items = f.items
	}
	return c.Pass()
}
