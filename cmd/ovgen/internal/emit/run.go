package emit

import (
	"path"
	"strings"

	"github.com/dave/jennifer/jen"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/templates"
)

// checks are the kernels of package run: name in the .cu and parameter struct.
var checks = []templates.Kernel{
	{Name: "fill", Params: "run_fill"},
	{Name: "compare", Params: "run_compare"},
	{Name: "spin", Params: "run_spin"},
}

// emitRun adds package run: the program that lists, verifies and measures every other.
func emitRun(units []*unit, opt Options, files map[string][]byte) error {
	d := device{dir: runName, headers: []string{"head.h.tmpl", "check.h.tmpl", "foot.h.tmpl"},
		sources: []string{"head.cu.tmpl", "clock.cu.tmpl", "check.cu.tmpl"}}
	d.data = templates.Device{Package: runName, From: runFrom, Kernels: checks, About: []string{
		"What verifying and measuring needs on the device:",
		"  fill     makes a tensor from its seed",
		"  compare  holds one tensor against another",
		"  spin     keeps a stream busy for a time",
	}}
	if err := d.emit(opt, files); err != nil {
		return err
	}
	for name, make := range map[string]func() ([]byte, error){
		"main.go":    func() ([]byte, error) { return mainFile(units, opt) },
		"kernels.go": checkFile,
	} {
		text, err := make()
		if err != nil {
			return err
		}
		files[path.Join(runName, name)] = text
	}
	return simFiles(runName, runName, runFile, files)
}

const runFrom = "all schedules"

func runFile() *jen.File { return newFile("main", runFrom) }

// mainFile is the registry of programs.
func mainFile(units []*unit, opt Options) ([]byte, error) {
	f := runFile()
	f.PackageComment("// Command run lists, verifies and measures the generated packages: one binary holds\n// them all and starts its own ranks. Run it without arguments for its usage.")
	var entries []jen.Code
	for _, u := range units {
		entries = append(entries, u.entry())
	}
	f.Func().Id("main").Params().Block(jen.Qual("os", "Exit").Call(jen.Qual(harnessPath, "Main").Call(jen.Id("programs"), jen.Op("&").Id("code"))))
	f.Line()
	f.Add(doc("programs are the generated packages by name."))
	f.Var().Id("programs").Op("=").Index().Qual(harnessPath, "Program").Custom(lineByLine, entries...)
	for _, u := range units {
		f.ImportName(u.importPath(opt), u.name)
		u.adapter(f, opt)
	}
	return render(f, path.Join(runName, "main.go"))
}

// importPath of the emitted package.
func (u *unit) importPath(opt Options) string { return path.Join(opt.ImportPath, u.name) }

// entry is the package's element of programs.
func (u *unit) entry() jen.Code {
	s := u.program.Schedule
	types := make([]jen.Code, len(s.Types))
	for i, t := range s.Types {
		types[i] = jen.Qual(driverPath, strings.ToUpper(string(t)))
	}
	fields := []jen.Code{
		jen.Id("Name").Op(":").Lit(u.name),
		jen.Id("Proof").Op(":").Lit(u.proof()),
	}
	if u.eager() {
		fields = append(fields, jen.Id("Eager").Op(":").True())
	}
	if s.Op == schedule.Linear {
		fields = append(fields, jen.Id("Linear").Op(":").True())
	}
	if _, ok := u.program.Buffer("Bias"); ok {
		fields = append(fields, jen.Id("Bias").Op(":").True())
	}
	fields = append(fields,
		jen.Id("Types").Op(":").Index().Qual(driverPath, "Type").Values(types...),
		jen.Id("New").Op(":").Id("new"+u.program.Name))
	return jen.Custom(lineByLine, fields...)
}

