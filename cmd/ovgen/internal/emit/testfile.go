package emit

import (
	"path"
	"reflect"

	"github.com/dave/jennifer/jen"

	"ovgen/schedule"
)

// testProgram is the package as its tests drive it. No package's name has a capital, so
// none is its name.
const testProgram = "testProgram"

// testFile is NAME_test.go: the package runs in the seeded simulator, and what it
// enqueues is recorded.
func (u *unit) testFile() ([]byte, error) {
	f := newFile(u.name+"_test", "schedule "+u.program.Name)
	f.ImportName(u.importPath(u.options), u.name)
	f.Add(doc(testProgram + " is the package as the tests drive it."))
	f.Var().Id(testProgram).Op("=").Qual(harnessPath, "Program").Add(u.entry())
	f.Line()
	f.Add(doc("TestProgram runs the package in the simulator, on several numbers of ranks and in each type, and compares every element."))
	u.test(f, "TestProgram", jen.Qual(testPath, "Run").Call(jen.Id("t"), jen.Id(testProgram)))
	f.Line()
	f.Add(doc("TestRecorded records what the package enqueues, without running it, at several shapes and in each type, and holds it against the operations of its schedule, which were proven."))
	u.test(f, "TestRecorded", jen.Qual(recordPath, "Test").Call(jen.Id("t"), jen.Id(testProgram), jen.Qual(schedulePath, "Schedule").Add(choices(u.program.Schedule))))
	return render(f, path.Join(u.name, u.name+"_test.go"))
}

func (u *unit) test(f *jen.File, name string, body jen.Code) {
	f.Func().Id(name).Params(jen.Id("t").Op("*").Qual("testing", "T")).Block(body)
}

// choices is a literal of the choices that a schedule makes: those that are not what they
// would be without it. Its operation, tensors and types are the program's.
func choices(s schedule.Schedule) jen.Code {
	said := s
	var groups []jen.Code
	for _, name := range []string{"Pipeline", "Transport", "Streams"} {
		group := reflect.ValueOf(&said).Elem().FieldByName(name)
		var fields []jen.Code
		for i := range group.NumField() {
			field, name := group.Field(i), group.Type().Field(i).Name
			if field.IsZero() {
				continue
			}
			choice := reflect.New(field.Type()).Elem()
			choice.Set(field)
			field.SetZero()
			if reflect.DeepEqual(said.WithDefaults(), s) {
				continue
			}
			field.Set(choice)
			fields = append(fields, jen.Id(name).Op(":").Add(choiceLiteral(choice)))
		}
		if len(fields) > 0 {
			groups = append(groups, jen.Id(name).Op(":").Qual(schedulePath, group.Type().Name()).Custom(inLine, fields...))
		}
	}
	if len(groups) == 0 {
		return jen.Values()
	}
	return jen.Custom(lineByLine, groups...)
}

// choiceLiteral is the value of a choice, a word or a number.
func choiceLiteral(v reflect.Value) jen.Code {
	if v.Kind() == reflect.Int {
		return jen.Lit(int(v.Int()))
	}
	return jen.Lit(v.String())
}
