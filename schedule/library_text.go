package schedule

import (
	"fmt"
	"slices"
)

// InLibrary is the name of the library's function that has this tree, and the details that its operands don't show:
// "rmsnorm" and "epsilon 1e-06". The name is empty for other trees.
func (e Expr) InLibrary() (name string, more []string) {
	var in []string
	for _, o := range Operands(Nodes(e)) {
		in = append(in, o.Tensor)
	}
	for _, c := range library {
		if c.Operands == len(in) {
			if more, is := e.as(c.Of(in...).Is); is {
				return c.Word(), more
			}
		}
	}
	return "", nil
}

// Constructor is the constructor of the library that makes the function, apart from its epsilon, and the tensors that
// it takes.
func (f Func) Constructor() (c Constructor, of []string, ok bool) {
	of = f.Reads()
	for _, c := range library {
		if c.Operands == len(of) && c.Word() == f.Word && Key(Nodes(c.Of(of...).Is)) == Key(Nodes(f.Is)) {
			return c, of, true
		}
	}
	return c, nil, false
}

// as reports whether the tree is the given tree of the library, apart from the width of heads and an epsilon, which it
// returns.
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

// key is a text of all fields of a node but its operands.
func (e Expr) key() string { return Node{Expr: e}.key(e.Tensor) }
