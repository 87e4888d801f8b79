package emit

import (
	"github.com/dave/jennifer/jen"

	"ovgen/schedule/hostir"
)

// step is the calls of a step.
func (b *body) step(n hostir.Step) []jen.Code {
	if n.Fused() {
		return b.launch(n)
	}
	switch n.Do {
	case hostir.Copy:
		return []jen.Code{b.copy(n)}
	case hostir.Sum:
		return b.sum(n)
	case hostir.Product:
		return []jen.Code{b.product(n)}
	}
	w, ok := n.Signal()
	if !ok {
		b.fail("no Go is known for %s", hostir.PrintNode(n))
		return nil
	}
	return []jen.Code{b.signal(n, w)}
}

// signal is a post or a wait.
func (b *body) signal(n hostir.Step, w hostir.Word) jen.Code {
	call := "Post"
	if w.Wait {
		call = "Wait"
	}
	args := []jen.Code{b.stream(n.Stream), b.semaphore(w)}
	if !w.Peer.IsZero() {
		args = append(args, b.expr(w.Peer))
	}
	return b.call(call, n.By != "", args)
}

// semaphore is an expression for the semaphore of a word.
func (b *body) semaphore(w hostir.Word) jen.Code {
	field := jen.Id("p").Dot(unexported(w.Semaphore))
	s, ok := b.unit.semaphore(w.Semaphore)
	switch {
	case !ok:
		b.fail("the program has no semaphore %q", w.Semaphore)
	case s.Count.IsZero():
	case w.Index.IsZero():
		field.Index(jen.Lit(0))
	default:
		field.Index(b.expr(w.Index))
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

// copy is a copy.
func (b *body) copy(n hostir.Step) jen.Code {
	dst, src := n.Writes[0], n.Reads[0]
	of := dst
	if !b.unit.counted(of) && b.unit.counted(src) {
		of = src
	}
	return b.call("Set", n.By != "", []jen.Code{b.stream(n.Stream), b.address(dst), b.address(src), b.bytes(of)})
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

// share is an exchange of handles in the loop.
func (b *body) share(n hostir.Share) (code []jen.Code) {
	if n.To.IsZero() {
		return nil // with all ranks: Bind has done it
	}
	for _, buffer := range n.Buffers {
		code = append(code, jen.Id("q").Dot("Share").Call(jen.Id("p").Dot(unexported(buffer)), b.expr(n.To),
			b.expr(n.From)))
	}
	return code
}

// product is a matrix product.
func (b *body) product(n hostir.Step) jen.Code {
	field, err := b.unit.gemmOf(n)
	if err != nil {
		b.fail("%w", err)
		return jen.Null()
	}
	f, _ := hostir.ParseProduct(n.Index)
	args := []jen.Code{b.stream(n.Stream), jen.Id("p").Dot(field), b.address(n.Writes[0])}
	for _, v := range n.Reads {
		args = append(args, b.address(v))
	}
	if f.TransposedB && len(n.Reads) == 2 {
		args = append(args, jen.Qual(planPath, "NoBias"))
	}
	return jen.Id("q").Dot(f.Name).Call(args...)
}

// sum is a sum by a kernel.
func (b *body) sum(n hostir.Step) []jen.Code {
	code, terms := b.terms(n.Reads)
	args := []jen.Code{b.stream(n.Stream), b.address(n.Writes[0]), b.bytes(n.Writes[0])}
	return append(code, b.kernel(n.By, append(args, terms...)...))
}

// terms are the arguments of a sum; those over an index are collected by a loop ahead
// of it, in a list that the plan keeps so that no run allocates.
func (b *body) terms(list []hostir.View) (before, args []jen.Code) {
	over := false
	for _, t := range list {
		over = over || t.Each.Index != ""
	}
	if !over {
		for _, t := range list {
			args = append(args, b.address(t))
		}
		return nil, args
	}
	b.unit.terms = true
	field := func() *jen.Statement { return jen.Id("p").Dot("terms") }
	to := field().Index(jen.Op(":").Lit(0))
	for _, t := range list {
		add := func() []jen.Code {
			code := field().Op("=").Append(to, b.address(t))
			to = field()
			return []jen.Code{code}
		}
		if t.Each.Index == "" {
			before = append(before, add()...)
			continue
		}
		if len(before) == 0 {
			before = append(before, field().Op("=").Add(to))
			to = field()
		}
		before = append(before, b.loop(t.Each.Index, t.Each.From, t.Each.To, add)...)
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
func (b *body) launch(n hostir.Step) []jen.Code {
	args := b.unsignalled(n.By)
	place := func(w hostir.Word, post, wait int) bool {
		at := post
		if w.Wait {
			at = wait
		}
		if args[at] == nil || args[at][0] != nil {
			return false
		}
		args[at] = b.around(n.By, b.semaphore(w), w.Peer)
		return true
	}
	for at, list := range [][]hostir.Word{n.Pre, n.Post} {
		for i, w := range list {
			post, wait := opens, waits
			if at == 1 {
				post, wait = posts, closes
			}
			if i > 0 && !w.Wait || !place(w, post, wait) {
				b.fail("kernel %s can't do %q there: it does a wait, a copy and a post, or a post, a wait, a sum, a post and a wait", n.By, w)
				return nil
			}
		}
	}
	var before, terms []jen.Code
	dst := n.Writes[0]
	switch {
	case n.Do == hostir.Copy && n.By != shotKernel:
		args[work] = []jen.Code{b.address(dst), b.address(n.Reads[0]), b.bytes(dst)}
	case n.Do == hostir.Sum && n.By == shotKernel:
		before, terms = b.terms(n.Reads)
		args[work] = []jen.Code{b.address(dst), b.bytes(dst)}
	default:
		b.fail("kernel %s does no %s", n.By, n.Do)
		return nil
	}
	none := b.around(n.By, jen.Nil(), hostir.Expr{})
	call := []jen.Code{b.stream(n.Stream)}
	for _, list := range append(args[:], terms) {
		if len(list) > 0 && list[0] == nil {
			list = none
		}
		call = append(call, list...)
	}
	return append(before, b.kernel(n.By, call...))
}

// unsignalled are the arguments of a kernel that signals nothing: nil where it can't, and of
// one nil where it may.
func (b *body) unsignalled(kernel string) (args [places][]jen.Code) {
	args[waits], args[posts] = []jen.Code{nil}, []jen.Code{nil}
	if kernel == shotKernel {
		args[opens], args[closes] = []jen.Code{nil}, []jen.Code{nil}
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
