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
	m.bodies(m.program.Body, func(b []hostir.Node) []hostir.Node { return b })
	m.sharedWords()
	m.acknowledgement()
	m.slots()
}

// expanded is a program in which every exchange and collective is spelled out, so that
// mistakes can be made in their parts.
func expanded(p *hostir.Program) *hostir.Program {
	c := *p
	c.Body = hostir.Map(p.Body, hostir.Expand)
	return &c
}

// bodies mutates the nodes of a body; whole makes the program's body of it.
func (m *maker) bodies(body []hostir.Node, whole func([]hostir.Node) []hostir.Node) {
	for i, n := range body {
		m.inner(n, func(n hostir.Node) []hostir.Node { return whole(with(body, i, n)) })
		if len(hostir.Streams(n)) == 0 {
			continue
		}
		m.node("drop", n, "", whole(slices.Delete(slices.Clone(body), i, i+1)))
		if semaphore(n) != "" {
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
		if both := inPlace(n); both != nil {
			m.node("in place", n, "", whole(slices.Concat(body[:i], both, body[i+1:])))
		}
	}
}

// inner mutates what is in a node; whole makes the program's body of the node.
func (m *maker) inner(n hostir.Node, whole func(hostir.Node) []hostir.Node) {
	switch n := n.(type) {
	case hostir.For:
		m.bodies(n.Body, func(b []hostir.Node) []hostir.Node { c := n; c.Body = b; return whole(c) })
		first, last := n, n
		first.From, last.To = hostir.Add(n.From, hostir.Const(1)), hostir.Sub(n.To, hostir.Const(1))
		m.node("shorten a loop", n, " from "+first.From.String(), whole(first))
		m.node("shorten a loop", n, " to "+last.To.String(), whole(last))
	case hostir.If:
		m.bodies(n.Then, func(b []hostir.Node) []hostir.Node { c := n; c.Then = b; return whole(c) })
		m.bodies(n.Else, func(b []hostir.Node) []hostir.Node { c := n; c.Else = b; return whole(c) })
	case hostir.LaunchKernel:
		m.bodies(n.Body, func(b []hostir.Node) []hostir.Node { c := n; c.Body = b; return whole(c) })
	}
}

func with(body []hostir.Node, i int, n hostir.Node) []hostir.Node {
	c := slices.Clone(body)
	c[i] = n
	return c
}

// node adds the mutant that has another body.
func (m *maker) node(kind string, n hostir.Node, what string, body []hostir.Node) {
	m.body(kind, m.describe(n)+what, body)
}

func (m *maker) body(kind, what string, body []hostir.Node) {
	p := *m.program
	p.Body = body
	m.add(kind, what, func(d int) ([][]ops.Op, error) { return unroll(&p, d) })
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

// adder adds a variant.
type adder func(kind, text string, n hostir.Node)

func (m *maker) variants(n hostir.Node) []variant {
	var list []variant
	var add adder = func(kind, text string, n hostir.Node) { list = append(list, variant{kind, " " + text, n}) }
	if s, ok := n.(hostir.Synchronize); ok {
		synchronize(s, add)
		return list
	}
	for _, set := range m.program.Streams {
		if from := hostir.Streams(n)[0]; set.Name != from.Set && set.Count.IsZero() {
			s := hostir.StreamRef{Set: set.Name}
			add("other stream", "on "+s.String(), hostir.On(n, s))
		}
	}
	m.words(n, add)
	views(n, add)
	if r, ok := n.(hostir.Reduce); ok {
		reduce(r, add)
	}
	flip(n, add)
	return list
}

// synchronize leaves one stream out, or turns the wait round.
func synchronize(n hostir.Synchronize, add adder) {
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
}

// words points a post or wait at another peer, member or semaphore.
func (m *maker) words(n hostir.Node, add adder) {
	own := semaphore(n)
	if own == "" {
		return
	}
	shifted := ""
	c := withWords(n, func(w words) words {
		if !w.peer.IsZero() {
			w.peer = following(w.peer)
			shifted = w.peer.String()
		}
		return w
	})
	if shifted != "" {
		add("shift an index", "peer "+shifted, c)
	}
	for _, s := range m.program.Semaphores {
		switch {
		case s.Name != own:
			add("share a word", "as "+s.Name, withWords(n, func(w words) words { w.semaphore = s.Name; return w }))
		case !s.Count.IsZero():
			member := ""
			c := withWords(n, func(w words) words {
				if w.index.IsZero() {
					w.index = hostir.Const(0)
				}
				w.index = hostir.Mod(hostir.Add(w.index, hostir.Const(1)), s.Count)
				member = w.index.String()
				return w
			})
			add("shift an index", "member "+member, c)
		}
	}
}

// reduce drops, doubles and shortens terms.
func reduce(n hostir.Reduce, add adder) {
	terms := func(list []hostir.Terms) hostir.Node { c := n; c.Terms = list; return c }
	for i, t := range n.Terms {
		name := fmt.Sprintf("%d", i+1)
		if len(n.Terms) > 1 {
			add("drop a term", name, terms(slices.Delete(slices.Clone(n.Terms), i, i+1)))
		}
		add("double a term", name, terms(slices.Insert(slices.Clone(n.Terms), i, t)))
		if t.Index == "" {
			continue
		}
		first, last := t, t
		first.From, last.To = hostir.Add(t.From, hostir.Const(1)), hostir.Sub(t.To, hostir.Const(1))
		for _, c := range []hostir.Terms{first, last} {
			list := slices.Clone(n.Terms)
			list[i] = c
			add("drop a term", fmt.Sprintf("of %s: from %s to %s", name, c.From, c.To), terms(list))
		}
	}
}

// flip adds to a result or does not, and leaves out or adds GELU and bias.
func flip(n hostir.Node, add adder) {
	switch n := n.(type) {
	case hostir.Matmul:
		n.Accumulate = !n.Accumulate
		add("accumulate or not", fmt.Sprint(n.Accumulate), n)
	case hostir.Gradient:
		n.Accumulate = !n.Accumulate
		add("accumulate or not", fmt.Sprint(n.Accumulate), n)
	case hostir.Linear:
		more, gelu, bias := n, n, n
		more.Accumulate, gelu.Gelu, bias.Bias = !n.Accumulate, !n.Gelu, hostir.View{}
		add("accumulate or not", fmt.Sprint(more.Accumulate), more)
		if n.Gelu {
			add("drop GELU", "", gelu)
		}
		add("drop the bias", "", bias)
	}
}

// inPlace copies a product's operand to where its result goes, and multiplies there;
// nil for nodes that are no products.
func inPlace(n hostir.Node) []hostir.Node {
	switch n := n.(type) {
	case hostir.Matmul:
		ahead := hostir.Set{Stream: n.Stream, Dst: n.C, Src: n.A}
		n.A = n.C
		return []hostir.Node{ahead, n}
	case hostir.Linear:
		ahead := hostir.Set{Stream: n.Stream, Dst: n.C, Src: n.A}
		n.A = n.C
		return []hostir.Node{ahead, n}
	case hostir.Gradient:
		ahead := hostir.Set{Stream: n.Stream, Dst: n.C, Src: n.A}
		n.A = n.C
		return []hostir.Node{ahead, n}
	}
	return nil
}

// sharedWords uses one semaphore for two.
func (m *maker) sharedWords() {
	names := m.program.SemaphoreNames()
	for i, keep := range names {
		for _, drop := range names[i+1:] {
			m.body("share a word", keep+" is "+drop+" too", hostir.Map(m.program.Body, func(n hostir.Node) []hostir.Node {
				return []hostir.Node{withWords(n, func(w words) words {
					if w.semaphore == drop {
						w.semaphore = keep
					}
					return w
				})}
			}))
		}
	}
}

// acknowledgement leaves all use of one semaphore out.
func (m *maker) acknowledgement() {
	for _, name := range m.program.SemaphoreNames() {
		m.body("drop the acknowledgement", name, hostir.Map(m.program.Body, func(n hostir.Node) []hostir.Node {
			if semaphore(n) == name {
				return nil
			}
			return []hostir.Node{n}
		}))
	}
}

// slots gives all steps one slice of a buffer of the plan.
func (m *maker) slots() {
	for _, b := range m.program.Buffers {
		if b.Owner != hostir.Plan {
			continue
		}
		m.body("reuse a buffer early", "one slice of "+b.Name+" for all steps", hostir.Map(m.program.Body, func(n hostir.Node) []hostir.Node {
			return []hostir.Node{hostir.MapViews(n, func(_ string, v hostir.View) hostir.View {
				if v.Buffer == b.Name && !v.Index.IsZero() {
					v.Index = hostir.Const(0)
				}
				return v
			})}
		}))
	}
}
