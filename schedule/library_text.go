package schedule

import (
	"fmt"
	"slices"
)

// InLibrary is the name of the function of the library that a tree is, and what its operands don't say: "rmsnorm" and
// "epsilon 1e-06". Of another tree the name is empty.
func (e Expr) InLibrary() (name string, more []string) {
	var in []string
	for _, o := range Operands(Nodes(e)) {
		in = append(in, o.Tensor)
	}
	for _, kind := range Functions() {
		if x := library[kind]; x.operands == len(in) {
			if more, is := e.as(x.tree(in)); is {
				return string(kind), more
			}
		}
	}
	return "", nil
}

// as says that the tree is one of the library, but for the width of heads and an epsilon of its own, which it returns.
func (e Expr) as(of Expr) (more []string, is bool) {
	switch {
	case of.Do == DoParam && e.Do == DoNumber:
		return []string{fmt.Sprintf("epsilon %g", e.Number)}, true
	case does[e.Do].heads && of.Group == "" && e.Group != "":
		more, e.Group = []string{"heads of " + string(e.Group)}, ""
	}
	list, all := e.Of, len(e.Of) == len(of.Of)
	one, other := e, of
	one.Of, other.Of = nil, nil
	for i := 0; all && i < len(list); i++ {
		below, is := list[i].as(of.Of[i])
		all = is
		for _, x := range below {
			if !slices.Contains(more, x) {
				more = append(more, x)
			}
		}
	}
	return more, all && one.key() == other.key()
}

// key says all of a node but what it is of.
func (e Expr) key() string { return Node{Expr: e}.key(e.Tensor) }
