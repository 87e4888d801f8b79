package emit

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/schedule/catalog"
)

// TestLibrary holds the C library of two schedules, one of them with counts.
func TestLibrary(t *testing.T) {
	files, err := Packages([]Input{program(t, "Plain", matmul()), program(t, "Uneven", catalog.AllGatherV)},
		Options{ImportPath: "example.com/user/made", Compiler: fake{}, Library: "../library"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, text := range files {
		base, ok := strings.CutPrefix(name, "../library/")
		if !ok {
			continue
		}
		n++
		compare(t, filepath.Join("testdata", "library", base+".golden"), text)
	}
	if n != 5 {
		t.Errorf("%d files, want 5", n)
	}
}

// Every function that the header declares is exported, and no other.
func TestLibraryExports(t *testing.T) {
	files, err := Packages([]Input{program(t, "Plain", matmul())},
		Options{ImportPath: "example.com/user/made", Compiler: fake{}, Library: "../c"})
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	for name, text := range files {
		if strings.HasPrefix(name, "../c/") && strings.HasSuffix(name, ".go") {
			code.Write(text)
		}
	}
	exported := map[string]bool{}
	for line := range strings.Lines(code.String()) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "//export "); ok {
			exported[name] = true
		}
	}
	declared := map[string]bool{}
	for line := range strings.Lines(string(files["../c/ovgen.h"])) {
		for _, result := range []string{"int ", "void "} {
			if rest, ok := strings.CutPrefix(line, result); ok && strings.ContainsRune(rest, '(') {
				name, _, _ := strings.Cut(rest, "(")
				declared[name] = true
			}
		}
	}
	if diff := cmp.Diff(declared, exported); diff != "" || len(declared) < 17 {
		t.Errorf("%d declared (-declared +exported):\n%s", len(declared), diff)
	}
}

// The structs of the example for PyTorch have the fields of the header, those of eight bits with their scales.
func TestTorchStructs(t *testing.T) {
	files, err := Packages([]Input{program(t, "AllGatherMatmul", catalog.AllGatherMatmul),
		program(t, "AllGatherLinearFP8", catalog.AllGatherLinearFP8)},
		Options{ImportPath: "example.com/user/made", Compiler: fake{}, Library: "../c"})
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("../../../../docs/examples/torch/allgather_matmul.py")
	if err != nil {
		t.Fatal(err)
	}
	names := func(pattern, text string) (list []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			list = append(list, m[1])
		}
		return list
	}
	structs := regexp.MustCompile(`struct (\w+)"""\s+_fields_ = (.*)`).FindAllStringSubmatch(string(code), -1)
	for _, s := range structs {
		_, body, found := strings.Cut(string(files["../c/ovgen.h"]), "struct "+s[1]+" {\n")
		body, _, _ = strings.Cut(body, "\n};")
		got, want := names(`"(\w+)"`, s[2]), names(`ovgen_ptr (\w+);`, body)
		if !found || !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", s[1], got, want)
		}
	}
	if len(structs) != 2 {
		t.Errorf("%d structs", len(structs))
	}
}

// A schedule may have a name that the library's own code has, or Go.
func TestLibraryNames(t *testing.T) {
	for _, name := range append(slices.Clone(libraryNames), "string", "error") {
		files, err := Packages([]Input{program(t, strings.ToUpper(name[:1])+name[1:], matmul())},
			Options{ImportPath: "example.com/user/made", Compiler: fake{}, Library: "../c"})
		if err != nil {
			t.Fatal(err)
		}
		text := string(files["../c/"+name+"_c.go"])
		if !strings.Contains(text, name+"plan \"example.com/user/made/"+name+"\"") ||
			!strings.Contains(text, name+"plan.Shape{") {
			t.Errorf("the package of %s is not named apart:\n%s", name, text)
		}
	}
}

func TestLibraryFolder(t *testing.T) {
	for folder, ok := range map[string]bool{"../c": true, "..": true, "../../x/c": true, ".": false, "c": false,
		"run/c": false, "..c": false} {
		_, err := Packages([]Input{program(t, "Plain", matmul())},
			Options{ImportPath: "example.com/user/made", Compiler: fake{}, Library: folder})
		if ok != (err == nil) || !ok && !strings.Contains(err.Error(), "lies in that of the packages") {
			t.Errorf("%q: error %v, want one: %v", folder, err, !ok)
		}
	}
}
