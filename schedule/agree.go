package schedule

import "slices"

// MustAgree reports whether an input must hold the same values on all ranks. Each rank has all of the input. Either its
// values reach the results of other ranks, or the ranks make one and the same result, each by itself.
func (s Schedule) MustAgree(tensor string) bool {
	s = s.Apart()
	t, declared := s.Tensor(tensor)
	if !declared || !t.WholeEverywhere() || s.Made(tensor) {
		return false
	}
	if of, scales := s.ScaledBy(tensor); scales {
		return !of.WholeEverywhere() || s.MustAgree(of.Name)
	}
	return slices.ContainsFunc(s.Ops, func(o Op) bool { return o.Reads(tensor) && s.handedOn(o) })
}

// WholeEverywhere says that each rank has all of the tensor.
func (t Tensor) WholeEverywhere() bool {
	_, _, sharded := t.Sharded()
	return !sharded && !t.Root
}

// handedOn reports whether other ranks than the maker of a result depend on it: a later operation reads the result, or
// every rank gets all of it while other ranks made a part of it or of its operands.
func (s Schedule) handedOn(o Op) bool {
	if slices.ContainsFunc(s.Ops, func(p Op) bool { return p.Reads(o.Out) }) {
		return true
	}
	c, declared := s.Tensor(o.Out)
	return declared && c.WholeEverywhere() &&
		(s.Partial(o) || s.gathersColumns(o) || slices.ContainsFunc(o.Operands(), s.Made))
}

// gathersColumns reports whether each rank makes different columns of a result.
func (s Schedule) gathersColumns(o Op) bool {
	c, err := s.Contraction(o)
	if err != nil || o.Call != "" || c.Out == "" {
		return false
	}
	last := len(o.In) - 1 // the weight, or the tensor itself
	t, declared := s.Tensor(o.In[last])
	axis, _, sharded := t.Sharded()
	return declared && sharded && axis < len(c.In[last]) && c.In[last][axis] == c.Out[len(c.Out)-1]
}
