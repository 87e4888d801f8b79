package emit

import "github.com/dave/jennifer/jen"

// peers is the parameter of the wrappers that signal.
func peers() []jen.Code {
	return []jen.Code{jen.Id("sem").Op("*").Qual(planPath, "Semaphore"), jen.Id("peers").Op("...").Int()}
}

// wordsLoop copies the addresses of the words into the parameters.
func wordsLoop(kind string) jen.Code {
	return jen.For(jen.List(jen.Id("i"), jen.Id("w")).Op(":=").Range().Id("words")).Block(
		jen.Id("k").Dot(kind+"Params").Dot("words").Index(jen.Id("i")).Op("=").Qual("C", "ulonglong").Call(jen.Id("w")))
}

// noWords returns ahead of a launch without threads.
func noWords() jen.Code {
	return jen.If(jen.Len(jen.Id("words")).Op("==").Lit(0)).Block(jen.Return())
}

// count is the number of words as C and CUDA take it.
func count(typ jen.Code) jen.Code { return jen.Add(typ).Call(jen.Len(jen.Id("words"))) }

func (u *unit) waitWrapper(f *jen.File) {
	wrapper(f, "wait makes the stream wait for the posts of the peers, of all where none is named.", "wait", peers()...).Block(
		jen.List(jen.Id("words"), jen.Id("step"), jen.Id("value")).Op(":=").Id("q").Dot("WaitBy").Call(jen.Id("s"), jen.Id("sem"), jen.Id("peers").Op("...")),
		noWords(),
		wordsLoop(waitKernel),
		jen.Id("k").Dot("waitParams").Dot("step").Op("=").Qual("C", "ulonglong").Call(jen.Id("step")),
		jen.Id("k").Dot("waitParams").Dot("value").Op("=").Qual("C", "uint").Call(jen.Id("value")),
		jen.Id("k").Dot("waitParams").Dot("count").Op("=").Add(count(jen.Qual("C", "uint"))),
		launch(waitKernel, jen.Lit(1), count(jen.Uint32())),
	)
	u.touchesFunc(f, waitKernel, "is what a launch of wait touches: it awaits each word, resets it and notes the step.",
		jen.For(jen.List(jen.Id("_"), jen.Id("w")).Op(":=").Range().Id("p").Dot("words").Index(jen.Op(":").Id("p").Dot("count"))).Block(
			addTo(
				jen.Line().Add(touch("TouchWait", jen.Id("w"), jen.Lit(4), jen.Lit(1))),
				jen.Line().Add(touch("TouchWrite", jen.Id("w"), jen.Lit(4), nil)),
				jen.Line())),
		jen.If(jen.Id("p").Dot("step").Op("!=").Lit(0)).Block(
			addTo(touch("TouchWrite", jen.Id("p").Dot("step"), jen.Lit(4), jen.Uint32().Call(jen.Id("p").Dot("value"))))),
		jen.Return(jen.Id("to")))
}

func (u *unit) postWrapper(f *jen.File) {
	wrapper(f, "post sets a word at each of the peers, at all where none is named.", "post", peers()...).Block(
		jen.Id("words").Op(":=").Id("q").Dot("PostBy").Call(jen.Id("s"), jen.Id("sem"), jen.Id("peers").Op("...")),
		noWords(),
		wordsLoop(postKernel),
		jen.Id("k").Dot("postParams").Dot("count").Op("=").Add(count(jen.Qual("C", "uint"))),
		launch(postKernel, jen.Lit(1), count(jen.Uint32())),
	)
	u.touchesFunc(f, postKernel, "is what a launch of post touches: a word at each peer.",
		jen.For(jen.List(jen.Id("_"), jen.Id("w")).Op(":=").Range().Id("p").Dot("words").Index(jen.Op(":").Id("p").Dot("count"))).Block(
			addTo(touch("TouchPost", jen.Id("w"), jen.Lit(4), jen.Lit(1)))),
		jen.Return(jen.Id("to")))
}

func (u *unit) copyWrapper(f *jen.File) {
	f.Line()
	f.Add(doc("Launch geometry of copy: few enough blocks to leave the multiprocessors to the products, enough to fill the link."))
	f.Const().Defs(jen.Id("copyBlocks").Op("=").Lit(16), jen.Id("copyThreads").Op("=").Lit(512))
	ptr := func() *jen.Statement { return jen.Qual(driverPath, "Ptr") }
	wrapper(f, "set copies bytes from src to dst.", "set", jen.List(jen.Id("dst"), jen.Id("src")).Add(ptr()), jen.Id("bytes").Int64()).Block(
		jen.Id("q").Dot("SetBy").Call(jen.Id("s"), jen.Id("dst"), jen.Id("src"), jen.Id("bytes")),
		jen.Id("k").Dot("copyParams").Op("=").Add(u.params(copyKernel)).Values(
			jen.Id("dst").Op(":").Qual("C", "ulonglong").Call(jen.Id("dst")),
			jen.Id("src").Op(":").Qual("C", "ulonglong").Call(jen.Id("src")),
			jen.Id("bytes").Op(":").Qual("C", "ulonglong").Call(jen.Id("bytes"))),
		launch(copyKernel, jen.Id("copyBlocks"), jen.Id("copyThreads")),
	)
	u.touchesFunc(f, copyKernel, "is what a launch of copy touches.",
		jen.Return(jen.Append(jen.Id("to"),
			jen.Line().Add(touch("TouchRead", jen.Id("p").Dot("src"), jen.Int64().Call(jen.Id("p").Dot("bytes")), nil)),
			jen.Line().Add(touch("TouchWrite", jen.Id("p").Dot("dst"), jen.Int64().Call(jen.Id("p").Dot("bytes")), nil)),
			jen.Line())))
}
