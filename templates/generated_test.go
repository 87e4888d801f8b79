package templates

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the other tests here run is what packages have: behind the head comment, the .cu of
// every package that is checked in is a row of the texts that they compile, but for its name.
func TestGeneratedText(t *testing.T) {
	d, _, sources := transport()
	run := sections(t, d, sources)
	checks, _, checked := checking()
	files, err := filepath.Glob("../generated/*/*.cu")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, known := strings.TrimSuffix(filepath.Base(file), ".cu"), run
		if name == checks.Package {
			known = sections(t, checks, checked)
		}
		if wrong := unlike(string(text), name, known, used); wrong != "" {
			t.Errorf("%s: no test runs this:\n%s", file, wrong)
		}
	}
	for _, s := range append(run, sections(t, checks, checked)...) {
		if !used[s.template] {
			t.Errorf("no package has what %s says, or none was looked at", s.template)
		}
	}
}

// What is no section, stands twice or in another order is told.
func TestUnlike(t *testing.T) {
	known := []section{{"a.cu.tmpl", "void check_a() {}\n"}, {"b.cu.tmpl", "void check_b() {}\n"}}
	const head = "// About.\n#include \"p.h\"\n"
	for _, c := range []struct{ text, want string }{
		{head + "void p_a() {}\nvoid p_b() {}\n", ""},
		{head + "void p_b() {}\n", ""},
		{head + "void p_b() {}\nvoid p_a() {}\n", "void check_a() {}\n"},
		{head + "void p_a() {}\nvoid p_a() {}\n", "void check_a() {}\n"},
		{head + "void p_a() { }\n", "void check_a() { }\n"},
		{"void p_a() {}\n", "a .cu that does not include p.h"},
	} {
		if got := unlike(c.text, "p", known, map[string]bool{}); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// section is what a template rendered to, in a package named check.
type section struct{ template, text string }

// sections are the parts of a .cu behind its head.
func sections(t *testing.T, d Device, sources []string) (parts []section) {
	t.Helper()
	for _, source := range sources[1:] {
		text, err := Render(d, source)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, section{source, strings.ReplaceAll(string(text.Bytes), d.Package+"_", "check_")})
	}
	return parts
}

// unlike returns what follows in a package's .cu behind the sections that it starts with.
func unlike(text, name string, known []section, used map[string]bool) string {
	_, rest, found := strings.Cut(text, "#include \""+name+".h\"\n")
	if !found {
		return "a .cu that does not include " + name + ".h"
	}
	rest = strings.ReplaceAll(rest, name+"_", "check_")
	for _, s := range known {
		if after, ok := strings.CutPrefix(rest, s.text); ok {
			rest, used[s.template] = after, true
		}
	}
	return rest
}
