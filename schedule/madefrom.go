package schedule

import "slices"

// MadeFrom is the index of the first function of an operation that a separate kernel makes, together with all functions
// behind it and without rounding between them. It is the first function that neither the library of products applies
// nor the kernel that adds up partial results, or the number of functions where there is none. The products of a
// gradient may add to a tensor.
func (s Schedule) MadeFrom(o Op) int {
	from := 0
	takes := func(is func(Func) bool) {
		if from < len(o.Then) && is(o.Then[from]) {
			from++
		}
	}
	adds := func(tensor func(Func) string) func(Func) bool {
		return func(f Func) bool {
			return tensor(f) != "" && !slices.ContainsFunc(o.Then[:from], func(x Func) bool {
				return tensor(x) != "" && !x.Joins
			})
		}
	}
	row, tensor := adds(Func.AddsRow), adds(Func.Adds)
	switch {
	case s.Partial(o):
		codes := s.scaleOf(o.In[0]).Name != "" && len(o.In) == 1 // their kernel adds no 16 bits
		for range o.Then {
			takes(func(f Func) bool { return f.Joins || row(f) || !codes && tensor(f) })
		}
	case o.Name() == "gradient":
		takes(tensor)
	case len(o.In) == 2:
		takes(row)
		takes(func(f Func) bool { return f.Epilogue() != "" && s.scaleOf(o.In[1]).Name == "" })
	}
	return from
}

// Own are the functions of an operation that a separate kernel makes.
func (s Schedule) Own(o Op) []Func { return o.Then[s.MadeFrom(o):] }

// With is the operation with only the functions that the maker of its result applies.
func (s Schedule) With(o Op) Op {
	o.Then = slices.Clip(o.Then[:s.MadeFrom(o)])
	return o
}

// InFP32 reports whether the sum of an operation's partial results is not rounded: the result has Type FP32, and no
// separate kernel makes it.
func (s Schedule) InFP32(o Op) bool {
	t, _ := s.Tensor(o.Out)
	return t.Type == FP32 && s.Partial(o) && len(s.Own(o)) == 0
}
