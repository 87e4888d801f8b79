package templates

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
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
	os.Exit(m.Run())
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

// right renders code without the mutant.
func (c code) right(t *testing.T) (dir string) {
	mutated := files
	files = embedded
	defer func() { files = mutated }()
	return c.write(t)
}

// mutant makes the program NAME of a mutant's kernels, and names the kernels whose text differs, none where all may
// do otherwise. It makes nothing where no mutant is judged, or where the mutant's parameters are not what the program
// passes.
func mutant(t *testing.T, c code, main string) (program string, changed []string) {
	t.Helper()
	objects := os.Getenv(mutantObjects)
	if objects == "" {
		return "", nil
	}
	dir, right := c.write(t), c.right(t)
	changed = c.changed(t, dir, right)
	if c.parameters(t, dir) != c.parameters(t, right) {
		return "", changed
	}
	with := func(dir string, flags ...string) []string {
		return slices.Concat(flags, ofAll, ofEngine, []string{"-I", filepath.Join(dir, hostDir), "-c"})
	}
	const table = "mutant_kernels"
	kernels := filepath.Join(dir, "kernels.cc")
	if err := os.WriteFile(kernels, []byte("#include \"engine.h\"\n#include \"check_host.cc\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, main)
	args := []string{
		once(t, objects, "engine", with(right, "-O2", filepath.Join(engine, "engine_linux.cc"))),
		once(t, objects, main, with(right, "-O1", "-DTABLE="+table, filepath.Join("testdata", main+".cc"))),
		once(t, objects, c.hash(t, dir), with(dir, append(aligned, "-Dcheck_kernels="+table, kernels)...)),
		"-o", program,
	}
	if out, err := exec.Command("g++", args...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	return program, changed
}

// once compiles an object that is not there yet.
func once(t *testing.T, objects, name string, args []string) (object string) {
	t.Helper()
	object = filepath.Join(objects, name+".o")
	if _, err := os.Stat(object); err == nil {
		return object
	}
	temp := filepath.Join(t.TempDir(), name+".o")
	if out, err := exec.Command("g++", append(args, "-o", temp)...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	if err := os.Rename(temp, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// source is the code in a folder: the headers' text and each part of the .cu.
func (c code) source(t *testing.T, dir string) (headers, cu string) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "device", "*.h"))
	for _, name := range append(list, filepath.Join(dir, c.name, c.name+".cu")) {
		text, wrong := os.ReadFile(name)
		err = errors.Join(err, wrong)
		headers, cu = headers+cu, string(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return headers, cu
}

// hash names the code in a folder.
func (c code) hash(t *testing.T, dir string) string {
	headers, cu := c.source(t, dir)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(headers+cu)))
}

// A struct, as the part of a kernel starts with that of its parameters, and a kernel's name.
var (
	aStruct = regexp.MustCompile(`(?s)\nstruct (\w+) \{.*?\n\};`)
	aName   = regexp.MustCompile(`\n__global__ void [^;]*?(\w+)\(const`)
)

// parameters are the declarations of what kernels are passed.
func (c code) parameters(t *testing.T, dir string) (text string) {
	_, cu := c.source(t, dir)
	for _, m := range aStruct.FindAllStringSubmatch(cu, -1) {
		if slices.ContainsFunc(c.host.Kernels, func(k HostKernel) bool { return k.Params == m[1] }) {
			text += m[0]
		}
	}
	return text
}

// changed names the kernels whose text differs in two folders; none where headers, or what all kernels have in common,
// differ.
func (c code) changed(t *testing.T, dir, right string) (names []string) {
	headers, cu := c.source(t, dir)
	others, of := c.source(t, right)
	if headers != others {
		return nil
	}
	mutated, parts := c.cut(cu), c.cut(of)
	for name, text := range mutated {
		switch {
		case text == parts[name]:
		case name == "":
			return nil
		default:
			for _, m := range aName.FindAllStringSubmatch(text, -1) {
				if !slices.ContainsFunc(c.host.Kernels, func(k HostKernel) bool { return k.Name == m[1] }) {
					t.Fatalf("%s is no kernel", m[1])
				}
				names = append(names, m[1])
			}
		}
	}
	slices.Sort(names)
	return names
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
