package emit

import (
	"github.com/dave/jennifer/jen"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// signal is a post or a wait.
func (b *body) signal(call string, kernel bool, s hostir.StreamRef, semaphore string, index, peer hostir.Expr) jen.Code {
	args := []jen.Code{b.stream(s), b.semaphore(semaphore, index)}
	if !peer.IsZero() {
		args = append(args, b.expr(peer))
	}
	return b.call(call, kernel, args)
}

// semaphore is an expression for one semaphore.
func (b *body) semaphore(name string, index hostir.Expr) jen.Code {
	field := jen.Id("p").Dot(unexported(name))
	s, ok := b.unit.semaphore(name)
	switch {
	case !ok:
		b.fail("the program has no semaphore %q", name)
	case s.Count.IsZero():
	case index.IsZero():
		field.Index(jen.Lit(0))
	default:
		field.Index(b.expr(index))
	}
	return field
}

// semaphore returns what the program declares under a name.
func (u *unit) semaphore(name string) (hostir.Semaphore, bool) {
	for _, s := range u.program.Semaphores {
		if s.Name == name {
			return s, true
		}
	}
	return hostir.Semaphore{}, false
}

// set is a copy.
func (b *body) set(n hostir.Set) jen.Code {
	of := n.Dst
	if !b.unit.counted(of) && b.unit.counted(n.Src) {
		of = n.Src
	}
	return b.call("Set", n.Kernel, []jen.Code{b.stream(n.Stream), b.address(n.Dst), b.address(n.Src), b.bytes(of)})
}

// call is a call of the queue, or of the kernel that does the same.
func (b *body) call(name string, kernel bool, args []jen.Code) jen.Code {
	if kernel {
		return b.kernel(unexported(name), args...)
	}
	return jen.Id("q").Dot(name).Call(args...)
}

// kernel launches an emitted kernel.
func (b *body) kernel(name string, args ...jen.Code) jen.Code {
	return jen.Id("p").Dot("kernels").Dot(name).Call(append([]jen.Code{jen.Id("q")}, args...)...)
}

// share is an exchange of handles in the loop. Whoever copies needs the memory of the
// side that does not: under get what is sent, under put where it is received.
func (b *body) share(n hostir.ShareMemHandles) []jen.Code {
	if n.Send == nil || n.Recv == nil {
		return nil // of whole buffers: Bind has done it
	}
	buffer, to, from := shared(n), n.Send.Peer, n.Recv.Peer
	if n.Send.Protocol == schedule.Put {
		to, from = from, to
	}
	return []jen.Code{jen.Id("q").Dot("Share").Call(jen.Id("p").Dot(unexported(buffer)), b.expr(to), b.expr(from))}
}

// shared is the buffer whose handles an exchange in the loop is about.
func shared(n hostir.ShareMemHandles) string {
	if n.Send.Protocol == schedule.Put {
		return n.Recv.Buffer.Buffer
	}
	return n.Send.Buffer.Buffer
}

// product is a Matmul, a Linear or a Gradient.
func (b *body) product(n hostir.Node) jen.Code {
	x, _ := productOf(n)
	field, err := b.unit.gemmOf(x)
	if err != nil {
		b.fail("%w", err)
	}
	args := []jen.Code{b.stream(x.stream), jen.Id("p").Dot(field), b.address(x.c), b.address(x.a), b.address(x.b)}
	switch {
	case x.bias.Buffer != "":
		args = append(args, b.address(x.bias))
	case x.call == "Linear":
		args = append(args, jen.Qual(planPath, "NoBias"))
	}
	return jen.Id("q").Dot(x.call).Call(args...)
}

// reduce is a sum by a kernel.
func (b *body) reduce(n hostir.Reduce) []jen.Code {
	code, terms := b.terms(n.Terms)
	args := []jen.Code{b.stream(n.Stream), b.address(n.Dst), b.bytes(n.Dst)}
	return append(code, b.kernel("reduce", append(args, terms...)...))
}

// terms are the arguments of a sum; those over an index are collected by a loop ahead
// of it, in a list that the plan keeps so that no run allocates.
func (b *body) terms(list []hostir.Terms) (before, args []jen.Code) {
	over := false
	for _, t := range list {
		over = over || t.Index != ""
	}
	if !over {
		for _, t := range list {
			args = append(args, b.address(t.View))
		}
		return nil, args
	}
	b.unit.terms = true
	field := func() *jen.Statement { return jen.Id("p").Dot("terms") }
	to := field().Index(jen.Op(":").Lit(0))
	for _, t := range list {
		add := func() []jen.Code {
			code := field().Op("=").Append(to, b.address(t.View))
			to = field()
			return []jen.Code{code}
		}
		if t.Index == "" {
			before = append(before, add()...)
			continue
		}
		if len(before) == 0 {
			before = append(before, field().Op("=").Add(to))
			to = field()
		}
		before = append(before, b.loop(t.Index, t.From, t.To, add)...)
	}
	return before, []jen.Code{field().Op("...")}
}

// What a kernel does in one launch, in this order: each once, and all but the work only
// where there is something to signal.
const (
	opens = iota
	waits
	work
	posts
	closes
	places
)

// launch is one kernel that signals around a copy or a sum.
func (b *body) launch(n hostir.LaunchKernel) []jen.Code {
	var before, terms []jen.Code
	args := b.unsignalled(n.Name)
	last := -1
	for _, inner := range n.Body {
		place := placeOf(inner, last >= work)
		if place <= last || place != work && args[place] == nil {
			b.fail("kernel %s can't do node %T there: it does a wait, a copy and a post, or a post, a wait, a sum, a post and a wait", n.Name, inner)
			return nil
		}
		last = place
		switch x := inner.(type) {
		case hostir.Post:
			args[place] = b.around(n.Name, b.semaphore(x.Semaphore, x.Index), x.Peer)
		case hostir.Wait:
			args[place] = b.around(n.Name, b.semaphore(x.Semaphore, x.Index), x.Peer)
		case hostir.Set:
			args[place] = []jen.Code{b.address(x.Dst), b.address(x.Src), b.bytes(x.Dst)}
		case hostir.Reduce:
			before, terms = b.terms(x.Terms)
			args[place] = []jen.Code{b.address(x.Dst), b.bytes(x.Dst)}
		}
	}
	if args[work] == nil {
		b.fail("kernel %s has nothing to copy or to add", n.Name)
	}
	call := []jen.Code{b.stream(n.Stream)}
	for _, list := range append(args[:], terms) {
		call = append(call, list...)
	}
	return append(before, b.kernel(n.Name, call...))
}

// placeOf is the place of a node of a launch, ahead of the work or behind it; of one that
// no kernel does, -1.
func placeOf(n hostir.Node, behind bool) int {
	switch n.(type) {
	case hostir.Post:
		if behind {
			return posts
		}
		return opens
	case hostir.Wait:
		if behind {
			return closes
		}
		return waits
	case hostir.Set, hostir.Reduce:
		return work
	}
	return -1
}

// unsignalled are the arguments of a kernel that signals nothing, nil where it can't.
func (b *body) unsignalled(kernel string) (args [places][]jen.Code) {
	none := b.around(kernel, jen.Nil(), hostir.Expr{})
	args[waits], args[posts] = none, none
	if kernel == shotKernel {
		args[opens], args[closes] = none, none
	}
	return args
}

// around are the arguments for one signal of a kernel: shot's are to every peer.
func (b *body) around(kernel string, semaphore jen.Code, peer hostir.Expr) []jen.Code {
	switch {
	case kernel != shotKernel && peer.IsZero():
		return []jen.Code{semaphore, jen.Lit(every)}
	case kernel != shotKernel:
		return []jen.Code{semaphore, b.expr(peer)}
	case !peer.IsZero():
		b.fail("kernel %s signals every peer, not one of them", kernel)
	}
	return []jen.Code{semaphore}
}

// every is the peer of a launch that stands for all.
const every = -1

// address is where a view starts.
func (b *body) address(v hostir.View) jen.Code {
	if v.Alias != "" && b.aliases[v.Alias] {
		b.used[v.Alias] = true
		return jen.Id(v.Alias)
	}
	if b.unit.counted(v) {
		return b.part(v)
	}
	offset := jen.Lit(0)
	if !v.Index.IsZero() && !v.Index.Equal(hostir.Const(0)) {
		offset = b.times(v.Index, b.chunk(v))
	}
	buffer := jen.Id("p").Dot(unexported(v.Buffer))
	if v.Peer.IsZero() {
		return buffer.Dot("At").Call(offset)
	}
	return buffer.Dot("Peer").Call(b.expr(v.Peer), offset)
}

// bytes is the size of a view.
func (b *body) bytes(v hostir.View) jen.Code {
	if v.Padded {
		return jen.Id("p").Dot(unexported(v.Buffer)).Dot("Room").Call()
	}
	if b.unit.counted(v) {
		return b.partOf("Size", v)
	}
	if v.Count.IsZero() {
		return b.chunk(v)
	}
	return b.times(v.Count, b.chunk(v))
}

// counted says that a view is a chunk among others that differ from it.
func (u *unit) counted(v hostir.View) bool {
	x, _ := u.program.Buffer(v.Buffer)
	return !x.Counts.IsZero()
}

// part is where an uneven chunk starts.
func (b *body) part(v hostir.View) jen.Code {
	if !v.Index.IsZero() {
		return b.partOf("Part", v)
	}
	buffer := jen.Id("p").Dot(unexported(v.Buffer))
	if v.Peer.IsZero() {
		return buffer.Dot("At").Call(jen.Lit(0))
	}
	return buffer.Dot("Peer").Call(b.expr(v.Peer), jen.Lit(0))
}

// partOf is the call that finds an uneven chunk: Part, Size, or PeerPart, PeerSize of
// a peer's.
func (b *body) partOf(call string, v hostir.View) jen.Code {
	if !v.Count.IsZero() && !v.Count.Equal(hostir.Const(1)) {
		b.fail("%s has uneven chunks: a view takes one of them", v.Buffer)
	}
	chunk := jen.Lit(0)
	if !v.Index.IsZero() {
		chunk = b.expr(v.Index)
	}
	buffer := jen.Id("p").Dot(unexported(v.Buffer))
	if v.Peer.IsZero() {
		return buffer.Dot(call).Call(chunk)
	}
	return buffer.Dot("Peer"+call).Call(b.expr(v.Peer), chunk)
}

// chunk is the field with the size that a view counts in.
func (b *body) chunk(v hostir.View) *jen.Statement {
	field, err := b.unit.chunk(v)
	if err != nil {
		b.fail("%w", err)
	}
	return jen.Id("p").Dot(field)
}

// times is a number of chunks in bytes.
func (b *body) times(count hostir.Expr, chunk *jen.Statement) *jen.Statement {
	if n, err := count.Eval(nil); err == nil {
		if n == 1 {
			return chunk
		}
		return jen.Lit(int(n)).Op("*").Add(chunk)
	}
	return jen.Int64().Call(b.expr(count)).Op("*").Add(chunk)
}
