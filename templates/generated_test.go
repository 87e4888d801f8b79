package templates

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/runtime/kernels"
	s "ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
)

// The other tests here run the text of packages: each package that is checked in has the same headers, and every
// part of its .cu after the head comment is rendered there too.
func TestGeneratedText(t *testing.T) {
	headers, err := Headers()
	if err != nil {
		t.Fatal(err)
	}
	have, err := filepath.Glob("../generated/device/*.h")
	if err != nil {
		t.Fatal(err)
	}
	if len(have) != len(headers) {
		t.Errorf("%d headers are generated: %v, want %d", len(have), have, len(headers))
	}
	for _, file := range have {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, headers[filepath.Base(file)]) {
			t.Errorf("%s: the tests run another text", file)
		}
	}
	run, checked := known(t), sections(t, checking())
	of16 := known(t, driver.BF16, driver.FP16) // of packages with eight bits
	// In the simulator's engine no launch starts early, so its tests run kernels that do nothing for that. TestThreads
	// runs kernels that start early, TestEarly products, and the test of package programs all that such a package has.
	early := included(t, sections(t, withFewRows(t, fewrows.Family(allFewRows).Early(), every())))
	functions, _ := fewFunctions()
	making := included(t, sections(t, withFewRows(t, fewrows.Kernels.With(nil, functions[0]), every())))
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
		list := run
		switch {
		case strings.TrimSuffix(filepath.Base(file), ".cu") == checking().name:
			list = checked
		case bytes.Contains(text, []byte(", true, as_it_is>::run(p)")): // products that start early
			list = early
		case bytes.Contains(text, []byte("struct made1 :")): // products with SwiGLU
			list = making
		case !bytes.Contains(text, []byte("_fp32(")):
			list = of16
		}
		if wrong := unlike(numbered.ReplaceAllString(string(text), here+"\n}"), list, used); wrong != "" {
			t.Errorf("%s: no test runs this:\n%s", file, wrong)
		}
	}
	for _, s := range append(sections(t, withAttention(t, transportList())), checked...) {
		if !used[s.name] {
			t.Errorf("no package has what %s says, or none was looked at", s.name)
		}
	}
}

// known are the sections of every kernel, for elements of these types: of none, of all that the tests run.
func known(t *testing.T, types ...driver.Type) []section {
	t.Helper()
	list := slices.Concat(sections(t, withAttention(t, every(), types...)), tilesAlone(t, false, types...),
		tilesAlone(t, true, types...))
	behind := slices.IndexFunc(list, func(s section) bool { return strings.HasPrefix(s.name, string(kernels.Tiles)) })
	list = included(t, slices.Insert(list, behind, ofCatalog(t, types...)...))
	d := device(ofCodes...)
	if len(types) > 0 {
		d.Table.Types = types
	}
	coded, i := sections(t, d.checked()), slices.IndexFunc(list, func(s section) bool { return s.name == sumHeader })
	own := slices.DeleteFunc(slices.Clone(coded), func(s section) bool { return s.name == "" || s.name[0] == '#' })
	of := slices.IndexFunc(coded, func(s section) bool { return s.name == sumHeader })
	list = slices.Insert(list, i+1, coded[of+1])
	behind = slices.IndexFunc(list, func(s section) bool { return strings.HasPrefix(s.name, string(kernels.Elements)) })
	return slices.Insert(list, behind, own...)
}

// sumHeader is the name of the section that includes the code of sums; that of sums of codes is behind it.
const sumHeader = `#include "../device/sum.h"`

// tilesAlone has the kernels of tiles without a bias, in order or not, and the kernels that add a tensor to their sum,
// numbered as in a package that has no others: every has them behind others, and TestHopper those in order.
func tilesAlone(t *testing.T, inOrder bool, types ...driver.Type) []section {
	t.Helper()
	d := device()
	if len(types) > 0 {
		d.Table.Types = types
	}
	for _, k := range transportList() {
		if k.Multiplies() {
			k.Bias, k.InOrder = false, inOrder
			if k.Scatters() {
				k.Added = 1
			}
			d.Table.Kernels = append(d.Table.Kernels, k)
		}
	}
	return slices.DeleteFunc(sections(t, d.checked()), func(s section) bool {
		return s.name == "" || strings.HasPrefix(s.name, "#")
	})
}

// included are sections with the includes of the catalog's formulas among their own, in the order that both have.
func included(t *testing.T, list []section) (merged []section) {
	t.Helper()
	exact, inexact := catalogFormulas(t)
	d, _ := ofFormulas(t, append(exact, inexact...), driver.BF16, driver.FP16, driver.FP32)
	more := slices.DeleteFunc(sections(t, d.checked()), func(s section) bool { return !strings.HasPrefix(s.name, "#") })
	for _, s := range list {
		if i := slices.Index(more, s); i >= 0 {
			merged, more = append(merged, more[:i]...), more[i+1:]
		}
		merged = append(merged, s)
	}
	return merged
}

