package emit

import (
	"path"
	"strings"

	"github.com/dave/jennifer/jen"
)

// kernelFiles adds kernels.go and nocgo.go.
func (u *unit) kernelFiles(files map[string][]byte) error {
	f := u.file()
	f.CgoPreamble(preamble(u.name))
	u.codeVariable(f)
	macro := func(name string) *jen.Statement { return jen.Qual("C", strings.ToUpper(u.name)+"_"+name) }
	switch {
	case u.signals():
		f.Line()
		f.Add(doc("maxRanks is how many ranks the kernels serve: a post or wait has a thread for each peer."))
		f.Const().Id("maxRanks").Op("=").Add(macro("PEERS")).Op("+").Lit(1)
	case u.limited():
		f.Line()
		f.Add(doc("maxRanks is how many ranks the kernels serve: a sum has a term for each."))
		f.Const().Id("maxRanks").Op("=").Add(macro("TERMS"))
	}
	u.kernelsType(f)
	u.sharedWrappers(f)
	for _, k := range u.kinds() {
		switch k {
		case waitKernel:
			u.waitWrapper(f)
		case postKernel:
			u.postWrapper(f)
		case copyKernel:
			u.copyWrapper(f)
		case reduceKernel:
			u.reduceWrapper(f)
		case shotKernel:
			u.shotWrapper(f)
		default:
			u.moveWrapper(f, k)
		}
	}
	text, err := render(f, path.Join(u.name, "kernels.go"))
	if err != nil {
		return err
	}
	files[path.Join(u.name, "kernels.go")] = text
	return u.noCgoFile(text, files)
}

// preamble is what kernels.go says to cgo.
func preamble(name string) string {
	return "#cgo CXXFLAGS: -std=c++17 -O2 -fno-strict-aliasing\n#include \"" + name + ".h\"\n" +
		"const void *" + name + "_kernels(const void *engine);"
}

// codeVariable is the variable that the program names as its device code.
func (u *unit) codeVariable(f *jen.File) {
	var kernels []jen.Code
	for _, k := range u.kinds() {
		kernels = append(kernels, kernelEntry(u.name+"_"+k, u.name+"_"+k, touches(k)))
	}
	declareCode(f, u.name, u.code.digest(), kernels)
}

// declareCode writes the embedded PTX and var code.
func declareCode(f *jen.File, name, source string, kernels []jen.Code) {
	f.Anon("embed")
	f.Comment("//go:embed " + name + ptxSuffix)
	f.Var().Id("ptx").Index().Byte()
	f.Line()
	f.Add(doc("code is the device code of this package: PTX for a GPU, and the same kernels compiled for the host."))
	f.Var().Id("code").Op("=").Qual(driverPath, "Code").Custom(lineByLine,
		jen.Id("Name").Op(":").Lit(name),
		jen.Id("Source").Op(":").Lit(source),
		jen.Id("PTX").Op(":").Id("ptx"),
		jen.Id("Kernels").Op(":").Index().Qual(driverPath, "Kernel").Custom(lineByLine, kernels...),
		jen.Id("Host").Op(":").Qual("unsafe", "Pointer").Call(jen.Qual("C", name+"_kernels")),
	)
}

// kernelEntry is one element of Code.Kernels.
func kernelEntry(name, params, touches string) jen.Code {
	return jen.Values(
		jen.Id("Name").Op(":").Lit(name),
		jen.Id("Params").Op(":").Qual("C", "sizeof_struct_"+params),
		jen.Id("Touches").Op(":").Id(touches),
	)
}

// touches is the function that says what a kernel reads and writes.
func touches(kind string) string { return kind + "Touches" }

// params is the C struct of a kernel's parameters.
func (u *unit) params(kind string) *jen.Statement {
	return jen.Qual("C", "struct_"+u.name+"_"+kind)
}

