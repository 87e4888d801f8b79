package schedule

import "slices"

// MadeFrom is the number of the first function of an operation that a kernel of its own makes, together with all behind
// it and unrounded between them: the first that neither the library of products applies nor the kernel that adds up
// partial results. It is as many as there are where each has one of these.
func (s Schedule) MadeFrom(o Op) int {
	from := 0
	takes := func(is func(Func) bool) {
		if from < len(o.Then) && is(o.Then[from]) {
			from++
		}
	}
	switch {
	case s.Partial(o):
		adds := func(f Func) bool {
			again := slices.ContainsFunc(o.Then[:from], func(x Func) bool { return x.Do == f.Do && !x.Joins })
			return f.Joins || (f.Do == AddBias || f.Do == AddTensor) && !again
		}
		for range o.Then {
			takes(adds)
		}
		takes(func(f Func) bool { return f.Do == ApplyToFP32 })
	case len(o.In) == 2:
		takes(func(f Func) bool { return f.Do == AddBias })
		takes(func(f Func) bool { return f.ByProduct() && f.Elementwise() && s.scaleOf(o.In[0]).Name == "" })
	}
	return from
}
