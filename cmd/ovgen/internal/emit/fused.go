package emit

import "github.com/dave/jennifer/jen"

func ptr() *jen.Statement              { return jen.Qual(driverPath, "Ptr") }
func ulong(x jen.Code) jen.Code        { return jen.Qual("C", "ulonglong").Call(x) }
func uintOf(x jen.Code) jen.Code       { return jen.Qual("C", "uint").Call(x) }
func countOf(list string) jen.Code     { return uintOf(jen.Len(jen.Id(list))) }
func field(name string) *jen.Statement { return jen.Id("p").Dot(name) }

// set is one field of a literal.
func set(name string, x jen.Code) jen.Code { return jen.Id(name).Op(":").Add(x) }

// each ranges over the first of a field's addresses.
func each(list, count string) *jen.Statement {
	return jen.For(jen.List(jen.Id("_"), jen.Id("x")).Op(":=").Range().Add(field(list)).Index(jen.Op(":").Add(field(count))))
}

// fill sets a field's addresses to those of a list of the same name.
func fill(list string) jen.Code {
	return jen.For(jen.List(jen.Id("i"), jen.Id("x")).Op(":=").Range().Id(list)).Block(
		field(list).Index(jen.Id("i")).Op("=").Add(ulong(jen.Id("x"))))
}

// sharedWrappers are what the wrappers of several kinds use.
func (u *unit) sharedWrappers(f *jen.File) {
	if u.copies() || u.sums() {
		u.geometry(f)
	}
	if u.sums() {
		u.sumParams(f)
	}
	if u.fused() {
		u.signalParams(f)
	}
}

// most are the blocks that a kind is launched with where there is enough to do. A copy
// leaves the multiprocessors to the products; 16 blocks fill the link. A sum comes behind
// them: it takes two for each multiprocessor of an H200 (96 read and wrote 2.4 TB/s of its
// memory, half of what it delivers), and one where each block awaits words.
var most = []struct {
	name   string
	blocks int
	kinds  []string
}{
	{"copyBlocks", 16, []string{copyKernel, getKernel, putKernel}},
	{"reduceBlocks", 264, []string{reduceKernel}},
	{"shotBlocks", 132, []string{shotKernel}},
}

// geometry is how kernels that move bytes are launched.
func (u *unit) geometry(f *jen.File) {
	f.Line()
	f.Add(doc("Launch geometry: the threads of a block, and the most blocks of a kind, few enough to leave the multiprocessors to the products where the kernel may wait."))
	f.Const().DefsFunc(func(g *jen.Group) {
		g.Id("threads").Op("=").Lit(512)
		for _, m := range most {
			if u.has(m.kinds...) {
				g.Id(m.name).Op("=").Lit(m.blocks)
			}
		}
	})
	f.Line()
	f.Add(doc("blocks is how many blocks so many bytes take, 16 bytes a thread."))
	f.Func().Id("blocks").Params(jen.Id("bytes").Int64(), jen.Id("most").Uint32()).Uint32().Block(
		jen.Return(jen.Uint32().Call(jen.Min(jen.Id("bytes").Op("/").Parens(jen.Lit(16).Op("*").Id("threads")).Op("+").Lit(1), jen.Int64().Call(jen.Id("most"))))))
}

// launchFor is the launch of a kernel that moves bytes.
func launchFor(kind, most string) jen.Code {
	return launch(kind, jen.Id("blocks").Call(jen.Id("bytes"), jen.Id(most)), jen.Id("threads"))
}

