package templates

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/kernels"
)

// A mutant is judged by these tests with another text of one file. The first variable is the name of the file, the
// second a file with the text, and the third a folder that mutants share: it keeps the engine and the programs that
// drive kernels, compiled, so that the mutant's kernels alone are compiled for each. Where the fourth is set these are
// kernels of all types, and else of bf16 where some are of it.
const (
	mutantFile    = "OVGEN_MUTANT_FILE"
	mutantText    = "OVGEN_MUTANT_TEXT"
	mutantObjects = "OVGEN_MUTANT_OBJECTS"
	mutantTypes   = "OVGEN_MUTANT_TYPES"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(mutantFile); name != "" {
		text, err := os.ReadFile(os.Getenv(mutantText))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		files = otherText{embedded, name, text}
	}
	own := ""
	if objects = os.Getenv(mutantObjects); objects == "" {
		var err error
		if own, err = os.MkdirTemp("", "ovgen"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		objects = own
	}
	failed := m.Run()
	os.RemoveAll(own)
	os.Exit(failed)
}

// otherText is a file system in which one file has another text.
type otherText struct {
	fs.FS
	name string
	text []byte
}

// ReadFile is the text of a file.
func (o otherText) ReadFile(name string) ([]byte, error) {
	if name == o.name {
		return o.text, nil
	}
	return fs.ReadFile(o.FS, name)
}

// mutant has the kernels that a mistake changes. What drives them is compiled once for all mutants, with the right
// kernels, which the mutant's ones come before.
type mutant struct {
	dir, hash string   // their code, and its hash
	kernels   []string // their names
}

// judged is the mutant of the code, and the folder with the code without the mistake and its hash. There is no mutant
// where none is judged, or where its parameters are not what programs pass.
func judged(t *testing.T, c code) (m mutant, dir, hash string, ok bool) {
	t.Helper()
	wrong, ok := files.(otherText)
	if !ok {
		return mutant{}, c.write(t), c.hash(t), false
	}
	cu, right := c.cu(t), ""
	rightly(func() { dir, hash, right = c.write(t), c.hash(t), c.cu(t) })
	if c.parameters(cu) != c.parameters(right) {
		return mutant{}, c.write(t), c.hash(t), false
	}
	if header, ok := strings.CutPrefix(wrong.name, "device/"); ok {
		m.kernels = c.using(header)
	} else {
		m.kernels = c.changed(cu, right)
	}
	if os.Getenv(mutantTypes) == "" {
		m.kernels = ofOneType(m.kernels)
	}
	only := c.only(t, m.kernels)
	m.dir, m.hash = only.write(t), only.hash(t)
	return m, dir, hash, true
}

// ofOneType are the kernels that are not of fp16 or fp32 or, where there is no other, all.
func ofOneType(names []string) []string {
	list := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return strings.HasSuffix(name, "_fp16") || strings.HasSuffix(name, "_fp32")
	})
	if len(list) == 0 {
		return names
	}
	return list
}

// rightly does f without the mistake.
func rightly(f func()) {
	wrong := files
	files = embedded
	defer func() { files = wrong }()
	f()
}

// cu is the text of the .cu.
func (c code) cu(t *testing.T) string {
	t.Helper()
	text, err := Render(c.parts...)
	if err != nil {
		t.Fatal(err)
	}
	return string(text.Bytes)
}

// hash is of all that is compiled with the code.
func (c code) hash(t *testing.T) string {
	t.Helper()
	var other any
	if wrong, ok := files.(otherText); ok {
		other = []string{wrong.name, string(wrong.text)}
	}
	return hashOf(c.cu(t), c.lists(), other)
}

// using names the kernels that use a header.
func (c code) using(header string) (names []string) {
	for _, d := range c.alone() {
		if header == HostHeader || slices.Contains(d.Headers(), header) {
			for _, k := range d.Host() {
				names = append(names, k.Name)
			}
		}
	}
	return names
}

// alone is each kernel by itself, with its own file where it has one.
func (c code) alone() (list []Device) {
	only := func(k []kernels.Kernel) Device {
		d := c.device
		d.FewRows, d.Own, d.Calls, d.Table.Kernels = nil, nil, nil, k
		return d
	}
	for _, k := range c.device.Table.Kernels {
		list = append(list, only([]kernels.Kernel{k}))
	}
	for _, m := range multipliers {
		d := only(nil)
		if d.FewRows = c.device.few(m.weight); len(d.FewRows) > 0 {
			list = append(list, d)
		}
	}
	for _, call := range c.device.Calls {
		d := only(nil)
		d.Own, d.Calls = c.device.Own, []Call{call}
		list = append(list, d)
	}
	return list
}

// Each kernel compiles with the headers that it names: a change of another header is none of the kernel.
func TestHeadersOfKernels(t *testing.T) {
	args := []string{"-fsyntax-only", "-Wno-unused-function"}
	for _, d := range slices.Concat(check(every()...).alone(), functionKernels(t).alone()) {
		args = append(args, filepath.Join(tested{d}.checked().write(t), hostDir, "check_host.cc"))
	}
	gcc(t, "/dev/null", append(args, ofAll...))
}

