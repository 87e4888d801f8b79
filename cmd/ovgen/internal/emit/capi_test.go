package emit

import (
	"path/filepath"
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
