package schedule

import "slices"

// Partial results of several products can meet in one sum. An operation may add the partial results of an earlier
// product to its own, if nothing else reads the earlier ones. Then each rank adds the two before they travel, and one
// communication adds up both. So attention and an MLP that stand side by side are reduced once.

// Joined is the schedule with a mark on each function that adds partial results before the sum.
func (s Schedule) Joined() Schedule {
	s.Ops = slices.Clone(s.Ops)
	for i := range s.Ops {
		o := &s.Ops[i]
		o.Then = slices.Clone(o.Then)
		for j := range o.Then {
			o.Then[j].Joins = s.joins(*o, j)
		}
	}
	return s
}

// Terms are the products whose partial results are added to an operation's, in their order.
func (s Schedule) Terms(o Op) (list []Op) {
	for _, f := range o.Then {
		if m, made := s.Maker(f.Adds()); made && f.Joins {
			list = append(append(list, s.Terms(m)...), m)
		}
	}
	return list
}

// IsTerm reports whether a tensor is partial results that are added to the partial results of another operation before
// they meet.
func (s Schedule) IsTerm(tensor string) bool {
	return slices.ContainsFunc(s.Ops, func(o Op) bool {
		return slices.ContainsFunc(s.Terms(o), func(t Op) bool { return t.Out == tensor })
	})
}

// joins reports whether function j of an operation adds partial results. Nothing comes between these and the sum, and
// the schedule has no way for them. A kernel that multiplies and sends takes only one product.
func (s Schedule) joins(o Op, j int) bool {
	term, made := s.Maker(o.Then[j].Adds())
	if !made || !s.sendsProducts(o) || !s.sendsProducts(term) {
		return false
	}
	_, declared := s.Tensor(term.Out)
	moved := slices.ContainsFunc(s.Moves, func(m Move) bool { return m.Of == term.Out })
	return !declared && !FactsOf(s.Way(o.Out)).OneProduct && !moved && s.readers(term.Out) == 1 &&
		!slices.ContainsFunc(o.Then[:j], func(f Func) bool { return f.Adds() == "" && f.AddsRow() == "" }) &&
		!slices.ContainsFunc(term.Then, func(f Func) bool { return !f.Joins })
}

// sendsProducts reports whether each rank has a partial result of an operation, made of rows of its first operand.
func (s Schedule) sendsProducts(o Op) bool {
	return (o.Index == Linear("", "", "").Index || o.Index == Matmul("", "", "").Index) && s.Partial(o)
}

// readers counts how often operations read a tensor.
func (s Schedule) readers(tensor string) (n int) {
	for _, o := range s.Apart().Ops {
		for _, name := range o.Operands() {
			if name == tensor {
				n++
			}
		}
	}
	return n
}
