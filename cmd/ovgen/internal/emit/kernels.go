package emit

import (
	"path"
	"reflect"

	"github.com/dave/jennifer/jen"
)

// kernelFiles adds kernels.go.
func (u *unit) kernelFiles(files map[string][]byte) error {
	f := u.file()
	f.Add(docf("table describes the kernels of %s.cu.", u.name))
	f.Var().Id("table").Op("=").Add(named(reflect.TypeOf(u.kernels))).
		Add(fieldsOf(reflect.ValueOf(u.kernels), lineByLine))
	f.Line()
	if len(u.makings) > 0 {
		f.Add(doc("functions are what kernels of products make of each element of a result."))
		f.Var().Id("functions").Op("=").Index().Op("*").Qual(fewRowsPath, "Function").Add(elements(
			reflect.ValueOf(u.makings)))
		f.Line()
	}
	code := jen.Id("table").Dot("Code").Call()
	for _, f := range u.fewRows() {
		few := f.family().Dot("Code").Call(jen.Id("table").Dot("Types"))
		code = jen.Append(code, few.Op("..."))
	}
	declareCode(f, u.name, u.code, code)
	return add(f, path.Join(u.name, "kernels.go"), files)
}

// declareCode writes the embedded PTX and var code.
func declareCode(f *jen.File, name string, code *device, kernels jen.Code) {
	f.Anon("embed")
	f.Comment("//go:embed " + name + code.arch.suffix)
	f.Var().Id("ptx").Index().Byte()
	f.Line()
	f.Add(doc("code is the device code of this package."))
	f.Var().Id("code").Op("=").Qual(driverPath, "Code").Custom(lineByLine,
		set("Name", jen.Lit(name)),
		set("Source", jen.Lit(code.digest())),
		set("PTX", jen.Id("ptx")),
		set("Kernels", kernels),
	)
}

// add adds a Go file.
func add(f *jen.File, name string, files map[string][]byte) error {
	text, err := render(f, name)
	files[name] = text
	return err
}

// set is one field of a literal.
func set(name string, x jen.Code) jen.Code { return jen.Id(name).Op(":").Add(x) }
