package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"ovgen/schedule/hostir"
)

// step writes the calls of a step.
func (b *body) step(n hostir.Step) []jen.Code {
	if n.Fused() {
		return b.launch(n)
	}
	switch x := n.Do.(type) {
	case hostir.Collective:
		return []jen.Code{b.together(n.Stream, x)}
	case hostir.Copy:
		return []jen.Code{b.copy(n, x)}
	case hostir.Sum:
		return b.sum(n, x)
	case hostir.Product:
		return b.product(n, x)
	case hostir.Apply:
		return b.make(n.Stream, x)
	case hostir.Call:
		return []jen.Code{b.called(n.Stream, x)}
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

// semaphore returns the program's semaphore of that name.
func (u *unit) semaphore(name string) (hostir.Semaphore, bool) {
	for _, s := range u.program.Semaphores {
		if s.Name == name {
			return s, true
		}
	}
	return hostir.Semaphore{}, false
}

// copy writes a copy.
func (b *body) copy(n hostir.Step, x hostir.Copy) jen.Code {
	dst, src := x.To, x.From
	if dst.Columns || src.Columns {
		return b.copyColumns(n.Stream, dst, src)
	}
	of := dst
	if !b.unit.counted(of) && b.unit.counted(src) {
		of = src
	}
	name := "Set"
	if n.By != "" {
		name = exported(n.By)
	}
	return b.call(name, n.By != "", []jen.Code{b.stream(n.Stream), b.address(dst), b.address(src), b.bytes(of)})
}

// copyColumns writes a copy from or to a part of the columns of a buffer. The rows of the part are not adjacent; the
// rows on the other side are adjacent unless that is a part of columns too.
func (b *body) copyColumns(s hostir.StreamRef, dst, src hostir.View) jen.Code {
	of := dst
	if !of.Columns {
		of = src
	}
	width := b.stretch(of, false)
	rows := func(v hostir.View) jen.Code {
		at, pitch := b.address(v), width
		if v.Columns {
			at, pitch = b.at(v, b.times(v.Index, b.stretch(v, false))), b.stretch(v, true)
		}
		return jen.Qual(planPath, "Rows").Values(set("At", at), set("Pitch", pitch))
	}
	return jen.Id("q").Dot("SetColumns").Call(b.stream(s), rows(dst), rows(src), width, b.chunk(of))
}

// stretch is the field with the bytes of one row of a part of a buffer's columns, or of all columns.
func (b *body) stretch(v hostir.View, all bool) *jen.Statement {
	field, err := b.unit.stretch(v.Buffer, all)
	if err != nil {
		b.fail("%w", err)
	}
	return jen.Id("p").Dot(field)
}

// call is a call of the queue, or of the kernel for the same work.
func (b *body) call(name string, kernel bool, args []jen.Code) jen.Code {
	if kernel {
		return b.kernel(name, args...)
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
		return nil // a Share with all ranks: Bind has exchanged the handles
	}
	for _, buffer := range n.Buffers {
		code = append(code, jen.Id("q").Dot("Share").Call(jen.Id("p").Dot(unexported(buffer)), b.expr(n.To),
			b.expr(n.From)))
	}
	return code
}

// product is a matrix product.
func (b *body) product(n hostir.Step, x hostir.Product) []jen.Code {
	field, part, err := b.unit.gemmOf(n)
	if err != nil {
		b.fail("%w", err)
		return nil
	}
	f, _ := hostir.ParseProduct(x.Index)
	product := jen.Id("p").Dot(field)
	if !part.IsZero() {
		product.Index(b.expr(part))
	}
	if x.Scaled() {
		return []jen.Code{b.scaled(n, x, f.Name, product)}
	}
	args := []jen.Code{b.stream(n.Stream), product, b.address(x.To), b.address(x.A), b.address(x.B)}
	switch {
	case x.Bias.Buffer != "":
		args = append(args, b.address(x.Bias))
	case !f.TransposedA:
		args = append(args, jen.Qual(planPath, "NoBias"))
	}
	library := jen.Id("q").Dot(f.Name).Call(args...)
	if n.By == "" {
		return []jen.Code{library}
	}
	few := b.making("few", x).Dot(f.Name).Call(append([]jen.Code{jen.Id("q")}, args...)...)
	if b.unit.functionOf(x) == nil {
		return []jen.Code{few}
	}
	without := jen.Id("p").Dot("few").Dot(f.Name).Call(append([]jen.Code{jen.Id("q")}, args...)...)
	return b.orBehind(n, x, product, few, without)
}

// scaled is a product of operands that have scales.
func (b *body) scaled(n hostir.Step, x hostir.Product, name string, product jen.Code) jen.Code {
	operands := []jen.Code{set("C", b.address(x.To)), set("A", b.address(x.A)), set("B", b.address(x.B))}
	for _, o := range []struct {
		field string
		view  hostir.View
	}{{"ScaleA", x.ScaleA}, {"ScaleB", x.ScaleB}, {"Bias", x.Bias}} {
		if o.view.Buffer != "" {
			operands = append(operands, set(o.field, b.address(o.view)))
		}
	}
	if x.Narrow() {
		return b.making(multiply[x.Kernel()].field, x).Dot("Narrow").Call(jen.Id("q"), b.stream(n.Stream), product,
			jen.Qual(driverPath, "Operands").Values(operands...))
	}
	return jen.Id("q").Dot("Product").Call(jen.Lit(name), b.stream(n.Stream), product,
		jen.Qual(driverPath, "Operands").Values(operands...))
}

// together is a collective: its call takes the bytes of one rank's part.
func (b *body) together(on hostir.StreamRef, x hostir.Collective) jen.Code {
	part := x.From
	switch x.Does {
	case hostir.ReduceScatter:
		part = x.To
	case hostir.AllToAll:
		part = hostir.Chunk(x.From.Buffer, hostir.Const(0))
	}
	call, args := x.Does.Title(), []jen.Code{b.stream(on), b.address(x.To), b.address(x.From), b.bytes(part)}
	if b.unit.counted(x.To) { // what comes has another size
		call = "ExchangeParts"
		args = slices.Insert(args, 3, b.bytes(x.To))
	}
	if x.Does == hostir.Exchange {
		args = append(args, b.expr(x.Target), b.expr(x.Source))
	}
	return jen.Id("q").Dot(call).Call(args...)
}

// sum is a sum by a kernel.
func (b *body) sum(n hostir.Step, x hostir.Sum) []jen.Code {
	code, terms := b.terms(slices.Concat(x.Terms, x.Scales))
	args := []jen.Code{jen.Id("q"), b.stream(n.Stream), b.address(x.To), b.bytes(x.To)}
	return append(code, b.summing(n).Dot(exported(n.By)).Call(append(args, terms...)...))
}

// summing is the plan's set of kernels, with what a sum takes beside partial results: the number of columns of a term
// for each scale, tensors that it adds, and a function of each element.
func (b *body) summing(n hostir.Step, added ...hostir.View) *jen.Statement {
	set := jen.Id("p").Dot("kernels")
	if x, _ := n.Do.(hostir.Sum); len(x.Scales) > 0 {
		set = set.Dot("Scaled").Call(b.columns("columns"+exported(x.To.Buffer), "of a row", x.Columns))
	}
	if len(added) > 0 {
		set = set.Dot("Adding").Call(b.addresses(added)...)
	}
	if x := hostir.FinishOf(n.Do); len(x.Makes) > 0 {
		set = set.Dot("Finishing").Call(append([]jen.Code{b.finish(n, x)}, b.addresses(x.Operands)...)...)
	}
	return set
}

func (b *body) addresses(list []hostir.View) (args []jen.Code) {
	for _, v := range list {
		args = append(args, b.address(v))
	}
	return args
}

// width is the number of columns of a head: a constant, or a field of the plan.
func (b *body) width(e hostir.Expr) jen.Code { return b.columns(widthField, "of a head", e) }

// columns is a number of columns: a constant, or a field of the plan.
func (b *body) columns(name, of string, e hostir.Expr) jen.Code {
	if _, err := e.Eval(nil); err == nil {
		return b.expr(e)
	}
	for _, c := range b.unit.widths {
		if c.elements.Equal(e) {
			return jen.Id("p").Dot(c.field)
		}
	}
	b.unit.widths = append(b.unit.widths, width{name, of, e})
	return jen.Id("p").Dot(name)
}

// terms are the arguments of a sum; a loop before the call collects the terms over an index
// in a list that the plan keeps, so that no run allocates.
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

// launch writes one kernel that signals around its work: it posts, waits, works, posts and waits, each at most once. A
// sum and a gather signal every peer. A copy waits for one peer before it and posts to one peer after it, or to every
// peer.
func (b *body) launch(n hostir.Step) []jen.Code {
	var before, work, terms []jen.Code
	var added []hostir.View
	switch x := n.Do.(type) {
	case hostir.Tiles:
		before, terms = b.terms([]hostir.View{x.Shards})
		work = append(b.tiles(n, x.To, x.Gathered, x.Own, x.B, x.Bias), terms...)
	case hostir.Scatter:
		before, terms = b.terms([]hostir.View{x.Peers})
		work = append(b.tiles(n, x.To, x.Slots, x.A, x.B, hostir.View{}), terms...)
		added = x.Added
	case hostir.Packets:
		return b.packets(n, x.Sent, x.To, x)
	case hostir.PacketGather:
		return b.packets(n, x.Sent, x.To, hostir.Packets{})
	case hostir.PacketSpread:
		return b.packets(n, x.Sum.Sent, x.Sum.To, x.Sum, x.Landings()...)
	case hostir.PacketRows:
		return b.rows(n, x)
	case hostir.Sum:
		before, terms = b.terms(slices.Concat(x.Terms, x.Scales))
		work = append([]jen.Code{b.address(x.To), b.bytes(x.To)}, terms...)
	case hostir.Gather:
		before, terms = b.terms(x.From)
		work = append([]jen.Code{b.address(x.To), b.bytes(x.Shard())}, terms...)
	case hostir.Copy:
		work = []jen.Code{b.address(x.To), b.address(x.From), b.bytes(x.To)}
	}
	signals := b.signals(n)
	if b.err != nil {
		return nil
	}
	args := []jen.Code{jen.Id("q"), b.stream(n.Stream), jen.Qual(planPath, "Signals").Values(signals...)}
	return append(before, b.summing(n, added...).Dot(exported(n.By)).Call(append(args, work...)...))
}

// tiles are the product of a shard and the operands of a kernel of tiles.
func (b *body) tiles(n hostir.Step, to, staging, a, weights, bias hostir.View) []jen.Code {
	field, _, err := b.unit.gemmOf(n)
	if err != nil {
		b.fail("%w", err)
		return nil
	}
	fields := []jen.Code{set("C", b.address(to)), set("Staging", b.address(staging)), set("A", b.address(a)),
		set("B", b.address(weights))}
	if bias.Buffer != "" {
		fields = append(fields, set("Bias", b.address(bias)))
	}
	return []jen.Code{jen.Id("p").Dot(field), jen.Qual(kernelsPath, "Operands").Values(fields...)}
}

// signals are the fields of a launch's plan.Signals.
func (b *body) signals(n hostir.Step) []jen.Code {
	var fields, ranks []jen.Code
	taken := map[string]bool{}
	for _, at := range []struct {
		words      []hostir.Word
		post, wait string
	}{{n.Pre, "PrePost", "PreWait"}, {n.Post, "PostPost", "PostWait"}} {
		for i, w := range at.words {
			name, sums := at.post, n.Kind() != hostir.CopyKind
			if w.Wait {
				name = at.wait
			}
			rank := map[string]string{"PreWait": "From", "PostPost": "To"}[name]
			switch {
			case taken[name], i > 0 && !w.Wait, !sums && rank == "":
				b.fail("kernel %s can't do %q there: it does a wait, a copy and a post, or a post, a wait, a sum, "+
					"a post and a wait", n.By, w)
				return nil
			case sums && !w.Peer.IsZero():
				b.fail("kernel %s signals every peer, not one of them", n.By)
				return nil
			case !sums && w.Peer.IsZero():
				ranks = append(ranks, set(rank, jen.Qual(planPath, "EveryPeer")))
			case !sums:
				ranks = append(ranks, set(rank, b.expr(w.Peer)))
			}
			taken[name] = true
			fields = append(fields, set(name, b.semaphore(w)))
		}
	}
	return append(fields, ranks...)
}
