package schedule

import "slices"

// MustAgree says that an input must hold the same values on all ranks: each rank has all of it, and its values reach
// other ranks' results, or the ranks make one and the same result, each by itself.
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

// handedOn says that more than the rank that makes a result depends on it: a later operation reads it, or every rank
// gets all of it and other ranks made a part of it or of its operands.
func (s Schedule) handedOn(o Op) bool {
	if slices.ContainsFunc(s.Ops, func(p Op) bool { return p.Reads(o.Out) }) {
		return true
	}
	c, declared := s.Tensor(o.Out)
	return declared && c.WholeEverywhere() &&
		(s.Partial(o) || s.gathersColumns(o) || slices.ContainsFunc(o.Operands(), s.Made))
}

// gathersColumns says that each rank makes other columns of a result.
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