// sumParams are the parameters of a sum, and what it touches.
func (u *unit) sumParams(f *jen.File) {
	f.Line()
	f.Add(doc("sum is dst = the sum of the terms, as a kernel takes it."))
	f.Func().Params(jen.Id("k").Op("*").Id("kernels")).Id("sum").
		Params(jen.Id("dst").Add(ptr()), jen.Id("bytes").Int64(), jen.Id("terms").Index().Add(ptr())).Add(u.params("sum")).Block(
		jen.Id("p").Op(":=").Add(u.params("sum")).Custom(lineByLine,
			set("dst", ulong(jen.Id("dst"))),
			set("count", ulong(jen.Id("bytes").Op("/").Id("k").Dot("element").Dot("Size").Call())),
			set("terms_count", countOf("terms")),
			set("element", uintOf(jen.Id("k").Dot("element")))),
		fill("terms"),
		jen.Return(jen.Id("p")))
	typed := jen.Id("Type").Op(":").Id("element")
	u.partTouches(f, "sum", "sum", "sumTouched adds what a sum touches: it reads every term and writes dst.",
		jen.If(field("element").Op("==").Lit(0)).Block(jen.Return(jen.Id("to"))).Comment("its first launch, which does nothing"),
		jen.Id("element").Op(":=").Qual(driverPath, "Type").Call(field("element")),
		jen.Id("bytes").Op(":=").Int64().Call(field("count")).Op("*").Id("element").Dot("Size").Call(),
		each("terms", "terms_count").Block(addTo(touch("TouchRead", jen.Id("x"), jen.Id("bytes"), nil, typed))),
		jen.Return(jen.Append(jen.Id("to"), touch("TouchWrite", field("dst"), jen.Id("bytes"), nil, typed))))
}

// partTouches is a function NAMETouched for a struct that is part of parameters.
func (u *unit) partTouches(f *jen.File, name, part, comment string, body ...jen.Code) {
	f.Line()
	f.Add(doc(comment))
	f.Func().Id(name+"Touched").Params(jen.Id("p").Op("*").Add(u.params(part)), jen.Id("to").Index().Qual(driverPath, "Touch")).
		Index().Qual(driverPath, "Touch").Block(body...)
}

// signalParams are the words of a kernel that signals around its work, and what it
// touches of them ahead of its work and behind it.
func (u *unit) signalParams(f *jen.File) {
	lists := []struct{ list, count, words string }{
		{"opens", "opening", "Opens"}, {"waits", "waiting", "Waits"}, {"posts", "posting", "Posts"}, {"closes", "closing", "Closes"}}
	words := func(name string) *jen.Statement { return jen.Id("w").Dot(name) }
	f.Line()
	f.Add(doc("signals counts the step of a kernel that signals around its work, and has its words. Ahead of the work it posts open to every peer and waits for from's post; behind it, it posts to the rank to and waits for every peer's post of closing."))
	f.Func().Id("signals").Params(append(queueAndStream(), append([]jen.Code{jen.Id("kind").String(), jen.Id("open").Op("*").Qual(planPath, "Semaphore")},
		append(signalling(), jen.Id("closing").Op("*").Qual(planPath, "Semaphore"))...)...)...).Add(u.params("signals")).BlockFunc(func(g *jen.Group) {
		g.Id("w").Op(":=").Id("q").Dot("StepWords").Call(jen.Id("s"), jen.Id("kind"), jen.Id("open"),
			jen.Id("wait"), jen.Id("from"), jen.Id("post"), jen.Id("to"), jen.Id("closing"))
		fields := []jen.Code{
			set("step", ulong(words("Step"))),
			set("count", ulong(jen.Id("q").Dot("CountWord").Call(jen.Id("s"))))}
		for _, l := range lists {
			fields = append(fields, set(l.count, uintOf(jen.Len(words(l.words)))))
		}
		g.Id("p").Op(":=").Add(u.params("signals")).Custom(lineByLine, append(fields, set("value", uintOf(words("Value"))))...)
		for _, l := range lists {
			g.For(jen.List(jen.Id("i"), jen.Id("x")).Op(":=").Range().Add(words(l.words))).Block(
				field(l.list).Index(jen.Id("i")).Op("=").Add(ulong(jen.Id("x"))))
		}
		g.Return(jen.Id("p"))
	})
	u.signalTouches(f)
}

