package hostir

// Written names the buffers that a run of the program writes, on whichever rank.
func (p *Program) Written() map[string]bool {
	list := map[string]bool{}
	Walk(Map(p.Body, Expand), func(n Node) {
		if v, ok := result(n); ok {
			list[v.Buffer] = true
		}
	})
	return list
}

// result is what a node writes, of those that an expanded program consists of.
func result(n Node) (View, bool) {
	switch n := n.(type) {
	case Set:
		return n.Dst, true
	case Matmul:
		return n.C, true
	case Linear:
		return n.C, true
	case Gradient:
		return n.C, true
	case Reduce:
		return n.Dst, true
	}
	return View{}, false
}
