package mutate

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// programs adds the mutants of the host program: the same mistake on every rank.
func (m *maker) programs() {
	body := m.program.Body
	m.bodies(body, func(b []hostir.Node) []hostir.Node { return b })
	m.sharedWords()
	m.acknowledgement()
	m.slots()
}

// bodies mutates the nodes of a body; whole makes the program's body of it.
func (m *maker) bodies(body []hostir.Node, whole func([]hostir.Node) []hostir.Node) {
	for i, n := range body {
		if loop, ok := n.(hostir.For); ok {
			m.bodies(loop.Body, func(b []hostir.Node) []hostir.Node {
				changed := loop
				changed.Body = b
				return whole(with(body, i, changed))
			})
		}
		if branch, ok := n.(hostir.If); ok {
			m.bodies(branch.Else, func(b []hostir.Node) []hostir.Node {
				changed := branch
				changed.Else = b
				return whole(with(body, i, changed))
			})
		}
		if len(hostir.Streams(n)) == 0 {
			continue
		}
		m.node("drop", n, "", whole(slices.Delete(slices.Clone(body), i, i+1)))
		switch n.(type) {
		case hostir.Post, hostir.Wait:
			m.node("double", n, "", whole(slices.Insert(slices.Clone(body), i, n)))
		}
		for j := range body {
			if j != i {
				moved := slices.Insert(slices.Delete(slices.Clone(body), i, i+1), j, n)
				m.node("move", n, fmt.Sprintf(" from place %d to %d", i+1, j+1), whole(moved))
			}
		}
		for _, v := range m.variants(n) {
			m.node(v.kind, n, v.text, whole(with(body, i, v.node)))
		}
	}
}

func with(body []hostir.Node, i int, n hostir.Node) []hostir.Node {
	c := slices.Clone(body)
	c[i] = n
	return c
}

// node adds the mutant that has another body.
func (m *maker) node(kind string, n hostir.Node, what string, body []hostir.Node) {
	p := *m.program
	p.Body = body
	m.add(kind, m.describe(n)+what, func(d int) ([][]ops.Op, error) { return unroll(&p, d) })
}

// describe is the node as the program is printed.
func (m *maker) describe(n hostir.Node) string {
	p := *m.program
	p.Setup, p.Body = nil, []hostir.Node{n}
	line, _, _ := strings.Cut(hostir.Print(&p), "#")
	return strings.Join(strings.Fields(line), " ")
}

// variant of a node.
type variant struct {
	kind, text string
	node       hostir.Node
}

func (m *maker) variants(n hostir.Node) []variant {
	var list []variant
	add := func(kind, text string, n hostir.Node) { list = append(list, variant{kind, " " + text, n}) }
	switch n := n.(type) {
	case hostir.Synchronize:
		for i, s := range n.Streams {
			if len(n.Streams) > 1 {
				c := n
				c.Streams = slices.Delete(slices.Clone(n.Streams), i, i+1)
				add("drop a fork", "of "+s.String(), c)
			}
		}
		for i, s := range n.On {
			if len(n.On) > 1 {
				c := n
				c.On = slices.Delete(slices.Clone(n.On), i, i+1)
				add("drop a join", "of "+s.String(), c)
			}
		}
		c := n
		c.Streams, c.On = n.On, n.Streams
		add("turn round", "", c)
	case hostir.Post:
		m.signal(n.Stream, func(s hostir.StreamRef) hostir.Node { n.Stream = s; return n }, add)
		shift(n.Peer, "peer", func(e hostir.Expr) hostir.Node { n.Peer = e; return n }, add)
		for _, other := range m.program.SemaphoreNames() {
			if other != n.Semaphore {
				c := n
				c.Semaphore = other
				add("share a word", "as "+other, c)
			}
		}
	case hostir.Wait:
		m.signal(n.Stream, func(s hostir.StreamRef) hostir.Node { n.Stream = s; return n }, add)
		shift(n.Peer, "peer", func(e hostir.Expr) hostir.Node { n.Peer = e; return n }, add)
		for _, other := range m.program.SemaphoreNames() {
			if other != n.Semaphore {
				c := n
				c.Semaphore = other
				add("share a word", "as "+other, c)
			}
		}
	case hostir.Set:
		m.signal(n.Stream, func(s hostir.StreamRef) hostir.Node { n.Stream = s; return n }, add)
		shift(n.Dst.Index, "destination", func(e hostir.Expr) hostir.Node { n.Dst.Index = e; return n }, add)
		shift(n.Src.Peer, "source", func(e hostir.Expr) hostir.Node { n.Src.Peer = e; return n }, add)
	case hostir.Matmul:
		m.signal(n.Stream, func(s hostir.StreamRef) hostir.Node { n.Stream = s; return n }, add)
		shift(n.C.Index, "result", func(e hostir.Expr) hostir.Node { n.C.Index = e; return n }, add)
		shift(n.A.Index, "operand", func(e hostir.Expr) hostir.Node { n.A.Index = e; return n }, add)
	case hostir.Linear:
		m.signal(n.Stream, func(s hostir.StreamRef) hostir.Node { n.Stream = s; return n }, add)
		shift(n.C.Index, "result", func(e hostir.Expr) hostir.Node { n.C.Index = e; return n }, add)
		shift(n.A.Index, "operand", func(e hostir.Expr) hostir.Node { n.A.Index = e; return n }, add)
	}
	return list
}

