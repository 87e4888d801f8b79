package templates

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"ovgen/runtime/kernels"
)

// A mutant is judged by these tests with another text of one file. The first variable is the name of the file, the
// second a file with the text, and the third a folder that mutants share: it keeps the engine and the programs that
// drive kernels, compiled, so that the mutant's kernels alone are compiled for each.
const (
	mutantFile    = "OVGEN_MUTANT_FILE"
	mutantText    = "OVGEN_MUTANT_TEXT"
	mutantObjects = "OVGEN_MUTANT_OBJECTS"
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
	var err error
	if objects, err = os.MkdirTemp("", "ovgen"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	failed := m.Run()
	os.RemoveAll(objects)
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
	objects    string   // the folder that mutants share
	dir, right string   // the code of these kernels, and that of all kernels without the mistake
	kernels    []string // their names
	hash, of   string   // of the mistake and the code, and of the code without it
}

func hashOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// judged is the mutant of the code. There is none where no mutant is judged, or where its parameters are not what
// programs pass.
func judged(t *testing.T, c code) (m mutant, ok bool) {
	t.Helper()
	wrong, ok := files.(otherText)
	if !ok {
		return mutant{}, false
	}
	cu, right := c.cu(t), ""
	rightly(func() { m.right, right = c.write(t), c.cu(t) })
	if c.parameters(cu) != c.parameters(right) {
		return mutant{}, false
	}
	if header, ok := strings.CutPrefix(wrong.name, "device/"); ok {
		m.kernels = c.using(header)
	} else {
		m.kernels = c.changed(cu, right)
	}
	m.objects, m.dir = os.Getenv(mutantObjects), c.only(t, m.kernels).write(t)
	m.hash, m.of = hashOf(string(wrong.text)+cu), hashOf(right)
	return m, true
}

// rightly does f without the mistake.
func rightly(f func()) {
	wrong := files
	files = embedded
	defer func() { files = wrong }()
	f()
}

// recipe is how a program is compiled in parts.
type recipe struct {
	flags   []string // of all parts, besides those of all programs
	driver  []string // of what drives the kernels, testdata/NAME.cc
	kernels []string // of the kernels, with their source
	others  []string // sources that know no kernels
}

// link makes the program NAME with the mutant's kernels.
func (m mutant) link(t *testing.T, main string, r recipe) (program string) {
	t.Helper()
	object := func(name, dir string, flags ...string) string {
		name = filepath.Join(m.objects, name+".o")
		once(t, name, slices.Concat(flags, ofAll, r.flags, []string{"-I", filepath.Join(dir, hostDir), "-c"}))
		return name
	}
	args := slices.Concat(r.flags, []string{
		object(main+m.of, m.right, append(slices.Clone(r.driver), filepath.Join("testdata", main+".cc"))...),
		object(m.hash+filepath.Base(r.kernels[0]), m.dir, r.kernels...),
	})
	for _, source := range r.others {
		args = append(args, object(filepath.Base(source), m.right, "-O2", source))
	}
	program = filepath.Join(m.dir, main)
	gcc(t, program, args)
	return program
}

// once compiles an object that is not there yet; another test may be about to.
func once(t *testing.T, object string, args []string) {
	t.Helper()
	lock, err := os.Create(object + ".lock")
	if err == nil {
		defer lock.Close()
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(object); err == nil {
		return
	}
	temp := filepath.Join(t.TempDir(), "part.o")
	gcc(t, temp, args)
	if err := os.Rename(temp, object); err != nil {
		t.Fatal(err)
	}
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

// alone is each kernel by itself, with what is of its own.
func (c code) alone() (list []Device) {
	only := func(k []kernels.Kernel) Device {
		d := c.device
		d.FewRows, d.Own, d.Calls, d.Table.Kernels = nil, nil, nil, k
		return d
	}
	for _, k := range c.device.Table.Kernels {
		list = append(list, only([]kernels.Kernel{k}))
	}
	for _, narrow := range []bool{false, true} {
		d := only(nil)
		if d.FewRows = c.device.few(narrow); len(d.FewRows) > 0 {
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
		{"device/groups.h", "", "\n", each("groups", "groups2", "packets3", "packets4", "packets5")},
		{"device/packets.h", "", "\n", append(each("packets", "packets2", "packets3", "packets4", "packets5",
			"packetspread", "packetspread2"), "packetgather")},
		{"device/elements.h", "", "\n", each("elements", "elements2", "elements3")},
		{"device/ptx.h", "", "\n", all},
		{"device/host.h", "", "\n", all},
		{"head.cu.tmpl", "Every kernel", "Any kernel", all},
	} {
		text, err := embedded.ReadFile(x.file)
		if err != nil {
			t.Fatal(err)
		}
		files = otherText{embedded, x.file, []byte(strings.Replace(string(text), x.old, x.to, 1))}
		m, ok := judged(t, c)
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
		next := cu[m[2]:m[3]]
		if slices.ContainsFunc(c.host.Kernels, func(k HostKernel) bool { return k.Params == next }) {
			parts[name], name, from = cu[from:m[0]], next, m[0]
		}
	}
	parts[name] = cu[from:]
	return parts
}