// A mutant has the kernels in which it differs, and no others.
func TestMutantKernels(t *testing.T) {
	defer func() { files = embedded }()
	if got := ofOneType([]string{"post", "sum_bf16", "sum_fp16", "sum_fp32"}); !slices.Equal(got,
		[]string{"post", "sum_bf16"}) {
		t.Errorf("of one type are %s", got)
	}
	t.Setenv(mutantTypes, "all")
	c := check(every()...)
	var all []string
	for _, k := range c.host.Kernels {
		all = append(all, k.Name)
	}
	for _, x := range []struct {
		file, old, to string
		want          []string
	}{
		{"post.cu.tmpl", "__threadfence_system();", "", []string{"post"}},
		{"gather.cu.tmpl", "< {{if .Varies}}", "<= {{if .Varies}}", []string{"gather"}},
		{"tiles.cu.tmpl", "await_word(there(p, ahead));", "", []string{"tiles_bf16", "tiles_fp16",
			"tiles2_bf16", "tiles2_fp16", "tiles3_bf16", "tiles3_fp16", "tiles4_bf16", "tiles4_fp16", "tiles5_bf16",
			"tiles5_fp16", "tiles6_bf16", "tiles6_fp16", "tiles7_bf16", "tiles7_fp16", "tiles8_bf16", "tiles8_fp16"}},
		{"device/groups.h", "", "\n", each("groups", "groups2", "packets3", "packets4", "packets5",
			"packetspread4", "packetspread5", "packetspread6", "packetrows", "packetrows2", "packetrows3")},
		{"device/packets.h", "", "\n", append(each("packets", "packets2", "packets3", "packets4", "packets5",
			"packets6", "packetspread", "packetspread2", "packetspread3", "packetspread4", "packetspread5",
			"packetspread6", "packetrows", "packetrows2", "packetrows3"), "packetgather")},
		{"device/rows.h", "", "\n", each("packetrows", "packetrows2", "packetrows3")},
		{"device/elements.h", "", "\n", append(each("elements", "elements2", "elements3", "reduce3", "reduce6", "widen",
			"packets6", "packetspread3", "packetrows", "packetrows3", "push3"), "scatter4_bf16", "scatter4_fp16")},
		{"device/ptx.h", "", "\n", all},
		{"device/host.h", "", "\n", all},
		{"head.cu.tmpl", "Every kernel", "Any kernel", all},
	} {
		text, err := embedded.ReadFile(x.file)
		if err != nil {
			t.Fatal(err)
		}
		files = otherText{embedded, x.file, []byte(strings.Replace(string(text), x.old, x.to, 1))}
		m, _, _, ok := judged(t, c)
		slices.Sort(m.kernels)
		slices.Sort(x.want)
		if !ok || !slices.Equal(m.kernels, x.want) {
			t.Errorf("%s: a mutant (%t) of %s, want %s", x.file, ok, m.kernels, x.want)
			continue
		}
		cu, err := os.ReadFile(filepath.Join(m.dir, c.name, c.name+".cu"))
		if n := strings.Count(string(cu), "__global__ void"); err != nil || n != len(x.want) {
			t.Errorf("%s: its code has %d kernels (%v), want %d", x.file, n, err, len(x.want))
		}
	}
}

// each are the kernels of all types, of these names.
func each(names ...string) (list []string) {
	for _, name := range names {
		list = append(list, name+"_bf16", name+"_fp16", name+"_fp32")
	}
	return list
}

// A struct, as the part of a kernel starts with that of its parameters, and a kernel's name.
var (
	aStruct = regexp.MustCompile(`(?s)\nstruct (\w+) \{.*?\n\};`)
	aName   = regexp.MustCompile(`\n__global__ void [^;]*?(\w+)\(const`)
)

// parameters are the declarations of what kernels are passed.
func (c code) parameters(cu string) (text string) {
	for _, m := range aStruct.FindAllStringSubmatch(cu, -1) {
		if slices.ContainsFunc(c.host.Kernels, func(k HostKernel) bool { return k.Params == m[1] }) {
			text += m[0]
		}
	}
	return text
}

// changed names the kernels whose text differs: all where what they have in common does.
func (c code) changed(cu, right string) (names []string) {
	parts := c.cut(right)
	for name, text := range c.cut(cu) {
		switch {
		case text == parts[name]:
		case name == "":
			text = cu
			fallthrough
		default:
			for _, m := range aName.FindAllStringSubmatch(text, -1) {
				names = append(names, m[1])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// cut is the part of each kernel, by the name of its parameters, and with no name what comes before them.
func (c code) cut(cu string) map[string]string {
	parts, name, from := map[string]string{}, "", 0
	for _, m := range aStruct.FindAllStringSubmatchIndex(cu, -1) {
		next := strings.TrimSuffix(cu[m[2]:m[3]], "_finish") // of its sum's function, whose code comes first
		if next != name && slices.ContainsFunc(c.host.Kernels, func(k HostKernel) bool { return k.Params == next }) {
			parts[name], name, from = cu[from:m[0]], next, m[0]
		}
	}
	parts[name] = cu[from:]
	return parts
}
