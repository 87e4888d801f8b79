package emit

import "github.com/dave/jennifer/jen"

// peers is the parameter of the wrappers that signal.
func peers() []jen.Code {
	return []jen.Code{jen.Id("sem").Op("*").Qual(planPath, "Semaphore"), jen.Id("peers").Op("...").Int()}
}

// signal is the body of a wrapper that signals: it copies the addresses of the words
// into parameters and launches a thread for each.
func (u *unit) signal(kind string, results []jen.Code, fields ...jen.Code) []jen.Code {
	call := map[string]string{waitKernel: "WaitWords", postKernel: "PostWords"}[kind]
	return []jen.Code{
		jen.List(results...).Op(":=").Id("q").Dot(call).Call(jen.Id("s"), jen.Id("sem"), jen.Id("peers").Op("...")),
		jen.Id("p").Op(":=").Add(u.params(kind)).Values(append([]jen.Code{
			jen.Id("count").Op(":").Qual("C", "uint").Call(jen.Len(jen.Id("words")))}, fields...)...),
		jen.For(jen.List(jen.Id("i"), jen.Id("w")).Op(":=").Range().Id("words")).Block(
			jen.Id("p").Dot("words").Index(jen.Id("i")).Op("=").Qual("C", "ulonglong").Call(jen.Id("w"))),
		launch(kind, jen.Lit(1), jen.Uint32().Call(jen.Max(jen.Len(jen.Id("words")), jen.Lit(1)))),
	}
}

func (u *unit) waitWrapper(f *jen.File) {
	wrapper(f, "wait makes the stream wait for the posts of the peers, of all where none is named.", "wait", peers()...).Block(
		u.signal(waitKernel, []jen.Code{jen.Id("words"), jen.Id("step"), jen.Id("value")},
			jen.Id("step").Op(":").Qual("C", "ulonglong").Call(jen.Id("step")),
			jen.Id("value").Op(":").Qual("C", "uint").Call(jen.Id("value")))...)
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
		u.signal(postKernel, []jen.Code{jen.Id("words")})...)
	u.touchesFunc(f, postKernel, "is what a launch of post touches: a word at each peer.",
		jen.For(jen.List(jen.Id("_"), jen.Id("w")).Op(":=").Range().Id("p").Dot("words").Index(jen.Op(":").Id("p").Dot("count"))).Block(
			addTo(touch("TouchPost", jen.Id("w"), jen.Lit(4), jen.Lit(1)))),
		jen.Return(jen.Id("to")))
}

func (u *unit) copyWrapper(f *jen.File) {
	wrapper(f, "set copies bytes from src to dst.", "set", jen.List(jen.Id("dst"), jen.Id("src")).Add(ptr()), jen.Id("bytes").Int64()).Block(
		jen.Id("p").Op(":=").Add(u.params(copyKernel)).Values(
			jen.Id("dst").Op(":").Qual("C", "ulonglong").Call(jen.Id("dst")),
			jen.Id("src").Op(":").Qual("C", "ulonglong").Call(jen.Id("src")),
			jen.Id("bytes").Op(":").Qual("C", "ulonglong").Call(jen.Id("bytes"))),
		launchFor(copyKernel, "copyBlocks"),
	)
	u.touchesFunc(f, copyKernel, "is what a launch of copy touches.",
		jen.Return(jen.Append(jen.Id("to"),
			jen.Line().Add(touch("TouchRead", jen.Id("p").Dot("src"), jen.Int64().Call(jen.Id("p").Dot("bytes")), nil)),
			jen.Line().Add(touch("TouchWrite", jen.Id("p").Dot("dst"), jen.Int64().Call(jen.Id("p").Dot("bytes")), nil)),
			jen.Line())))
}
