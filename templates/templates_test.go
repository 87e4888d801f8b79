package templates

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/sampling"
)

// code is device code of a package, of these kernels and others.
type code struct {
	device  Device
	name    string
	parts   []Part
	host    Host
	kernels []Kernel
}

// anEntry is a kernel of a .cu, with its name.
var anEntry = regexp.MustCompile(`(?s)\n__global__ void [^;]*?(\w+)\(const[^{]*\{(?:[^\n]+|\n.*?\n)\}`)

// only has of all kernels these: a compiler makes code of the others too, though nothing calls them.
func (c code) only(t *testing.T, names []string) code {
	t.Helper()
	c.host.Kernels = slices.DeleteFunc(slices.Clone(c.host.Kernels), func(k HostKernel) bool {
		return !slices.Contains(names, k.Name)
	})
	if len(c.host.Kernels) != len(names) {
		t.Fatalf("not all of %s are kernels", names)
	}
	return c
}

// entries leaves out of a .cu the kernels that are not the code's.
func (c code) entries(cu []byte) []byte {
	return anEntry.ReplaceAllFunc(cu, func(entry []byte) []byte {
		if name := string(anEntry.FindSubmatch(entry)[1]); slices.ContainsFunc(c.host.Kernels,
			func(k HostKernel) bool { return k.Name == name }) {
			return entry
		}
		return nil
	})
}

// lists are macros that list the kernels, for programs that run them: KERNELS(X) is X(name, struct) of each; COPIES(X)
// is X(name) of each that copies and signals nothing, and EARLY(X) of each that starts early and waits first. ONE_TYPE
// is the number of their type where there are no others.
func (c code) lists() []byte {
	list := map[string]string{"KERNELS": "", "COPIES": "", "EARLY": ""}
	for _, k := range c.host.Kernels {
		list["KERNELS"] += fmt.Sprintf(" X(%s, %s)", k.Name, k.Params)
	}
	for _, k := range c.kernels {
		switch {
		case k.Copies() && !k.Signals():
			list["COPIES"] += fmt.Sprintf(" X(%s)", k.Name)
		}
	}
	for _, k := range c.device.Table.Code() {
		if k.Early {
			list["EARLY"] += fmt.Sprintf(" X(%s)", k.Name)
		}
	}
	text := "#pragma once\n"
	if types := c.device.Table.Types; len(types) == 1 {
		text += fmt.Sprintf("#define ONE_TYPE %d\n", 1+slices.Index(allTypes, types[0]))
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		text += fmt.Sprintf("#define %s(X)%s\n", name, list[name])
	}
	return []byte(text)
}

// hostDir is the folder of package host, beside those of the headers and of the packages.
const hostDir = "host"

