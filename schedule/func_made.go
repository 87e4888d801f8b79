package schedule

import "slices"

// MadeFrom is the number of the first function of an operation that a kernel of its own makes together with all behind
// it, unrounded between them: where one of them is a formula, the first that neither the library of products applies
// nor a kernel that adds up partial results. It is as many as there are where no function is a formula.
func (s Schedule) MadeFrom(o Op) int {
	from := 0
	takes := func(is func(Func) bool) {
		if from < len(o.Then) && is(o.Then[from]) {
			from++
		}
	}
	switch {
	case len(o.In) < 2:
	case s.Partial(o):
		for range o.Then {
			takes(func(f Func) bool { return f.Do == AddBias || f.Do == AddTensor })
		}
	default:
		takes(func(f Func) bool { return f.Do == AddBias })
		takes(func(f Func) bool { return f.ByProduct() && f.Elementwise() })
	}
	if slices.ContainsFunc(o.Then[from:], func(f Func) bool { return f.Do == "" }) {
		return from
	}
	return len(o.Then)
}
