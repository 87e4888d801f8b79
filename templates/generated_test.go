package templates

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What the other tests here run is what packages have: after the head comment, the .cu of every
// package that is checked in is a row of the texts that they compile.
func TestGeneratedText(t *testing.T) {
	run, checked := sections(t, transport()), sections(t, checking())
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
		known := run
		if strings.TrimSuffix(filepath.Base(file), ".cu") == checking().name {
			known = checked
		}
		if wrong := unlike(string(text), known, used); wrong != "" {
			t.Errorf("%s: no test runs this:\n%s", file, wrong)
		}
	}
	for _, s := range append(run, checked...) {
		if !used[s.name] {
			t.Errorf("no package has what %s says, or none was looked at", s.name)
		}
	}
}

// What is no section, stands twice or in another order is told.
func TestUnlike(t *testing.T) {
	known := []section{{"a", "void a() {}\n"}, {"b", "void b() {}\n"}}
	const head = "// About.\n" + preamble
	for _, c := range []struct{ text, want string }{
		{head + "void a() {}\nvoid b() {}\n", ""},
		{head + "void b() {}\n", ""},
		{head + "void b() {}\nvoid a() {}\n", "void a() {}\n"},
		{head + "void a() {}\nvoid a() {}\n", "void a() {}\n"},
		{head + "void a() { }\n", "void a() { }\n"},
		{"void a() {}\n", "a .cu without " + preamble},
	} {
		if got := unlike(c.text, known, map[string]bool{}); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// preamble ends the head of every .cu.
const preamble = "#define DEVICE static __device__ __forceinline__\ntypedef unsigned long long u64;\n"

// section is a part of a .cu: what a template rendered to, or a paragraph of one that leaves out
// what a package has no use for.
type section struct{ name, text string }

// sections are the parts of a .cu after its head. The second kernel of a kind has the name of the
// first, as in a package that has no other.
func sections(t *testing.T, c code) (parts []section) {
	t.Helper()
	for _, p := range c.parts[1:] {
		rendered, err := Render(p)
		if err != nil {
			t.Fatal(err)
		}
		text := string(rendered.Bytes)
		if k, ok := p.Data.(Kernel); ok {
			parts = append(parts, section{k.Name, strings.ReplaceAll(text, k.Name, string(k.Kind))})
			continue
		}
		paragraphs := strings.Split(strings.TrimSuffix(text, "\n"), "\n\n")
		if p.Template != "ptx.cu.tmpl" && p.Template != "blocks.cu.tmpl" {
			paragraphs = []string{strings.TrimSuffix(text, "\n")}
		}
		for i, x := range paragraphs {
			if i > 0 {
				x = "\n" + x
			}
			parts = append(parts, section{fmt.Sprintf("%s, paragraph %d", p.Template, i+1), x + "\n"})
		}
	}
	return parts
}

// unlike returns what follows in a package's .cu after the sections that it starts with.
func unlike(text string, known []section, used map[string]bool) string {
	_, rest, found := strings.Cut(text, preamble)
	if !found {
		return "a .cu without " + preamble
	}
	for _, s := range known {
		if after, ok := strings.CutPrefix(rest, s.text); ok {
			rest, used[s.name] = after, true
		}
	}
	return rest
}
