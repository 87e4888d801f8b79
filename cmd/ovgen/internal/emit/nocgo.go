package emit

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"path"

	"github.com/dave/jennifer/jen"

	"ovgen/templates"
)

// noCgoFile adds nocgo.go, which stands for kernels.go in a build without cgo: the
// program compiles, and its New fails with driver.ErrUnavailable.
func (u *unit) noCgoFile(kernels []byte, files map[string][]byte) error {
	f := u.file()
	noCgoCode(f, u.name)
	switch {
	case u.signals():
		f.Const().Id("maxRanks").Op("=").Lit(templates.Peers + 1)
	case u.limited():
		f.Const().Id("maxRanks").Op("=").Lit(templates.Terms)
	}
	f.Line()
	f.Add(doc("kernels is empty: New fails, since the package launches kernels and this build has no cgo."))
	f.Type().Id("kernels").Struct()
	methods, err := launching(kernels)
	if err != nil {
		return fmt.Errorf("%s, as generated: %w", path.Join(u.name, "kernels.go"), err)
	}
	params := []jen.Code{jen.Id("b").Op("*").Qual(planPath, "Builder")}
	if u.sums() {
		params = append(params, jen.Id("_").Qual(driverPath, "Type"))
	}
	f.Line()
	f.Func().Params(jen.Op("*").Id("kernels")).Id("build").Params(params...).Block(jen.Id("b").Dot("NoCgo").Call())
	for _, m := range methods {
		f.Line()
		f.Id(m)
	}
	return addNoCgo(f, u.name, files)
}

// noCgoCode writes var code without kernels.
func noCgoCode(f *jen.File, name string) {
	f.HeaderComment("//go:build !cgo")
	f.Add(doc("code is empty: kernels are C++, and this build has no cgo."))
	f.Var().Id("code").Op("=").Qual(driverPath, "Code").Values(jen.Id("Name").Op(":").Lit(name))
	f.Line()
}

func addNoCgo(f *jen.File, dir string, files map[string][]byte) error {
	name := path.Join(dir, "nocgo.go")
	text, err := render(f, name)
	files[name] = text
	return err
}

// launching are the methods of kernels.go that the program calls to launch a kernel,
// without what they do.
func launching(kernels []byte) ([]string, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "kernels.go", kernels, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var methods []string
	for _, d := range file.Decls {
		m, ok := d.(*ast.FuncDecl)
		if !ok || m.Recv == nil || len(m.Type.Params.List) == 0 ||
			types.ExprString(m.Type.Params.List[0].Type) != "*plan.Queue" {
			continue
		}
		m.Doc, m.Body, m.Recv.List[0].Names = nil, nil, nil
		var text bytes.Buffer
		if err := format.Node(&text, fset, m); err != nil {
			return nil, err
		}
		methods = append(methods, text.String()+" {}")
	}
	return methods, nil
}
