package emit

import (
	"path"

	"github.com/dave/jennifer/jen"

	"ovgen/templates"
)

// emitRun adds package run, the program that lists, verifies and measures every other package, and package programs,
// their list. It returns the device code of run.
func emitRun(units []*unit, opt Options, files map[string][]byte) (*device, error) {
	about := templates.Device{From: runFrom, About: []string{
		"What verifying and measuring needs on the device:",
		"  fill     makes a tensor from its seed",
		"  compare  holds one tensor against another",
		"  spin     keeps a stream busy for a time",
	}}
	code, err := device{name: runName, from: runFrom, host: templates.Checks, arch: sm80}.
		render(templates.CheckSource(about))
	if err != nil {
		return nil, err
	}
	if err := code.emit(opt, files); err != nil {
		return nil, err
	}
	kernels := runFile()
	declareCode(kernels, runName, code, jen.Qual(harnessPath, "CheckKernels").Call())
	for _, f := range []struct {
		name string
		file *jen.File
	}{
		{path.Join(runName, "main.go"), mainFile(opt)},
		{path.Join(runName, "kernels.go"), kernels},
		{path.Join(programsName, programsName+".go"), programsFile(units, opt)},
		{path.Join(programsName, programsName+"_test.go"), testsFile()},
	} {
		if err := add(f.file, f.name, files); err != nil {
			return nil, err
		}
	}
	return code, nil
}

const runFrom = "all schedules"

func runFile() *jen.File { return newFile("main", runFrom) }

// mainFile is the command.
func mainFile(opt Options) *jen.File {
	f := runFile()
	f.PackageComment("// Command run lists, verifies and measures the generated packages: one binary holds\n// them " +
		"all and starts its own ranks. Run it without arguments for its usage.")
	f.ImportName(path.Join(opt.ImportPath, programsName), programsName)
	f.Func().Id("main").Params().Block(jen.Qual("os", "Exit").Call(jen.Qual(commandPath, "Main").Call(
		jen.Qual(path.Join(opt.ImportPath, programsName), "All"), jen.Op("&").Id("code"))))
	return f
}

// programsFile is package programs: the list of all schedules' packages.
func programsFile(units []*unit, opt Options) *jen.File {
	f := newFile(programsName, runFrom)
	f.PackageComment("// Package programs lists the generated packages as verify/harness drives them. " +
		"It imports package " + hostName + ".")
	f.Anon(path.Join(opt.ImportPath, hostName))
	var entries []jen.Code
	for _, u := range units {
		u.importAs(f, opt)
		entries = append(entries, u.entry())
	}
	f.Add(doc("All are the generated packages by name."))
	f.Var().Id("All").Op("=").Index().Qual(harnessPath, "Program").Custom(lineByLine, entries...)
	return f
}

// importPath of the emitted package.
func (u *unit) importPath(opt Options) string { return path.Join(opt.ImportPath, u.name) }

// entry is the package as verify/harness drives it.
func (u *unit) entry() *jen.Statement {
	own := func(name string) *jen.Statement { return jen.Qual(u.importPath(u.options), name) }
	return jen.Qual(harnessPath, "Of").Call(jen.Op("&").Add(own("Program")),
		jen.Qual(path.Join(u.options.ImportPath, schedulesName), u.program.Name), own("New"),
		jen.Parens(jen.Op("*").Add(own("Plan"))).Dot("Bind"))
}