// ofCatalog are the kernels of the catalog's formulas, each as the first of its kind and as the second, those of
// elements ahead of those of groups. TestFormulas and TestInexact run them.
func ofCatalog(t *testing.T, types ...driver.Type) (parts []section) {
	t.Helper()
	exact, inexact := catalogFormulas(t)
	for _, f := range append(exact, inexact...) {
		for number := range 2 {
			d := device()
			if len(types) > 0 {
				d.Table.Types = types
			}
			d.Formulas = map[string]*Code{}
			k, code, err := f.Kernel()
			if err != nil {
				t.Fatal(err)
			}
			k.Number, k.Made.Word = number+1, "the catalog's"
			d.Table.Kernels, d.Formulas[k.Made.Word] = []kernels.Kernel{k}, code
			for _, p := range d.checked().parts {
				if k, ok := p.Data.(Kernel); ok {
					rendered, err := Render(p)
					if err != nil {
						t.Fatal(err)
					}
					parts = append(parts, section{k.Name, string(rendered.Bytes)})
				}
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b section) int {
		return strings.Compare(strings.TrimRight(a.name, "2"), strings.TrimRight(b.name, "2"))
	})
	return parts
}

// catalogFormulas are the formulas of steps of the catalog's programs; inexact ones have functions that a host and a
// GPU make otherwise.
func catalogFormulas(t *testing.T) (exact, inexact []Formula) {
	t.Helper()
	for _, n := range catalog.All() {
		p, err := lower.Lower(n.Name, n.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		hostir.Steps(p.Body, func(step hostir.Step) {
			x, _ := step.Do.(hostir.Apply)
			typeOf := func(v hostir.View) driver.Type {
				b, _ := p.Buffer(v.Buffer)
				own, _ := driver.ParseType(string(b.Tensor.Type))
				return own
			}
			var formula func(x hostir.Apply) Formula
			formula = func(x hostir.Apply) Formula {
				f := Formula{Trees: x.Makes, Width: width, Result: typeOf(x.To), Scales: typeOf(x.Scales),
					Types: map[string]driver.Type{"": typeOf(x.X)}}
				for i, o := range s.Operands(x.Nodes()) {
					f.Types[o.Tensor] = typeOf(x.Operands[i])
				}
				for _, then := range x.Then {
					f.Then = append(f.Then, formula(then))
				}
				return f
			}
			f := formula(x)
			var same func(a, b Formula) bool
			same = func(a, b Formula) bool {
				return a.String() == b.String() && a.Result == b.Result && a.Scales == b.Scales &&
					maps.Equal(a.Types, b.Types) && slices.EqualFunc(a.Then, b.Then, same)
			}
			alike := func(o Formula) bool { return same(o, f) }
			switch {
			case x.Makes == nil || slices.ContainsFunc(append(exact, inexact...), alike):
			case slices.ContainsFunc(x.Nodes(), func(n s.Node) bool {
				return slices.Contains([]s.Do{s.DoExp, s.DoTanh, s.DoErf, s.DoLog}, n.Do)
			}):
				inexact = append(inexact, f)
			default:
				exact = append(exact, f)
			}
		})
	}
	return exact, inexact
}

// numbered is where a file of the caller's ends in a .cu.
var numbered = regexp.MustCompile(`#line \d+ "[a-z0-9]+\.cu"\n}`)

// attention is the catalog's.
func attention(t *testing.T) Own {
	text, err := os.ReadFile("../schedule/catalog/attention.cu")
	if err != nil {
		t.Fatal(err)
	}
	return Own{Name: "attention.cu", Text: string(text)}
}

// attentionCall is how the catalog calls it.
var attentionCall = Call{Call: kernels.Call{Name: "Attention", Operands: 3, Args: 4}, File: "attention.cu",
	Function: "causal", Out: "O", In: []string{"Query", "Key", "Value"}, Threads: 128}

// withAttention has these kernels, products of few rows, and attention.
func withAttention(t *testing.T, list []kernels.Kernel, types ...driver.Type) code {
	return withFewRows(t, allFewRows, list, types...)
}

// withFewRows is withAttention by these products of few rows.
func withFewRows(t *testing.T, few fewrows.Family, list []kernels.Kernel, types ...driver.Type) code {
	d := device(list...)
	if len(types) > 0 {
		d.Table.Types = types
	}
	d.FewRows = few
	d.Table.Early = slices.ContainsFunc(few, func(k fewrows.Kernel) bool { return k.Early })
	d.Own, d.Calls = []Own{attention(t)}, []Call{attentionCall}
	return d.checked()
}

// A part that is no section, stands twice or stands in another order is reported.
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

// preamble ends the head comment of every .cu.
const preamble = "// is launched once before the first run.\n"

// section is a part of a .cu: the line that includes a header, or what a template rendered to.
type section struct{ name, text string }

// sections are the parts of a .cu after its head comment. The second kernel of a kind has the name of the first, as in
// a package that has no other.
func sections(t *testing.T, c code) (parts []section) {
	t.Helper()
	for i, p := range c.parts {
		rendered, err := Render(p)
		if err != nil {
			t.Fatal(err)
		}
		text := string(rendered.Bytes)
		switch k, ok := p.Data.(Kernel); {
		case i == 0:
			_, includes, _ := strings.Cut(text, preamble)
			for line := range strings.Lines(includes) {
				parts = append(parts, section{strings.TrimSpace(line), line})
			}
		case ok && k.Multiplies(): // of which a package has several, by shape
			parts = append(parts, section{k.Name, text})
		case ok:
			parts = append(parts, section{k.Name, strings.ReplaceAll(text, k.Name, string(k.Kind))})
		default:
			parts = append(parts, section{p.Template, text})
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

// TestPacketsFit: two blocks of a kernel of packets have room on a multiprocessor, as plan.MostPacketBlocks takes them
// to have; ptxas keeps to what an entry asks for.
func TestPacketsFit(t *testing.T) {
	files, err := filepath.Glob("../generated/*/*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`\.entry (packet[a-z0-9_]*)\([^)]*\)\n` +
		`(\.maxntid (?:512|256), 1, 1\n\.minnctapersm 2\n)?`)
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range asked.FindAllSubmatch(text, -1) {
			if found++; len(m[2]) == 0 {
				t.Errorf("%s: %s does not ask for room for two blocks of 512 threads, or fewer", file, m[1])
			}
		}
	}
	if found == 0 {
		t.Error("no package has a kernel of packets")
	}
}
