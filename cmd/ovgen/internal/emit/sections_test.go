package emit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/dave/jennifer/jen"
)

// TestScreens: each function of the generated programs fits a screen.
func TestScreens(t *testing.T) {
	found := 0
	for _, dir := range []string{"../../../../generated", "../../../../docs/examples/llama/generated"} {
		files, err := filepath.Glob(dir + "/*/program.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("no programs in %s: %v", dir, err)
		}
		for _, name := range files {
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				x, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				found++
				if n := set.Position(x.End()).Line - set.Position(x.Pos()).Line + 1; n > mostLines {
					t.Errorf("%s: %s has %d lines, more than %d", name, x.Name.Name, n, mostLines)
				}
			}
		}
	}
	if least := 400; found < least {
		t.Errorf("%d functions, want %d", found, least)
	}
}

// TestDivisible: a section ends where something has been filled, before a paragraph, and where no variable of it is
// used behind it.
func TestDivisible(t *testing.T) {
	uses := func(names ...string) map[string]bool {
		used := map[string]bool{}
		for _, n := range names {
			used[n] = true
		}
		return used
	}
	items := []item{
		{code: []jen.Code{jen.Id("begin").Call()}},
		{code: []jen.Code{jen.Id("fill").Call()}, fills: []string{"A"}, apart: true},
		{defines: "host", value: jen.Id("h")},
		{code: []jen.Code{jen.Id("fill").Call(jen.Id("host"))}, fills: []string{"B"}, apart: true, used: uses("host")},
		{code: []jen.Code{jen.Id("fill").Call(jen.Id("host"))}, fills: []string{"C"}, apart: true, used: uses("host")},
		{defines: "host", value: jen.Id("d")},
		{code: []jen.Code{jen.Id("fill").Call(jen.Id("host"))}, fills: []string{"C"}, apart: true, used: uses("host")},
		{code: []jen.Code{jen.Id("end").Call()}},
	}
	want := map[int]bool{2: true, 5: true, 8: true}
	for to := 1; to <= len(items); to++ {
		if got := divisible(items, 0, to); got != want[to] {
			t.Errorf("before item %d: %v, want %v", to, got, want[to])
		}
	}
	first := sectionOf(items[:5], []string{"fillC"})
	if want := "fillC2 enqueues what fills A, B and C."; first.text != want {
		t.Errorf("got %q, want %q", first.text, want)
	}
	if end := sectionOf(items[7:], nil); end.name != "finish" {
		t.Errorf("what fills nothing is called %s", end.name)
	}
}
