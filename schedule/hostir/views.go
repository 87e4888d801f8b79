package hostir

// MapViews rebuilds a node with other views: f is given each view with what it is for the
// node. Exchanges, collectives and names of slices are left as they are.
func MapViews(n Node, f func(role string, v View) View) Node {
	switch n := n.(type) {
	case Set:
		n.Dst, n.Src = f("destination", n.Dst), f("source", n.Src)
		return n
	case Matmul:
		n.C, n.A, n.B = f("result", n.C), f("operand", n.A), f("second operand", n.B)
		return n
	case Linear:
		n.C, n.A, n.B = f("result", n.C), f("operand", n.A), f("second operand", n.B)
		return n
	case Gradient:
		n.C, n.A, n.B = f("result", n.C), f("operand", n.A), f("second operand", n.B)
		return n
	case Reduce:
		n.Dst = f("destination", n.Dst)
		terms := make([]Terms, len(n.Terms))
		for i, t := range n.Terms {
			t.View = f("term", t.View)
			terms[i] = t
		}
		n.Terms = terms
		return n
	}
	return n
}
