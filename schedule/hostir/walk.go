package hostir

import "slices"

// Map rebuilds a list of nodes: f returns the replacement of a node, after the node's bodies have been rebuilt.
func Map(nodes []Node, f func(Node) []Node) []Node {
	var out []Node
	for _, n := range nodes {
		out = append(out, f(n.With(Parts{Body: func(b []Node) []Node { return Map(b, f) }}))...)
	}
	return out
}

// MapSteps rebuilds the steps of a list of nodes.
func MapSteps(nodes []Node, f func(Step) []Node) []Node {
	return Map(nodes, func(n Node) []Node {
		if s, ok := n.(Step); ok {
			return f(s)
		}
		return []Node{n}
	})
}

// ChangeSteps rebuilds the steps of a list of nodes, each as one.
func ChangeSteps(nodes []Node, change func(Step) Step) []Node {
	return MapSteps(nodes, func(s Step) []Node { return []Node{change(s)} })
}

// Rewrite rewrites the parts of all nodes; p.Body is not used.
func Rewrite(nodes []Node, p Parts) []Node {
	p.Body = nil
	return Map(nodes, func(n Node) []Node { return []Node{n.With(p)} })
}

// Walk calls f for each node, outer nodes first.
func Walk(nodes []Node, f func(Node)) {
	for _, n := range nodes {
		f(n)
		for _, b := range Bodies(n) {
			Walk(b, f)
		}
	}
}

// Steps calls f for each step.
func Steps(nodes []Node, f func(Step)) {
	Walk(nodes, func(n Node) {
		if s, ok := n.(Step); ok {
			f(s)
		}
	})
}

// Bodies are the lists of nodes in a node. Most nodes are steps, which have none.
func Bodies(n Node) (list [][]Node) {
	if _, step := n.(Step); step {
		return nil
	}
	n.With(Parts{Body: func(b []Node) []Node { list = append(list, b); return b }})
	return list
}

// Streams are the streams that a node itself names; there are none for nodes that enqueue nothing.
func Streams(n Node) (list []StreamRef) {
	n.With(Parts{Stream: func(s StreamRef) StreamRef { list = append(list, s); return s }})
	return list
}

// Exprs calls f for each expression of a node itself, with its purpose.
func Exprs(n Node, f func(what string, e Expr)) {
	n.With(Parts{Expr: func(what string, e Expr) Expr { f(what, e); return e }})
}

// On puts the steps of a node and of its bodies on a stream. Other nodes name their streams, or enqueue nothing.
func On(n Node, s StreamRef) Node {
	if step, ok := n.(Step); ok {
		step.Stream = s
		return step
	}
	return n.With(Parts{Body: func(b []Node) []Node { return AllOn(b, s) }})
}

// AllOn puts nodes on a stream.
func AllOn(nodes []Node, s StreamRef) []Node {
	var list []Node
	for _, n := range nodes {
		list = append(list, On(n, s))
	}
	return list
}

// Written names the buffers that a run of the program writes, on any rank.
func (p *Program) Written() map[string]bool {
	list := map[string]bool{}
	Steps(p.Body, func(s Step) {
		_, writes := s.Views()
		for _, v := range writes {
			list[v.Buffer] = true
		}
	})
	return list
}

// Without leaves out all words of a semaphore, and steps that have no other part.
func Without(nodes []Node, semaphore string) []Node {
	drop := func(w Word) bool { return w.Semaphore == semaphore }
	return MapSteps(nodes, func(s Step) []Node {
		s.Pre, s.Post = slices.DeleteFunc(slices.Clone(s.Pre), drop), slices.DeleteFunc(slices.Clone(s.Post), drop)
		if s.Do == Nothing && len(s.Pre)+len(s.Post) == 0 {
			return nil
		}
		return []Node{s}
	})
}