// signal puts a node on each other single stream.
func (m *maker) signal(from hostir.StreamRef, on func(hostir.StreamRef) hostir.Node, add func(kind, text string, n hostir.Node)) {
	for _, set := range m.program.Streams {
		if set.Name != from.Set && set.Count.IsZero() {
			s := hostir.StreamRef{Set: set.Name}
			add("other stream", "on "+s.String(), on(s))
		}
	}
}

// shift moves an index on by one.
func shift(e hostir.Expr, what string, to func(hostir.Expr) hostir.Node, add func(kind, text string, n hostir.Node)) {
	if e.IsZero() {
		return
	}
	next := hostir.Mod(hostir.Add(e, hostir.Const(1)), hostir.Size)
	add("shift an index", what+" "+next.String(), to(next))
}

// sharedWords uses one semaphore for two.
func (m *maker) sharedWords() {
	for i, keep := range m.program.SemaphoreNames() {
		for _, drop := range m.program.SemaphoreNames()[i+1:] {
			p := *m.program
			p.Body = hostir.Map(p.Body, func(n hostir.Node) []hostir.Node {
				switch x := n.(type) {
				case hostir.Post:
					if x.Semaphore == drop {
						x.Semaphore = keep
					}
					n = x
				case hostir.Wait:
					if x.Semaphore == drop {
						x.Semaphore = keep
					}
					n = x
				}
				return []hostir.Node{n}
			})
			m.add("share a word", keep+" is "+drop+" too", func(d int) ([][]ops.Op, error) { return unroll(&p, d) })
		}
	}
}

// acknowledgement leaves all use of one semaphore out.
func (m *maker) acknowledgement() {
	for _, sem := range m.program.SemaphoreNames() {
		p := *m.program
		p.Body = hostir.Map(p.Body, func(n hostir.Node) []hostir.Node {
			switch x := n.(type) {
			case hostir.Post:
				if x.Semaphore == sem {
					return nil
				}
			case hostir.Wait:
				if x.Semaphore == sem {
					return nil
				}
			}
			return []hostir.Node{n}
		})
		m.add("drop the acknowledgement", sem, func(d int) ([][]ops.Op, error) { return unroll(&p, d) })
	}
}

// slots gives all steps one slice of a buffer of the plan.
func (m *maker) slots() {
	for _, b := range m.program.Buffers {
		if b.Owner != hostir.Plan {
			continue
		}
		first := func(v hostir.View) hostir.View {
			if v.Buffer == b.Name && !v.Index.IsZero() {
				v.Index = hostir.Const(0)
			}
			return v
		}
		p := *m.program
		p.Body = hostir.Map(p.Body, func(n hostir.Node) []hostir.Node {
			switch x := n.(type) {
			case hostir.Set:
				x.Dst, x.Src = first(x.Dst), first(x.Src)
				n = x
			case hostir.Matmul:
				x.A = first(x.A)
				n = x
			case hostir.Linear:
				x.A = first(x.A)
				n = x
			}
			return []hostir.Node{n}
		})
		m.add("reuse a buffer early", "one slice of "+b.Name+" for all steps", func(d int) ([][]ops.Op, error) { return unroll(&p, d) })
	}
}
