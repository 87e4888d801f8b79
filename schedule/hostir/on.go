package hostir

// On puts a node on a stream, and with a For, an If or a LaunchKernel what it holds; nodes
// that enqueue nothing, or name streams of their own, stay as they are.
func On(n Node, s StreamRef) Node {
	switch n := n.(type) {
	case Post:
		n.Stream = s
		return n
	case Wait:
		n.Stream = s
		return n
	case Set:
		n.Stream = s
		return n
	case Matmul:
		n.Stream = s
		return n
	case Linear:
		n.Stream = s
		return n
	case Gradient:
		n.Stream = s
		return n
	case Reduce:
		n.Stream = s
		return n
	case Communication:
		n.Stream = s
		return n
	case For:
		n.Body = AllOn(n.Body, s)
		return n
	case If:
		n.Then, n.Else = AllOn(n.Then, s), AllOn(n.Else, s)
		return n
	case LaunchKernel:
		n.Stream, n.Body = s, AllOn(n.Body, s)
		return n
	case Let, Allocate, GetCurrentStream, ShareMemHandles, Select, Synchronize:
		return n
	}
	panic(unknown("stream", n))
}

// AllOn puts nodes on a stream.
func AllOn(nodes []Node, s StreamRef) []Node {
	var list []Node
	for _, n := range nodes {
		list = append(list, On(n, s))
	}
	return list
}
