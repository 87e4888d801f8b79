package imports_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"ovgen/cmd/ovgen/internal/module"
	"ovgen/verify/sampling"
)

// Every package and its tests are right Go without cgo where none of them was compiled. No
// code is made of them here, as make cross does: types are checked from source. Make check
// asks for it.
func TestPlatforms(t *testing.T) {
	if os.Getenv("OVGEN_PLATFORMS") == "" {
		t.Skip("OVGEN_PLATFORMS is not set")
	}
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	for i, platform := range []struct{ system, machine string }{{"darwin", "arm64"}, {"linux", "arm64"}} {
		t.Run(platform.system+"/"+platform.machine, func(t *testing.T) {
			sampling.Test(t, i, 2)
			all, err := packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
					packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesSizes,
				Env:       append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.system, "GOARCH="+platform.machine),
				Tests:     true,
				ParseFile: parse(root),
			}, module.Path+"/...")
			if err != nil {
				t.Fatal(err)
			}
			if len(all) < 100 {
				t.Fatalf("%d packages were loaded", len(all))
			}
			for _, p := range all {
				for _, wrong := range p.Errors {
					t.Errorf("%s: %v", p.ID, wrong)
				}
			}
		})
	}
}

// parse leaves out what functions outside of root do: others have checked that, and it would take longer than all of
// what lies in root.
func parse(root string) func(*token.FileSet, string, []byte) (*ast.File, error) {
	return func(files *token.FileSet, name string, text []byte) (*ast.File, error) {
		file, err := parser.ParseFile(files, name, text, parser.AllErrors|parser.SkipObjectResolution)
		made := !strings.HasSuffix(name, ".go") // the main packages of tests, which the go command writes to its cache
		if file == nil || made || strings.HasPrefix(name, root+string(filepath.Separator)) {
			return file, err
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				f.Body = nil
			}
		}
		return file, err
	}
}