// signalTouches is what such a kernel touches ahead of its work and behind it.
func (u *unit) signalTouches(f *jen.File) {
	touches := func() *jen.Statement { return jen.Index().Qual(driverPath, "Touch") }
	kind := func(name string) jen.Code { return jen.Qual(driverPath, name) }
	add := func(kind, value jen.Code, list, count string) jen.Code {
		return jen.Id("to").Op("=").Id("wordsTouched").Call(kind, value, field(list).Index(jen.Op(":").Add(field(count))), jen.Id("to"))
	}
	reset := func(list, count string) jen.Code {
		return jen.Id("resetTouched").Call(jen.Id("p"), field(list).Index(jen.Op(":").Add(field(count))), jen.Id("to"))
	}
	f.Line()
	f.Add(doc("wordsTouched adds words that are awaited, posted or written."))
	f.Func().Id("wordsTouched").Params(jen.Id("kind").Qual(driverPath, "TouchKind"), jen.Id("value").Uint32(),
		jen.Id("words").Index().Qual("C", "ulonglong"), jen.Id("to").Add(touches())).Add(touches()).Block(
		jen.For(jen.List(jen.Id("_"), jen.Id("x")).Op(":=").Range().Id("words")).Block(
			addTo(jen.Qual(driverPath, "Touch").Values(set("Kind", jen.Id("kind")), set("At", jen.Qual(driverPath, "Ptr").Call(jen.Id("x"))),
				set("Bytes", jen.Lit(4)), set("Value", jen.Id("value"))))),
		jen.Return(jen.Id("to")))
	f.Line()
	f.Add(doc("resetTouched adds the end of a wait, where there is one: its words are reset and the step is noted."))
	f.Func().Id("resetTouched").Params(jen.Id("p").Op("*").Add(u.params("signals")), jen.Id("words").Index().Qual("C", "ulonglong"),
		jen.Id("to").Add(touches())).Add(touches()).Block(
		jen.If(jen.Len(jen.Id("words")).Op("==").Lit(0)).Block(jen.Return(jen.Id("to"))),
		jen.Id("to").Op("=").Id("wordsTouched").Call(kind("TouchWrite"), jen.Lit(0), jen.Id("words"), jen.Id("to")),
		jen.Return(jen.Append(jen.Id("to"), touch("TouchWrite", field("step"), jen.Lit(4), jen.Uint32().Call(field("value"))))))
	f.Line()
	f.Add(doc("countTouched adds the word in which the blocks count themselves, as they start and as they finish; a kernel's first launch, which does nothing, has none."))
	f.Func().Id("countTouched").Params(jen.Id("p").Op("*").Add(u.params("signals")), jen.Id("to").Add(touches())).Add(touches()).Block(
		jen.If(field("count").Op("==").Lit(0)).Block(jen.Return(jen.Id("to"))),
		jen.Return(jen.Append(jen.Id("to"), touch("TouchWrite", field("count"), jen.Lit(4), nil))))
	count := func() jen.Code { return jen.Id("to").Op("=").Id("countTouched").Call(jen.Id("p"), jen.Id("to")) }
	u.partTouches(f, "before", "signals", "beforeTouched adds what a kernel touches ahead of its work: it counts blocks, posts, and awaits each word.",
		count(),
		add(kind("TouchPost"), jen.Lit(1), "opens", "opening"),
		jen.Return(jen.Id("wordsTouched").Call(kind("TouchWait"), jen.Lit(1), field("waits").Index(jen.Op(":").Add(field("waiting"))), jen.Id("to"))))
	u.partTouches(f, "after", "signals", "afterTouched adds what it touches behind its work: it counts blocks, resets the words, posts, and waits again.",
		count(),
		jen.Id("to").Op("=").Add(reset("waits", "waiting")),
		add(kind("TouchPost"), jen.Lit(1), "posts", "posting"),
		add(kind("TouchWait"), jen.Lit(1), "closes", "closing"),
		jen.Return(reset("closes", "closing")))
}

// signalling are the parameters of a wrapper that say what is awaited and posted.
func signalling() []jen.Code {
	semaphore := func(name, peer string) []jen.Code {
		return []jen.Code{jen.Id(name).Op("*").Qual(planPath, "Semaphore"), jen.Id(peer).Int()}
	}
	return append(semaphore("wait", "from"), semaphore("post", "to")...)
}

// signalsOf is the call of signals in a wrapper that waits for from and posts to to.
func signalsOf(kind string) jen.Code {
	return set("signals", jen.Id("signals").Call(jen.Id("q"), jen.Id("s"), jen.Lit(kind), jen.Nil(),
		jen.Id("wait"), jen.Id("from"), jen.Id("post"), jen.Id("to"), jen.Nil()))
}

