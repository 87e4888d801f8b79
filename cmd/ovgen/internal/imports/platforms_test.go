package imports_test

import (
	"os"
	"testing"

	"golang.org/x/tools/go/packages"

	"ovgen/cmd/ovgen/internal/module"
)

// Every package and its tests are right Go without cgo where none of them was compiled. No
// code is made of them here, as make cross does: types are checked from source. Make check
// asks for it.
func TestPlatforms(t *testing.T) {
	if os.Getenv("OVGEN_PLATFORMS") == "" {
		t.Skip("OVGEN_PLATFORMS is not set")
	}
	for _, platform := range []struct{ system, machine string }{{"darwin", "arm64"}, {"linux", "arm64"}} {
		t.Run(platform.system+"/"+platform.machine, func(t *testing.T) {
			all, err := packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
					packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo |
					packages.NeedTypesSizes,
				Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.system, "GOARCH="+platform.machine),
				Tests: true,
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
