package emit

import (
	"path"

	"github.com/dave/jennifer/jen"
)

// testFile is NAME_test.go: the package runs in the seeded simulator.
func (u *unit) testFile() ([]byte, error) {
	f := newFile(u.name+"_test", "schedule "+u.program.Name)
	f.ImportName(u.importPath(u.options), u.name)
	f.Add(doc("TestProgram runs the package in the simulator, on several numbers of ranks and in each type, and compares every element."))
	f.Func().Id("TestProgram").Params(jen.Id("t").Op("*").Qual("testing", "T")).Block(
		jen.Qual(harnessPath, "TestProgram").Call(jen.Id("t"), jen.Qual(harnessPath, "Program").Add(u.entry())))
	return render(f, path.Join(u.name, u.name+"_test.go"))
}
