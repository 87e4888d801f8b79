package reference

import (
	"ovgen/runtime/driver"
	"ovgen/schedule"
)

// TypeOf is the type of a tensor's elements: fp32 where the tensor says so, or the problem's type.
func (p *Problem) TypeOf(name string) driver.Type {
	if p.Tensor(name).Type == schedule.FP32 {
		return driver.FP32
	}
	return p.Type
}

// narrowed is a tensor of fp32, each element rounded to the type of the problem. Integers that are drawn are exact
// in any type; of other numbers there are bounds.
func narrowed(_ schedule.Func, v Values, _ map[string]Values, p *Problem, bounded bool) Values {
	made := Values{Want: v.Want, Largest: v.Largest}
	if !bounded && v.Bound == nil {
		return made
	}
	made.Bound = make([]float64, len(v.Want))
	for i, x := range v.Want {
		made.Bound[i] = rounding(x, v.Off(i), p.Type)
	}
	return made
}

// as is of a function that leaves elements as they are.
func as(_ schedule.Func, x drawn, _ map[string]drawn) drawn { return x }