const signalsComment = " Below zero, a peer stands for all; without a semaphore there is nothing to await or post."

// moveWrapper is that of get or put.
func (u *unit) moveWrapper(f *jen.File, kind string) {
	s := signalling()
	params := append(s[:2:2], jen.List(jen.Id("dst"), jen.Id("src")).Add(ptr()), jen.Id("bytes").Int64())
	wrapper(f, kind+" waits for from's post, copies bytes from src to dst, and posts to the rank to."+signalsComment, kind, append(params, s[2:]...)...).Block(
		jen.Id("p").Op(":=").Add(u.params(kind)).Custom(lineByLine, signalsOf(kind),
			set("dst", ulong(jen.Id("dst"))), set("src", ulong(jen.Id("src"))), set("bytes", ulong(jen.Id("bytes")))),
		launchFor(kind, "copyBlocks"))
	bytes := func() jen.Code { return jen.Int64().Call(field("bytes")) }
	u.touchesFunc(f, kind, "is what a launch of "+kind+" touches.",
		jen.Id("to").Op("=").Append(
			jen.Line().Id("beforeTouched").Call(jen.Op("&").Add(field("signals")), jen.Id("to")),
			jen.Line().Add(touch("TouchRead", field("src"), bytes(), nil)),
			jen.Line().Add(touch("TouchWrite", field("dst"), bytes(), nil)),
			jen.Line()),
		jen.Return(jen.Id("afterTouched").Call(jen.Op("&").Add(field("signals")), jen.Id("to"))))
}

// terms is the last parameter of a wrapper that adds up.
func terms() jen.Code { return jen.Id("terms").Op("...").Add(ptr()) }

// sumOf is the call of sum in a wrapper.
func sumOf() jen.Code {
	return set("sum", jen.Id("k").Dot("sum").Call(jen.Id("dst"), jen.Id("bytes"), jen.Id("terms")))
}

func (u *unit) reduceWrapper(f *jen.File) {
	wrapper(f, "reduce sets dst, of so many bytes, to the sum of the terms in their order.", reduceKernel,
		jen.Id("dst").Add(ptr()), jen.Id("bytes").Int64(), terms()).Block(
		jen.Id("p").Op(":=").Add(u.params(reduceKernel)).Values(sumOf()),
		launchFor(reduceKernel, "reduceBlocks"))
	u.touchesFunc(f, reduceKernel, "is what a launch of reduce touches.",
		jen.Return(jen.Id("sumTouched").Call(jen.Op("&").Add(field("sum")), jen.Id("to"))))
}

// shotWrapper is that of shot, whose signals are all to every peer.
func (u *unit) shotWrapper(f *jen.File) {
	semaphores := func(names ...string) jen.Code {
		var list []jen.Code
		for _, n := range names {
			list = append(list, jen.Id(n))
		}
		return jen.List(list...).Op("*").Qual(planPath, "Semaphore")
	}
	wrapper(f, "shot posts open to every peer, waits for all, sets dst, of so many bytes, to the sum of the terms in their order, posts again and waits for closing. Without a semaphore there is nothing to post or await.", shotKernel,
		semaphores("open", "wait"), jen.Id("dst").Add(ptr()), jen.Id("bytes").Int64(), semaphores("post", "closing"), terms()).Block(
		jen.Id("p").Op(":=").Add(u.params(shotKernel)).Custom(lineByLine,
			set("signals", jen.Id("signals").Call(jen.Id("q"), jen.Id("s"), jen.Lit(shotKernel), jen.Id("open"),
				jen.Id("wait"), jen.Lit(every), jen.Id("post"), jen.Lit(every), jen.Id("closing"))),
			sumOf()),
		launchFor(shotKernel, "shotBlocks"))
	part := func(name string) jen.Code { return jen.Op("&").Add(field(name)) }
	u.touchesFunc(f, shotKernel, "is what a launch of shot touches.",
		jen.Id("to").Op("=").Id("beforeTouched").Call(part("signals"), jen.Id("to")),
		jen.Return(jen.Id("afterTouched").Call(part("signals"), jen.Id("sumTouched").Call(part("sum"), jen.Id("to")))))
}