// adapter makes the package's Plan one that the harness can drive.
func (u *unit) adapter(f *jen.File, opt Options) {
	imported := u.importPath(opt)
	typ := unexported(u.program.Name) + "Plan"
	f.Line()
	f.Add(docf("%s is %s as the harness drives it.", typ, article(u.program.Name)))
	f.Type().Id(typ).Struct(jen.Op("*").Qual(imported, "Plan"))
	f.Line()
	shape := []jen.Code{}
	for _, s := range append(u.symbols(), "Type") {
		shape = append(shape, jen.Id(s).Op(":").Id("s").Dot(s))
	}
	ctx := func() *jen.Statement { return jen.Id("ctx").Qual("context", "Context") }
	f.Func().Id("new"+u.program.Name).Params(ctx(), jen.Id("g").Op("*").Qual(groupPath, "Group"), jen.Id("s").Qual(harnessPath, "Shape")).
		Params(jen.Qual(harnessPath, "Plan"), jen.Error()).Block(
		jen.List(jen.Id("p"), jen.Err()).Op(":=").Qual(imported, "New").Call(jen.Id("ctx"), jen.Id("g"), jen.Qual(imported, "Shape").Values(shape...)),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Id(typ).Values(jen.Id("p")), jen.Nil()))
	f.Line()
	var buffers []jen.Code
	for _, b := range u.owned(hostir.Caller) {
		buffers = append(buffers, jen.Id(b.Name).Op(":").Id("b").Dot(b.Name))
	}
	f.Func().Params(jen.Id("p").Id(typ)).Id("Bind").Params(ctx(), jen.Id("b").Qual(harnessPath, "Buffers")).Error().Block(
		jen.Return(jen.Id("p").Dot("Plan").Dot("Bind").Call(jen.Id("ctx"), jen.Qual(imported, "Buffers").Values(buffers...))))
}

// checkFile is kernels.go of package run.
func checkFile() ([]byte, error) {
	f := runFile()
	f.CgoPreamble("#include \"" + runName + ".h\"")
	var kernels []jen.Code
	for _, k := range checks {
		kernels = append(kernels, kernelEntry(k.Name, k.Params, touches(k.Name)))
	}
	declareCode(f, runName, kernels)
	params := func(name string) *jen.Statement { return jen.Qual("C", "struct_"+name) }
	field := func(name string) *jen.Statement { return jen.Id("p").Dot(name) }
	f.Line()
	f.Add(doc("sized is a number of elements in bytes."))
	f.Func().Id("sized").Params(jen.Id("count").Qual("C", "longlong"), jen.Id("typ").Qual("C", "uint")).Int64().Block(
		jen.Return(jen.Int64().Call(jen.Id("count")).Op("*").Qual(driverPath, "Type").Call(jen.Id("typ")).Dot("Size").Call()))
	bytes := func() jen.Code { return jen.Id("sized").Call(field("count"), field("element")) }
	touchesFunc(f, touches("fill"), params("run_fill"), "is what a launch of fill touches.",
		jen.Return(jen.Append(jen.Id("to"), touch("TouchWrite", field("at"), bytes(), nil))))
	touchesFunc(f, touches("compare"), params("run_compare"), "is what a launch of compare touches. How many verdicts it writes depends on the launch: the first stands for all.",
		jen.Return(jen.Append(jen.Id("to"),
			jen.Line().Add(touch("TouchRead", field("got"), bytes(), nil)),
			jen.Line().Add(touch("TouchRead", field("want"), bytes(), nil)),
			jen.Line().Add(touch("TouchWrite", field("out"), jen.Qual("C", "sizeof_struct_run_verdict"), nil)),
			jen.Line())))
	f.Line()
	f.Add(doc("spinTouches is what a launch of spin touches: nothing."))
	f.Func().Id("spinTouches").Params(jen.Id("_").Qual("unsafe", "Pointer"), jen.Id("to").Index().Qual(driverPath, "Touch")).
		Index().Qual(driverPath, "Touch").Block(jen.Return(jen.Id("to")))
	return render(f, path.Join(runName, "kernels.go"))
}
