package schedule

import (
	"fmt"
	"slices"
)

// checkOrder refuses operands of operation i that the operation itself or a later operation makes.
func (s Schedule) checkOrder(v *validation, path string, i int) {
	check := func(path, in string) {
		s.checkMade(v, path, in, i)
		s.checkReplaced(v, path, in, i)
	}
	o := s.Ops[i]
	for j, in := range o.In {
		check(fmt.Sprintf("%s.In[%d]", path, j), in)
	}
	for j, f := range o.Then {
		for _, name := range f.Reads() {
			check(f.PathOf(fmt.Sprintf("%s.Then[%d]", path, j), name), name)
		}
	}
}

// checkReplaced refuses an operand of operation i where an earlier operation has made another tensor in its place.
func (s Schedule) checkReplaced(v *validation, path, tensor string, i int) {
	old, declared := s.Tensor(tensor)
	for j, o := range s.Ops[:i] {
		made, _ := s.Tensor(o.Out)
		inner, outer := made, old
		if old.Within == made.Name {
			inner, outer = old, made
		}
		place, _ := inner.PlaceWithin(outer)
		if declared && inner.Within != "" && inner.Within == outer.Name && place == AllOf && !s.Made(tensor) {
			v.add(path, "leave Within out of "+inner.Name, "Ops[%d] has made %s in the place of %s", j, made.Name,
				tensor)
		}
	}
}

// checkMade refuses a tensor that operation i reads, unless an earlier operation makes it or the caller has it.
func (s Schedule) checkMade(v *validation, path, tensor string, i int) {
	at := slices.IndexFunc(s.Ops, func(o Op) bool { return o.Out == tensor })
	switch {
	case at < i:
	case at == i:
		v.add(path, "name a tensor that an earlier operation makes, or one of the caller's",
			"%s is made by this operation", tensor)
	case slices.Contains(s.madeOf(tensor), s.Ops[i].Out):
		v.add(path, "name a tensor that an earlier operation makes, or one of the caller's",
			"%s is made of %s, by Ops[%d]", tensor, s.Ops[i].Out, at)
	default:
		v.add(path, fmt.Sprintf("put this operation behind Ops[%d]", at), "%s is made later, by Ops[%d]", tensor, at)
	}
}

// madeOf lists the tensors from which a tensor is made. On a circle the tensor is among them.
func (s Schedule) madeOf(tensor string) []string {
	of := []string{}
	for next := []string{tensor}; len(next) > 0; next = next[1:] {
		o, _ := s.Maker(next[0])
		for _, in := range o.Operands() {
			if !slices.Contains(of, in) {
				of, next = append(of, in), append(next, in)
			}
		}
	}
	return of
}
