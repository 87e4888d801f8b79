package emit

import (
	"path"
	"reflect"

	"github.com/dave/jennifer/jen"
)

// kernelFiles adds kernels.go and host.go.
func (u *unit) kernelFiles(files map[string][]byte) error {
	f := u.file()
	f.Add(docf("table describes the kernels of %s.cu.", u.name))
	f.Var().Id("table").Op("=").Add(named(reflect.TypeOf(u.kernels))).
		Add(fieldsOf(reflect.ValueOf(u.kernels), lineByLine))
	f.Line()
	declareCode(f, u.name, u.code, jen.Id("table").Dot("Code").Call())
	if err := add(f, path.Join(u.name, "kernels.go"), files); err != nil {
		return err
	}
	return hostFile(u.file(), u.name, u.options, files)
}

// declareCode writes the embedded PTX and var code.
func declareCode(f *jen.File, name string, code *device, kernels jen.Code) {
	f.Anon("embed")
	f.Comment("//go:embed " + name + code.arch.suffix)
	f.Var().Id("ptx").Index().Byte()
	f.Line()
	f.Add(doc("code is the device code of this package: PTX for a GPU, and the same kernels compiled for the host."))
	f.Var().Id("code").Op("=").Qual(driverPath, "Code").Custom(lineByLine,
		set("Name", jen.Lit(name)),
		set("Source", jen.Lit(code.digest())),
		set("PTX", jen.Id("ptx")),
		set("Kernels", kernels),
	)
}

// hostFile adds host.go, which a build without cgo leaves out.
func hostFile(f *jen.File, name string, opt Options, files map[string][]byte) error {
	f.Anon(path.Join(opt.ImportPath, headersName))
	f.CgoPreamble("#cgo CXXFLAGS: -std=c++17 -O2 -fno-strict-aliasing\nconst void *" + name +
		"_kernels(const void *engine);")
	f.Comment("The kernels compiled for the host are in " + name + "_host.cc.")
	f.Func().Id("init").Params().Block(
		jen.Id("code").Dot("Host").Op("=").Qual("unsafe", "Pointer").Call(jen.Qual("C", name+"_kernels")))
	return add(f, path.Join(name, "host.go"), files)
}

// add adds a Go file.
func add(f *jen.File, name string, files map[string][]byte) error {
	text, err := render(f, name)
	files[name] = text
	return err
}

// set is one field of a literal.
func set(name string, x jen.Code) jen.Code { return jen.Id(name).Op(":").Add(x) }
