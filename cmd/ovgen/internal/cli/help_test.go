package cli

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
	"unicode/utf8"

	"ovgen/schedule"
)

// The help is one screen, and every verb has its own with examples that it can parse.
func TestHelp(t *testing.T) {
	var b bytes.Buffer
	help(&b)
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if len(lines) > 24 {
		t.Errorf("%d lines, want at most 24:\n%s", len(lines), &b)
	}
	for _, l := range lines {
		if utf8.RuneCountInString(l) > 80 {
			t.Errorf("%d columns, want at most 80: %s", utf8.RuneCountInString(l), l)
		}
	}
	for _, v := range verbs {
		if !strings.Contains(b.String(), "\n  "+v.name+" ") {
			t.Errorf("it lacks %s", v.name)
		}
		if len(v.examples) < 2 {
			t.Errorf("%s has %d examples, want 2 or more", v.name, len(v.examples))
		}
		for _, e := range v.examples {
			e, _, _ = strings.Cut(e, " | ")
			words := strings.Fields(e)
			if words[0] != "ovgen" {
				continue
			}
			c := &call{verb: v}
			if words[1] != v.name {
				t.Errorf("%s has an example of another verb: %s", v.name, e)
			} else if err := c.parse(v, words[2:]); err != nil {
				t.Errorf("%s: %v", e, err)
			}
		}
	}
}

// TestFunctions: help functions has each constructor of package schedule.
func TestFunctions(t *testing.T) {
	var b bytes.Buffer
	if err := printFunctions(&b); err != nil {
		t.Fatal(err)
	}
	const library = "../../../../schedule/library.go"
	file, err := parser.ParseFile(token.NewFileSet(), library, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !f.Name.IsExported() || f.Type.Results == nil {
			continue
		}
		if of, ok := f.Type.Results.List[0].Type.(*ast.Ident); ok && of.Name == "Func" && f.Name.Name != "Of" {
			found++
			if !strings.Contains(b.String(), f.Name.Name+"(") {
				t.Errorf("it lacks %s", f.Name.Name)
			}
		}
	}
	if want := len(schedule.Library()) + len(numbered); found != want {
		t.Errorf("%d constructors, want %d", found, want)
	}
}
