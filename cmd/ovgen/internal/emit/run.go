package emit

import (
	"path"

	"github.com/dave/jennifer/jen"

	"ovgen/templates"
)

// checks are the kernels of package run: name in the .cu and parameter struct.
var checks = []templates.Kernel{
	{Name: "fill", Params: "run_fill"},
	{Name: "compare", Params: "run_compare"},
	{Name: "spin", Params: "run_spin"},
}

// emitRun adds package run: the program that lists, verifies and measures every other;
// and the list of them, package programs.
func emitRun(units []*unit, opt Options, files map[string][]byte) error {
	d := device{dir: runName, headers: []string{"head.h.tmpl", "check.h.tmpl", "foot.h.tmpl"},
		sources: []string{"head.cu.tmpl", "clock.cu.tmpl", "check.cu.tmpl"}}
	d.data = templates.Device{Package: runName, From: runFrom, Kernels: checks, About: []string{
		"What verifying and measuring needs on the device:",
		"  fill     makes a tensor from its seed",
		"  compare  holds one tensor against another",
		"  spin     keeps a stream busy for a time",
	}}
	code, err := d.render()
	if err != nil {
		return err
	}
	if err := code.emit(opt, files); err != nil {
		return err
	}
	for name, make := range map[string]func() ([]byte, error){
		"main.go":    func() ([]byte, error) { return mainFile(opt) },
		"kernels.go": func() ([]byte, error) { return checkFile(code.digest()) },
	} {
		text, err := make()
		if err != nil {
			return err
		}
		files[path.Join(runName, name)] = text
	}
	stub := runFile()
	noCgoCode(stub, runName)
	if err := addNoCgo(stub, runName, files); err != nil {
		return err
	}
	name := path.Join(programsName, programsName+".go")
	text, err := programsFile(units, opt, name)
	files[name] = text
	return err
}

const runFrom = "all schedules"

func runFile() *jen.File { return newFile("main", runFrom) }

// mainFile is the command.
func mainFile(opt Options) ([]byte, error) {
	f := runFile()
	f.PackageComment("// Command run lists, verifies and measures the generated packages: one binary holds\n// them " +
		"all and starts its own ranks. Run it without arguments for its usage.")
	f.ImportName(path.Join(opt.ImportPath, programsName), programsName)
	f.Anon(simPath)
	f.Func().Id("main").Params().Block(jen.Qual("os", "Exit").Call(jen.Qual(commandPath, "Main").Call(
		jen.Qual(path.Join(opt.ImportPath, programsName), "All"), jen.Op("&").Id("code"))))
	return render(f, path.Join(runName, "main.go"))
}

// programsFile is package programs: the list of all others.
func programsFile(units []*unit, opt Options, name string) ([]byte, error) {
	f := newFile(programsName, runFrom)
	f.PackageComment("// Package programs lists the generated packages as verify/harness drives them.")
	var entries []jen.Code
	for _, u := range units {
		f.ImportName(u.importPath(opt), u.name)
		entries = append(entries, entry(func(name string) *jen.Statement { return jen.Qual(u.importPath(opt), name) }))
	}
	f.Add(doc("All are the generated packages by name."))
	f.Var().Id("All").Op("=").Index().Qual(harnessPath, "Program").Custom(lineByLine, entries...)
	return render(f, name)
}

// importPath of the emitted package.
func (u *unit) importPath(opt Options) string { return path.Join(opt.ImportPath, u.name) }

// entry is a package as verify/harness drives it, of what it exports.
func entry(own func(name string) *jen.Statement) *jen.Statement {
	return jen.Qual(harnessPath, "Of").Call(jen.Op("&").Add(own("Program")), own("Schedule"), own("New"),
		jen.Parens(jen.Op("*").Add(own("Plan"))).Dot("Bind"))
}

// checkFile is kernels.go of package run.
func checkFile(source string) ([]byte, error) {
	f := runFile()
	f.CgoPreamble(preamble(runName))
	var kernels []jen.Code
	for _, k := range checks {
		kernels = append(kernels, kernelEntry(k.Name, k.Params, touches(k.Name)))
	}
	declareCode(f, runName, source, kernels)
	params := func(name string) *jen.Statement { return jen.Qual("C", "struct_"+name) }
	field := func(name string) *jen.Statement { return jen.Id("p").Dot(name) }
	f.Line()
	f.Add(doc("sized is a number of elements in bytes."))
	f.Func().Id("sized").Params(jen.Id("count").Qual("C", "longlong"), jen.Id("typ").Qual("C", "uint")).Int64().Block(
		jen.Return(jen.Int64().Call(jen.Id("count")).Op("*").
			Qual(driverPath, "Type").Call(jen.Id("typ")).Dot("Size").Call()))
	bytes := func() jen.Code { return jen.Id("sized").Call(field("count"), field("element")) }
	touchesFunc(f, touches("fill"), params("run_fill"), "is what a launch of fill touches.",
		jen.Return(jen.Append(jen.Id("to"), touch("TouchWrite", field("at"), bytes(), nil))))
	touchesFunc(f, touches("compare"), params("run_compare"),
		"is what a launch of compare touches. How many verdicts it writes depends on the launch: the first stands "+
			"for all.",
		jen.Return(jen.Append(jen.Id("to"),
			jen.Line().Add(touch("TouchRead", field("got"), bytes(), nil)),
			jen.Line().Add(touch("TouchRead", field("want"), bytes(), nil)),
			jen.Line().Add(touch("TouchWrite", field("out"), jen.Qual("C", "sizeof_struct_run_verdict"), nil)),
			jen.Line())))
	f.Line()
	f.Add(doc("spinTouches is what a launch of spin touches: nothing."))
	f.Func().Id("spinTouches").Params(jen.Id("_").Qual("unsafe", "Pointer"),
		jen.Id("to").Index().Qual(driverPath, "Touch")).
		Index().Qual(driverPath, "Touch").Block(jen.Return(jen.Id("to")))
	return render(f, path.Join(runName, "kernels.go"))
}