// kernelsType is type kernels with its build.
func (u *unit) kernelsType(f *jen.File) {
	f.Line()
	f.Add(doc("kernels are those that a plan launches."))
	f.Type().Id("kernels").StructFunc(func(g *jen.Group) {
		for _, k := range u.kinds() {
			g.Id(k+"Kernel").Op("*").Qual(planPath, "Kernel")
		}
		if u.sums() {
			g.Id("element").Qual(driverPath, "Type").Comment("of what is added up")
		}
	})
	f.Line()
	f.Add(doc("build declares the kernels."))
	params := []jen.Code{jen.Id("b").Op("*").Qual(planPath, "Builder")}
	if u.sums() {
		params = append(params, jen.Id("t").Qual(driverPath, "Type"))
	}
	f.Func().Params(jen.Id("k").Op("*").Id("kernels")).Id("build").Params(params...).BlockFunc(func(g *jen.Group) {
		for _, k := range u.kinds() {
			g.Id("k").Dot(k + "Kernel").Op("=").Id("b").Dot("Kernel").Call(jen.Lit(u.name + "_" + k))
		}
		if u.sums() {
			g.Id("k").Dot("element").Op("=").Id("t")
		}
	})
}

// wrapper starts a method of kernels that launches one.
func wrapper(f *jen.File, comment, name string, params ...jen.Code) *jen.Statement {
	f.Line()
	f.Add(doc(comment))
	return f.Func().Params(jen.Id("k").Op("*").Id("kernels")).Id(name).Params(append(queueAndStream(), params...)...)
}

// queueAndStream are the parameters that all of them start with.
func queueAndStream() []jen.Code {
	return []jen.Code{jen.Id("q").Op("*").Qual(planPath, "Queue"), jen.Id("s").Op("*").Qual(planPath, "Stream")}
}

// launch is the call that all wrappers end with.
func launch(kind string, grid, block jen.Code) jen.Code {
	dim := func(x jen.Code) jen.Code {
		return jen.Qual(driverPath, "Dim3").Values(jen.Id("X").Op(":").Add(x), jen.Id("Y").Op(":").Lit(1), jen.Id("Z").Op(":").Lit(1))
	}
	return jen.Id("q").Dot("Launch").Call(jen.Id("s"), jen.Id("k").Dot(kind+"Kernel"), dim(grid), dim(block),
		jen.Qual("unsafe", "Pointer").Call(jen.Op("&").Id("p")))
}

// touchesFunc starts a kernel's Touches.
func (u *unit) touchesFunc(f *jen.File, kind, comment string, body ...jen.Code) {
	touchesFunc(f, touches(kind), u.params(kind), comment, body...)
}

func touchesFunc(f *jen.File, name string, params *jen.Statement, comment string, body ...jen.Code) {
	f.Line()
	f.Add(doc(name + " " + comment))
	head := jen.Id("p").Op(":=").Parens(jen.Op("*").Add(params)).Call(jen.Id("params"))
	f.Func().Id(name).Params(jen.Id("params").Qual("unsafe", "Pointer"), jen.Id("to").Index().Qual(driverPath, "Touch")).
		Index().Qual(driverPath, "Touch").Block(append([]jen.Code{head}, body...)...)
}

// touch is a literal of driver.Touch, more being further fields.
func touch(kind string, at, bytes jen.Code, value jen.Code, more ...jen.Code) jen.Code {
	fields := []jen.Code{
		jen.Id("Kind").Op(":").Qual(driverPath, kind),
		jen.Id("At").Op(":").Qual(driverPath, "Ptr").Call(at),
		jen.Id("Bytes").Op(":").Add(bytes),
	}
	if value != nil {
		fields = append(fields, jen.Id("Value").Op(":").Add(value))
	}
	return jen.Qual(driverPath, "Touch").Values(append(fields, more...)...)
}

// addTo appends touches.
func addTo(list ...jen.Code) jen.Code {
	return jen.Id("to").Op("=").Append(append([]jen.Code{jen.Id("to")}, list...)...)
}