// write writes the code and the headers to a folder, as packages have them.
func (c code) write(t *testing.T) string {
	t.Helper()
	files := map[string][]byte{filepath.Join(hostDir, "list.h"): c.lists()}
	headers, err := Headers()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range headers {
		files[filepath.Join("device", name)] = text
	}
	for name, parts := range map[string][]Part{
		filepath.Join(c.name, c.name+".cu"):       c.parts,
		filepath.Join(hostDir, c.name+"_host.cc"): {{"host.cc.tmpl", c.host}}} {
		text, err := Render(parts...)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = c.entries(text.Numbered(filepath.Base(name)).Bytes)
	}
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// allTypes are the types of elements, in the order of their numbers in testdata.
var allTypes = []driver.Type{driver.BF16, driver.FP16, driver.FP32}

// everything is whether kernels of all types are tested that are alike: for a mutant, and where OVGEN_SOAK is set.
func everything() bool { return sampling.All() || os.Getenv(mutantFile) != "" }

// device has these kernels, for all types.
func device(list ...kernels.Kernel) tested {
	return tested{Device{From: "a test", About: []string{"Kernels."}, Formulas: codes, Table: kernels.Table{
		Peers: 7, Types: allTypes, Kernels: list}}}
}

// tested is the device code of package check.
type tested struct{ Device }

func (d tested) checked() code {
	return code{d.Device, "check", d.Source(), Host{Package: "check", From: d.From, Kernels: d.Host()}, d.Kernels()}
}

// alike has all types or, where not everything is tested, this one.
func (d tested) alike(t *testing.T, one driver.Type) tested {
	if !everything() {
		t.Logf("of %s alone: OVGEN_SOAK is not set", one)
		d.Table.Types = []driver.Type{one}
	}
	return d
}

// check is the package check with these kernels.
func check(list ...kernels.Kernel) code { return device(list...).checked() }

// checking has the kernels that fill, compare and spin.
func checking() code {
	d := Device{From: "a test", About: []string{"Kernels."}}
	return code{device: d, name: "run", parts: CheckSource(d),
		host: Host{Package: "run", From: d.From, Kernels: Checks}}
}

func TestTransportKernels(t *testing.T) {
	sampling.Test(t, 0, 4)
	for _, main := range []string{"shim", "fused"} {
		if out := onEngine("-Og").build(t, ofRanks(t).checked(), main); out != "" {
			t.Errorf("%s: the kernels do wrong:\n%s", main, out)
		}
	}
}

func TestFunctionKernels(t *testing.T) {
	out := onEngine().build(t, functionKernels(t), "functions")
	if out != "" {
		t.Errorf("the kernels do wrong:\n%s", out)
	}
}

func TestCheckKernels(t *testing.T) {
	out, err := run(t, compile(t, checking().write(t), "check"))
	if err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	lines := strings.Split(out, "\n")
	if want := filled(3, 5, 12, 1<<23) + "42"; lines[0] != want {
		t.Errorf("fill:\n got %s\nwant %s", lines[0], want)
	}
	if want := strided(3, 5, 12, 2, 5, 1<<23, 4); lines[1] != want {
		t.Errorf("fill, strided:\n got %s\nwant %s", lines[1], want)
	}
	if want := inRows(3, 5, 12, 3, 1<<23); lines[2] != want {
		t.Errorf("fill, in rows:\n got %s\nwant %s", lines[2], want)
	}
	// Of want two in four count. Thread 0 has elements 0, 2, 4 and thread 1 has 1, 3: 1 equals 1, a NaN nothing, -0
	// equals 0, and 2 is not 3.
	if diff := cmp.Diff([]string{"-1 0 1", "1 2 3"}, lines[3:5]); diff != "" {
		t.Errorf("compare (-want +got):\n%s", diff)
	}
}

func TestRenderErrors(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"field", "a\nb {{.Missing}}", "can't evaluate field Missing"},
		{"parse", "{{if}}", "missing value for if"},
		{"function", "{{env `HOME`}}", `function "env" not defined`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := rendered(c.source, Device{})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "x.tmpl:") {
				t.Errorf("got %q and error %v, want an error with x.tmpl and %q", out, err, c.want)
			}
		})
	}
	if _, err := Render(Part{"nothing.tmpl", nil}); err == nil {
		t.Error("a template that does not exist is no error")
	}
	_, err := Render(Part{"head.cu.tmpl", struct{ From string }{"x"}})
	if err == nil || !strings.Contains(err.Error(), "head.cu.tmpl, line 2") {
		t.Errorf("got %v, want the template and the line of its text", err)
	}
}

// rendered is what the template x.tmpl of a source makes.
func rendered(source string, data any) ([]byte, error) {
	x, err := parse("x.tmpl", source)
	if err != nil {
		return nil, err
	}
	return execute(x, data)
}

func TestFunctions(t *testing.T) {
	out, err := rendered(`{{join "-" .}}`, []string{"a", "b"})
	if err != nil || string(out) != "a-b" {
		t.Errorf("got %q, %v, want a-b", out, err)
	}
}

func TestSections(t *testing.T) {
	text, err := Render(transport().parts...)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text.Bytes), "\n") {
		want := ""
		switch {
		case strings.HasPrefix(line, "__global__ void copy("):
			want = "copies.cu.tmpl"
		case strings.HasPrefix(line, "__global__ void post("):
			want = "post.cu.tmpl"
		case line == `#include "../device/words.h"`:
			want = "head.cu.tmpl"
		default:
			continue
		}
		if got := text.At(i + 1); got != want {
			t.Errorf("line %d %q: got template %s, want %s", i+1, line, got, want)
		}
	}
}
