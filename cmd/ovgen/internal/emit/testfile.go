package emit

import (
	"path"

	"github.com/dave/jennifer/jen"
)

// testProgram is the variable through which the tests drive the package. No package's name has a capital, so none has
// this name.
const testProgram = "testProgram"

// testFile writes NAME_test.go: it runs the package in the seeded simulator and records the package's calls.
func (u *unit) testFile() ([]byte, error) {
	f := newFile(u.name+"_test", "schedule "+u.program.Name)
	u.importAs(f, u.options)
	f.Add(doc(testProgram + " is the package as the tests drive it."))
	if u.device {
		f.Anon(path.Join(u.options.ImportPath, hostName))
	}
	f.Var().Id(testProgram).Op("=").Add(u.entry())
	f.Line()
	f.Add(doc("TestProgram runs the package in the simulator and compares every element."))
	test(f, "TestProgram", jen.Qual(testPath, "Run").Call(jen.Id("t"), jen.Id(testProgram)))
	f.Line()
	f.Add(doc("TestRecorded compares the operations that the package enqueues with those of its schedule, " +
		"which were proven."))
	test(f, "TestRecorded", jen.Qual(recordPath, "Test").Call(jen.Id("t"), jen.Id(testProgram)))
	return render(f, path.Join(u.name, u.name+"_test.go"))
}

// testsFile is programs_test.go: the tests of all packages in one binary.
func testsFile() *jen.File {
	f := newFile(programsName, runFrom)
	f.Add(doc("TestProgram runs every package in the simulator as its own test does, all in one binary."))
	each := func(name string, run jen.Code) {
		test(f, name, jen.Qual(testPath, "Each").Call(jen.Id("t"), jen.Id("All"), run))
	}
	each("TestProgram", jen.Qual(testPath, "Run"))
	f.Line()
	f.Add(doc("TestRecorded holds what every package enqueues against its schedule's operations, as its own test " +
		"does."))
	each("TestRecorded", jen.Qual(recordPath, "Test"))
	return f
}

func test(f *jen.File, name string, body jen.Code) {
	f.Add(oneLine(jen.Func().Id(name).Params(jen.Id("t").Op("*").Qual("testing", "T")), body))
}
