package schedule

import "slices"

// MadeFrom is the index of the first function of an operation that a separate kernel makes, together with all functions
// behind it and without rounding between them. It is the first function that neither the library of products applies
// nor the kernel that adds up partial results, or the number of functions where there is none. The kernel that adds up
// applies local functions. The products of a gradient may add to a tensor.
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
		for range o.Then {
			takes(func(f Func) bool { return f.Joins || f.local() })
		}
	case o.Name() == GradientWord:
		takes(tensor)
	case len(o.In) == 2:
		takes(row)
		takes(func(f Func) bool { return f.Epilogue() != "" && s.scaleOf(o.In[1]).Name == "" })
	}
	return from
}

// local reports whether an element of the result depends on the element of X at its place, and on operands that lie in
// place, by column or by row.
func (f Func) local() bool {
	nodes := Nodes(f.Is)
	return ReachOf(nodes) == Local && !slices.ContainsFunc(nodes, func(n Node) bool {
		lies := does[n.Do].lies
		return n.Do == DoBelow || lies == ByHead || lies == OfTable
	})
}

// Summed has the operands of a sum beside its partial results: the tensors that its first functions add, which are
// further terms, and the functions behind them. A term has the plan's type, and where the partial results have scales,
// all terms have.
func (s Schedule) Summed(o Op) (added []string, behind []Func) {
	behind = slices.DeleteFunc(slices.Clone(s.With(o).Then), func(f Func) bool { return f.Joins || f.Is.isX() })
	codes := len(o.In) == 1 && s.scaleOf(o.In[0]).Name != ""
	for len(behind) > 0 && !codes {
		tensor := behind[0].Adds()
		if t, _ := s.Tensor(tensor); tensor == "" || t.Type != "" {
			break
		}
		added, behind = append(added, tensor), behind[1:]
	}
	return added, behind
}

// HasFinish reports whether a sum of partial results takes anything beside these.
func (s Schedule) HasFinish(o Op) bool {
	added, behind := s.Summed(o)
	return len(added)+len(behind) > 0
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
