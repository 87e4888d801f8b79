package harness

import (
	"reflect"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Calling is a plan that takes other functions for its calls than the harness's.
type Calling interface {
	Calls(of func(name string) plan.Call)
}

// Calls gives the plan a function for each call of its schedule.
func (p adapted[B]) Calls(of func(name string) plan.Call) {
	for _, o := range p.ops {
		if o.Call != "" {
			reflect.ValueOf(p.Runner).Elem().FieldByName(o.Call).Set(reflect.ValueOf(of(o.Call)))
		}
	}
}

// standIn stands for work of the caller's own, which the harness does not know. The result is in as many blocks as there
// are operands; each gets the last elements of one of them, from the beginning again where it is longer. So the first
// rows depend on the last. Ahead of that everything is read, as the work would.
func standIn(d driver.Driver, element int64) plan.Call {
	return func(on driver.Stream, to plan.Range, from []plan.Range) error {
		for _, x := range from {
			for at := int64(0); at < x.Bytes; at += to.Bytes {
				n := min(to.Bytes, x.Bytes-at)
				if err := d.MemcpyDtoDAsync(to.At, x.At+driver.Ptr(at), n, on); err != nil {
					return err
				}
			}
		}
		all, blocks := to.Bytes/element, int64(len(from))
		for i, x := range from {
			at, end := all*int64(i)/blocks*element, all*(int64(i)+1)/blocks*element
			for at < end {
				n := min(end-at, x.Bytes)
				if err := d.MemcpyDtoDAsync(to.At+driver.Ptr(at), x.At+driver.Ptr(x.Bytes-n), n, on); err != nil {
					return err
				}
				at += n
			}
		}
		return nil
	}
}
