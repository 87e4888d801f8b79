package mutate

import (
	"fmt"
	"slices"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// programs adds the mutants of the host program: the same mistake on every rank.
func (m *maker) programs() {
	m.bodies(m.program.Body, func(b []hostir.Node) []hostir.Node { return b })
	m.sharedWords()
	m.acknowledgement()
	m.slots()
	m.halves()
}

// bodies mutates the nodes of a body; whole makes the program's body from the mutated one.
func (m *maker) bodies(body []hostir.Node, whole func([]hostir.Node) []hostir.Node) {
	for i, n := range body {
		m.inner(n, func(n hostir.Node) []hostir.Node { return whole(with(body, i, n)) })
		if len(hostir.Streams(n)) == 0 {
			continue
		}
		m.node("drop", n, "", whole(slices.Delete(slices.Clone(body), i, i+1)))
		step, does := n.(hostir.Step)
		if _, signals := step.Signal(); signals {
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
		if does && step.Fused() {
			m.launch(step, func(list ...hostir.Node) []hostir.Node {
				return whole(slices.Concat(body[:i], list,
					body[i+1:]))
			})
		}
		if x, multiplies := step.Do.(hostir.Product); does && multiplies {
			m.node("in place", n, "", whole(slices.Concat(body[:i], inPlace(step, x), body[i+1:])))
		}
	}
}

// inner mutates the nodes within a node; whole makes the program's body from the mutated node.
func (m *maker) inner(n hostir.Node, whole func(hostir.Node) []hostir.Node) {
	for which, body := range hostir.Bodies(n) {
		m.bodies(body, func(b []hostir.Node) []hostir.Node {
			at := -1
			return whole(n.With(hostir.Parts{Body: func(old []hostir.Node) []hostir.Node {
				if at++; at == which {
					return b
				}
				return old
			}}))
		})
	}
	if l, ok := n.(hostir.For); ok {
		first, last := l, l
		first.From, last.To = hostir.Add(l.From, hostir.Const(1)), hostir.Sub(l.To, hostir.Const(1))
		m.node("shorten a loop", n, " from "+first.From.String(), whole(first))
		m.node("shorten a loop", n, " to "+last.To.String(), whole(last))
	}
}

func with(body []hostir.Node, i int, n hostir.Node) []hostir.Node {
	c := slices.Clone(body)
	c[i] = n
	return c
}

// node adds the mutant with another body.
func (m *maker) node(kind string, n hostir.Node, what string, body []hostir.Node) {
	m.body(kind, m.describe(n)+what, body)
}

func (m *maker) body(kind, what string, body []hostir.Node) {
	p := *m.program
	p.Body = body
	m.add(kind, what, func(d int) ([][]ops.Op, error) { return unroll(&p, d) })
}

// describe is the node as the program prints it.
func (m *maker) describe(n hostir.Node) string {
	line, _, _ := strings.Cut(hostir.PrintNode(n), "#")
	return strings.Join(strings.Fields(line), " ")
}

// variant is a variant of a node.
type variant struct {
	kind, text string
	node       hostir.Node
}

// adder adds a variant.
type adder func(kind, text string, n hostir.Node)

func (m *maker) variants(n hostir.Node) []variant {
	var list []variant
	var add adder = func(kind, text string, n hostir.Node) { list = append(list, variant{kind, " " + text, n}) }
	switch n := n.(type) {
	case hostir.Synchronize:
		synchronize(n, add)
	case hostir.Step:
		for _, s := range m.others(n.Stream) {
			add("other stream", "on "+s.String(), hostir.On(n, s))
		}
		m.words(n, add)
		views(n, add)
		finish(n, add)
		switch x := n.Do.(type) {
		case hostir.Sum:
			reduce(n, x, add)
			if n.By == hostir.WidenKernel {
				c := n
				c.By = hostir.ReduceKernel
				add("drop a cast", "to fp32", c)
			}
		case hostir.Apply:
			if x.To.Buffer != x.X.Buffer {
				add("drop a function", x.Word, hostir.Set(n.Stream, x.To, x.X))
			}
			if last := len(x.Then) - 1; last >= 0 {
				add("drop a function", x.Then[last].Word,
					hostir.Changed(n, func(x *hostir.Apply) { x.Then = x.Then[:last] }))
			}
			if x.Scales.Buffer != "" {
				add("drop the scales", "", hostir.Changed(n, func(x *hostir.Apply) { x.Scales = hostir.View{} }))
			}
		case hostir.Packets:
			if last := len(x.Then.Then) - 1; last >= 0 {
				add("drop a function", x.Then.Then[last].Word,
					hostir.Changed(n, func(x *hostir.Packets) { x.Then.Then = x.Then.Then[:last] }))
				if x.Then.Then[last].Scales.Buffer != "" {
					add("drop the scales", "", hostir.Changed(n, func(x *hostir.Packets) {
						x.Then.Then = slices.Clone(x.Then.Then)
						x.Then.Then[last].Scales = hostir.View{}
					}))
				}
			}
		case hostir.PacketSpread:
			spread(n, x, add)
		case hostir.PacketRows:
			rows(n, x, add)
		case hostir.Call:
			if x.Scales.Buffer != "" {
				add("drop the scales", "", hostir.Changed(n, func(x *hostir.Call) { x.Scales = hostir.View{} }))
			}
		case hostir.Product:
			flip(n, add)
		case hostir.Collective:
			together(n, x, add)
		}
	default:
		m.err = fmt.Errorf("no mutants are known of a %T", n)
	}
	return list
}

// finish leaves out the last function with which a sum ends, and exchanges operands of its functions.
func finish(n hostir.Step, add adder) {
	x := hostir.FinishOf(n.Do)
	with := func(change func(*hostir.Finish)) hostir.Node {
		c := x
		c.Operands = slices.Clone(x.Operands)
		change(&c)
		n := hostir.Changed(n, func(x *hostir.Sum) { x.Finish = c })
		n = hostir.Changed(n, func(x *hostir.Packets) { x.Finish = c })
		n = hostir.Changed(n, func(x *hostir.PacketSpread) { x.Sum.Finish = c })
		return hostir.Changed(n, func(x *hostir.Scatter) { x.Finish = c })
	}
	if last := len(x.Makes) - 1; last >= 0 {
		add("drop a function", x.Word, with(func(c *hostir.Finish) {
			c.Makes = c.Makes[:last]
			c.Operands = c.Operands[:len(schedule.Operands(c.Nodes()))]
		}))
	}
	for i := range x.Operands {
		for j := range i {
			add("swap operands", fmt.Sprintf("%s and %s", x.Operands[j], x.Operands[i]), with(func(c *hostir.Finish) {
				c.Operands[i], c.Operands[j] = c.Operands[j], c.Operands[i]
			}))
		}
	}
}

// together replaces a collective by another one, or changes its views.
func together(n hostir.Step, x hostir.Collective, add adder) {
	with := func(kind, text string, change func(*hostir.Collective)) {
		c, other := n, x
		change(&other)
		c.Do = other
		add(kind, text, c)
	}
	if x.Does == hostir.Exchange {
		withAnother(with)
		return
	}
	for _, do := range []hostir.Kind{hostir.AllGather, hostir.ReduceScatter, hostir.AllReduce, hostir.AllToAll} {
		if do != x.Does {
			with("another collective", do.Title(), func(c *hostir.Collective) { c.Does = do })
		}
	}
}

// withAnother is an exchange with ranks of another rail, or of another host, at one end or at both.
func withAnother(with func(kind, text string, change func(*hostir.Collective))) {
	for _, x := range []struct {
		what string
		to   func(hostir.Expr) hostir.Expr
	}{
		{"of the next rail", following},
		{"of the next host", func(e hostir.Expr) hostir.Expr {
			return hostir.Mod(hostir.Add(e, hostir.PerHost), hostir.Size)
		}},
	} {
		const kind = "exchange with another"
		with(kind, "sends to the rank "+x.what, func(c *hostir.Collective) { c.Target = x.to(c.Target) })
		with(kind, "gets from the rank "+x.what, func(c *hostir.Collective) { c.Source = x.to(c.Source) })
		with(kind, "both with the ranks "+x.what, func(c *hostir.Collective) {
			c.Target, c.Source = x.to(c.Target), x.to(c.Source)
		})
	}
}

// synchronize leaves one stream out, or reverses the wait.
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

// words points each word of a step at another peer, member or semaphore.
func (m *maker) words(n hostir.Step, add adder) {
	for which, own := range n.Words() {
		change := func(f func(*hostir.Word)) hostir.Node {
			at := -1
			return n.With(hostir.Parts{Word: func(w hostir.Word) hostir.Word {
				if at++; at == which {
					f(&w)
				}
				return w
			}})
		}
		of := ""
		if len(n.Words()) > 1 {
			of = fmt.Sprintf(" of word %d", which+1)
		}
		if !own.Peer.IsZero() {
			peer := following(own.Peer)
			add("shift an index", "peer "+peer.String()+of, change(func(w *hostir.Word) { w.Peer = peer }))
		}
		for _, s := range m.program.Semaphores {
			switch {
			case s.Name != own.Semaphore:
				add("share a word", "as "+s.Name+of, change(func(w *hostir.Word) { w.Semaphore = s.Name }))
			case !s.Count.IsZero():
				member := own.Index
				if member.IsZero() {
					member = hostir.Const(0)
				}
				member = hostir.Mod(hostir.Add(member, hostir.Const(1)), s.Count)
				add("shift an index", "member "+member.String()+of, change(func(w *hostir.Word) { w.Index = member }))
			}
		}
	}
}

// reduce drops, doubles and shortens terms, with their scales, and gives each term the scales of the next one.
func reduce(n hostir.Step, x hostir.Sum, add adder) {
	all := x.Terms
	terms := func(list []hostir.View) hostir.Node {
		c := hostir.Reduce(n.Stream, x.To, list...)
		c.Origin, c.Pre, c.Post, c.By, c.ByBlocks = n.Origin, n.Pre, n.Post, n.By, n.ByBlocks
		return hostir.Changed(c, func(c *hostir.Sum) {
			c.Scales, c.Columns, c.Finish = scalesOf(c.Terms, x), x.Columns, x.Finish
		})
	}
	if last := len(x.Scales) - 1; last >= 0 {
		add("drop the scales", "", hostir.Changed(n, func(x *hostir.Sum) {
			x.Scales, x.Columns = nil, hostir.Expr{}
		}))
		add("swap the scales", "", hostir.Changed(n, func(x *hostir.Sum) {
			x.Scales = append([]hostir.View{x.Scales[last]}, x.Scales[:last]...)
		}))
	}
	for i, t := range all {
		name := fmt.Sprintf("%d", i+1)
		if len(all) > 1 {
			add("drop a term", name, terms(slices.Delete(slices.Clone(all), i, i+1)))
		}
		add("double a term", name, terms(slices.Insert(slices.Clone(all), i, t)))
		if t.Each.Index == "" {
			continue
		}
		first, last := t, t
		first.Each.From, last.Each.To = hostir.Add(t.Each.From, hostir.Const(1)), hostir.Sub(t.Each.To, hostir.Const(1))
		for _, c := range []hostir.View{first, last} {
			list := slices.Clone(all)
			list[i] = c
			add("drop a term", fmt.Sprintf("of %s: from %s to %s", name, c.Each.From, c.Each.To), terms(list))
		}
	}
}

// scalesOf are the scales of some of a sum's terms, if they have scales.
func scalesOf(terms []hostir.View, x hostir.Sum) (list []hostir.View) {
	for _, t := range terms {
		for i, scales := range x.Scales {
			if of := x.Terms[i]; of.Buffer == t.Buffer && (of.Each.Index == "") == (t.Each.Index == "") {
				scales.Each = t.Each
				list = append(list, scales)
				break
			}
		}
	}
	return list
}

// flip inverts whether a product adds to its result, and leaves out the function of each element, those behind it, the
// scales and the bias; or it exchanges the two scales.
func flip(n hostir.Step, add adder) {
	x := n.Do.(hostir.Product)
	add("accumulate or not", fmt.Sprint(!x.Accumulate), hostir.Changed(n, func(x *hostir.Product) {
		x.Accumulate = !x.Accumulate
	}))
	if x.Func != "" {
		add("drop the function", x.Func, n.Then(""))
	}
	if len(x.Then.Makes) > 0 {
		add("drop the functions behind", x.Then.Word, hostir.Changed(n, func(x *hostir.Product) {
			x.Then = hostir.Apply{}
		}))
	}
	if x.Scaled() {
		add("drop the scales", "", hostir.Changed(n, func(x *hostir.Product) {
			x.ScaleA, x.ScaleB = hostir.View{}, hostir.View{}
		}))
		add("swap the scales", "", hostir.Changed(n, func(x *hostir.Product) {
			x.ScaleA, x.ScaleB = x.ScaleB, x.ScaleA
		}))
	}
	if x.Scaled() && !x.Narrow() {
		add("drop the blocks", fmt.Sprint(!x.InBlocks), hostir.Changed(n, func(x *hostir.Product) {
			x.InBlocks = !x.InBlocks
		}))
	}
	if x.Bias.Buffer != "" {
		add("drop the bias", "", hostir.Changed(n, func(x *hostir.Product) { x.Bias = hostir.View{} }))
	}
}

// inPlace copies a product's operand to the place of its result, and multiplies there.
func inPlace(n hostir.Step, x hostir.Product) []hostir.Node {
	early := hostir.Set(n.Stream, x.To, x.A)
	return []hostir.Node{early, hostir.Changed(n, func(x *hostir.Product) { x.A = x.To })}
}
