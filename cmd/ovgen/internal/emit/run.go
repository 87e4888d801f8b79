package emit

import (
	"path"

	"github.com/dave/jennifer/jen"

	"ovgen/templates"
)

// emitRun adds package run: the program that lists, verifies and measures every other;
// and the list of them, package programs.
func emitRun(units []*unit, opt Options, files map[string][]byte) error {
	about := templates.Device{From: runFrom, About: []string{
		"What verifying and measuring needs on the device:",
		"  fill     makes a tensor from its seed",
		"  compare  holds one tensor against another",
		"  spin     keeps a stream busy for a time",
	}}
	code, err := device{name: runName, from: runFrom, host: templates.Checks, arch: sm80}.
		render(templates.CheckSource(about))
	if err != nil {
		return err
	}
	if err := code.emit(opt, files); err != nil {
		return err
	}
	if err := add(mainFile(opt), path.Join(runName, "main.go"), files); err != nil {
		return err
	}
	f := runFile()
	declareCode(f, runName, code, jen.Qual(harnessPath, "CheckKernels").Call())
	if err := add(f, path.Join(runName, "kernels.go"), files); err != nil {
		return err
	}
	if err := hostFile(runFile(), runName, opt, files); err != nil {
		return err
	}
	name := path.Join(programsName, programsName+".go")
	var wrong error
	if files[name], wrong = programsFile(units, opt, name); wrong != nil {
		return wrong
	}
	name = path.Join(programsName, programsName+"_test.go")
	files[name], wrong = testsFile(name)
	return wrong
}

const runFrom = "all schedules"

func runFile() *jen.File { return newFile("main", runFrom) }

// mainFile is the command.
func mainFile(opt Options) *jen.File {
	f := runFile()
	f.PackageComment("// Command run lists, verifies and measures the generated packages: one binary holds\n// them " +
		"all and starts its own ranks. Run it without arguments for its usage.")
	f.ImportName(path.Join(opt.ImportPath, programsName), programsName)
	f.Anon(simPath)
	f.Func().Id("main").Params().Block(jen.Qual("os", "Exit").Call(jen.Qual(commandPath, "Main").Call(
		jen.Qual(path.Join(opt.ImportPath, programsName), "All"), jen.Op("&").Id("code"))))
	return f
}

// programsFile is package programs: the list of all others.
func programsFile(units []*unit, opt Options, name string) ([]byte, error) {
	f := newFile(programsName, runFrom)
	f.PackageComment("// Package programs lists the generated packages as verify/harness drives them.")
	var entries []jen.Code
	for _, u := range units {
		u.importAs(f, opt)
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
