package emit

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ovgen/cmd/ovgen/internal/nvrtc"
	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/templates"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fake stands for NVRTC.
type fake struct {
	err   error
	calls *int // counted, where one is given
}

func (fake) Version() string { return "12.4" }

func (f fake) Compile(name string, source []byte, headers map[string][]byte, options []string) ([]byte, error) {
	count(f.calls)
	return fmt.Appendf(nil, "// %s, %d headers, %v\n", name, len(headers), options), f.err
}

func linear() schedule.Schedule {
	return scheduletest.Usual("linear", schedule.Schedule{Tensors: []schedule.Tensor{
		{Name: "A", Axes: []schedule.Axis{
			schedule.Dim(schedule.M, schedule.DIDx(schedule.D)), schedule.Dim(schedule.K)}},
		{Name: "B", Axes: []schedule.Axis{schedule.Dim(schedule.N), schedule.Dim(schedule.K)}},
		{Name: "Bias", Axes: []schedule.Axis{schedule.Dim(schedule.N)}},
		{Name: "C", Axes: []schedule.Axis{
			schedule.Dim(schedule.M, schedule.Stream(schedule.D)), schedule.Dim(schedule.N)}},
	}})
}

// matmul has a constant K and two types.
func matmul() schedule.Schedule {
	s := linear()
	s.Types = []schedule.Type{schedule.FP16, schedule.FP32}
	s.Tensors = []schedule.Tensor{s.Tensors[0], s.Tensors[1], s.Tensors[3]}
	s.Tensors[0].Axes = []schedule.Axis{s.Tensors[0].Axes[0], schedule.Dim("128")}
	s.Tensors[1].Axes = []schedule.Axis{schedule.Dim("128"), schedule.Dim(schedule.N)}
	return scheduletest.Usual("matmul", s)
}

// inTurn takes every choice that is not the default and can be emitted.
func inTurn() schedule.Schedule {
	return scheduletest.By(linear(), "A",
		schedule.Naive{StartInLoop: true, Copied: true, SignalsInStep: true, Streams: 3, WithStep: true,
			By: schedule.Kernels})
}

func program(t *testing.T, name string, s schedule.Schedule) Input {
	t.Helper()
	p, err := lower.Lower(name, s)
	if err != nil {
		t.Fatal(err)
	}
	return Input{Program: p, Doc: name + " is a test."}
}

func packages(t *testing.T, inputs ...Input) map[string][]byte {
	t.Helper()
	files, err := Packages(inputs, Options{ImportPath: "example.com/user/made", Compiler: fake{}})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestGolden(t *testing.T) {
	files := packages(t, program(t, "Plain", matmul()), program(t, "InTurn", inTurn()))
	compared := 0
	for name, text := range files {
		if strings.HasSuffix(name, "_host.cc") || strings.HasSuffix(name, ".h") || strings.HasSuffix(name, ".ptx") {
			continue // the host file and the headers are templates; PTX is not made here
		}
		compare(t, filepath.Join("testdata", name+".golden"), text)
		compared++
	}
	if compared != 20 {
		t.Errorf("%d golden files of %v, want 20", compared, slices.Sorted(maps.Keys(files)))
	}
}

// compare holds text against a golden file, or writes that.
func compare(t *testing.T, golden string, text []byte) {
	t.Helper()
	if *update {
		write(t, golden, text)
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("%s (-golden +emitted), go test -update if that is meant:\n%s", golden, diff)
	}
}

func TestSameBytes(t *testing.T) {
	a, b := program(t, "Plain", matmul()), program(t, "InTurn", inTurn())
	if diff := cmp.Diff(packages(t, a, b), packages(t, b, a)); diff != "" {
		t.Errorf("the order of the schedules shows (-one +other):\n%s", diff)
	}
}

func TestStamp(t *testing.T) {
	in := program(t, "InTurn", inTurn())
	files := packages(t, in)
	missing := errors.New("nothing to compile with")
	kept, err := Packages([]Input{in}, Options{ImportPath: "example.com/user/made", Existing: files, Missing: missing})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files, kept); diff != "" {
		t.Errorf("a current PTX is not kept (-compiled +kept):\n%s", diff)
	}
	const ptx = "inturn/inturn_sm80.ptx"
	for name, change := range map[string]func(string) string{
		"source":    func(s string) string { return strings.Replace(s, "source sha256 ", "source sha256 0", 1) },
		"PTX":       func(s string) string { return s + "// one more line\n" },
		"its hash":  func(s string) string { return strings.Replace(s, "PTX    sha256 ", "PTX    sha256 0", 1) },
		"options":   func(s string) string { return strings.Replace(s, "compute_80", "compute_90", 1) },
		"more head": func(s string) string { return strings.Replace(s, "\n//\n", "\n// a note\n//\n", 1) },
		"no stamp":  func(string) string { return ".version 8.4\n" },
		"no PTX":    func(s string) string { return s[:strings.Index(s, "\n//\n")+4] },
		"no file":   func(string) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			existing := maps.Clone(files)
			existing[ptx] = []byte(change(string(files[ptx])))
			made, err := Packages([]Input{in},
				Options{ImportPath: "example.com/user/made", Existing: existing, Missing: missing})
			var m *MissingError
			if !errors.As(err, &m) || m.File != ptx || !errors.Is(err, missing) {
				t.Errorf("got %v, want that there is no %s", err, ptx)
			}
			// Stale PTX is not left beside the new source, and every other file is as with a compiler.
			if text := string(made[ptx]); !strings.Contains(text, "There is no PTX") ||
				!strings.HasPrefix(text, "// Code generated by ovgen") {
				t.Errorf("the PTX file says %q", text)
			}
			delete(made, ptx)
			others := maps.Clone(files)
			delete(others, ptx)
			if diff := cmp.Diff(others, made); diff != "" {
				t.Errorf("without a compiler (-with +without):\n%s", diff)
			}
		})
	}
	_, err = Packages([]Input{in}, Options{})
	if err == nil || !strings.Contains(err.Error(), "make toolchain") || !strings.Contains(err.Error(), "OVGEN_NVRTC") {
		t.Errorf("got %v, want what is missing and how to get it", err)
	}
	existing := maps.Clone(files)
	existing[ptx] = []byte(strings.Replace(string(files[ptx]), "NVRTC 12.4", "NVRTC 13.0", 1))
	if _, err := Packages([]Input{in}, Options{Existing: existing}); err != nil {
		t.Errorf("PTX by another NVRTC is refused: %v", err)
	}
}

// With a compiler PTX is kept if the stamp is what the compiler would give it, and is made anew otherwise, also where
// its body isn't the stamp's. A body that has its own hash is noticed by compiling Again.
func TestCurrentIsKept(t *testing.T) {
	const ptx, run = "inturn/inturn_sm80.ptx", "run/run_sm80.ptx"
	in := program(t, "InTurn", inTurn())
	files := packages(t, in)
	right := files[ptx]
	same := stamp{name: "inturn", source: string(driver.ReadHead(right).Source), arch: sm80}
	forged := same.file("12.4", []byte("// forged\n"))
	for _, c := range []struct {
		name     string
		existing []byte
		again    string // a package
		compiled int    // of the two files of PTX
		want     []byte
	}{
		{"current", right, "", 0, right},
		{"current, to compare", right, "inturn", 1, right},
		{"another body", append(slices.Clone(right), "// one more line\n"...), "", 1, right},
		{"another version", bytes.Replace(right, []byte("NVRTC 12.4"), []byte("NVRTC 12.3"), 1), "", 1, right},
		{"other options", bytes.Replace(right, []byte("compute_80"), []byte("compute_90"), 1), "", 1, right},
		{"none", nil, "", 1, right},
		{"a forged stamp", forged, "", 0, forged},
		{"a forged stamp, to compare", forged, "inturn", 1, right},
		{"a forged stamp, and another to compare", forged, "run", 1, forged},
	} {
		t.Run(c.name, func(t *testing.T) {
			existing := map[string][]byte{ptx: c.existing, run: files[run]}
			var compiled, assembled int
			made, err := Packages([]Input{in}, Options{ImportPath: "example.com/user/made", Existing: existing,
				Again:    func(name string) bool { return name == c.again },
				Compiler: fake{calls: &compiled}, Assembler: assembler{calls: &assembled}})
			if err != nil {
				t.Fatal(err)
			}
			if compiled != c.compiled || assembled != c.compiled {
				t.Errorf("compiled %d, assembled %d, want %d", compiled, assembled, c.compiled)
			}
			if !bytes.Equal(made[ptx], c.want) {
				t.Errorf("the PTX is %q, want %q", made[ptx], c.want)
			}
		})
	}
}

// The code that a package holds passes its own check, and other PTX does not.
func TestCodeCheck(t *testing.T) {
	files := packages(t, program(t, "InTurn", inTurn()))
	_, source, _ := strings.Cut(string(files["inturn/kernels.go"]), `Source:  "`)
	source, _, ok := strings.Cut(source, `"`)
	if !ok {
		t.Fatal("kernels.go names no source")
	}
	ptx := string(files["inturn/inturn_sm80.ptx"])
	for _, c := range []struct{ source, ptx, want string }{
		{source, ptx, ""},
		{source, ptx + "\n", "was changed after it was compiled"},
		{driver.Digest([]byte("other")), ptx, "was compiled from another .cu"},
		{source, string(stamp{name: "inturn"}.absent()), driver.ErrNoPTX.Error()},
	} {
		err := (&driver.Code{Name: "inturn", Source: c.source, PTX: []byte(c.ptx)}).Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// Ranks compare the hash: a change in a kernel or in its parameters is another program.
func TestHashCoversDeviceCode(t *testing.T) {
	u, err := newUnit(program(t, "InTurn", inTurn()), Options{Compiler: fake{}})
	if err != nil {
		t.Fatal(err)
	}
	files := packages(t, u.Input)
	right := u.hash()
	if !strings.Contains(string(files["inturn/program.go"]), `"`+right+`"`) {
		t.Errorf("program.go has another hash than %s", right)
	}
	text := &u.code.source
	was := text.Bytes
	text.Bytes = bytes.Replace(slices.Clone(was), []byte("struct"), []byte("struct "), 1)
	if bytes.Equal(was, text.Bytes) || u.hash() == right {
		t.Error("a change in the .cu changes no hash")
	}
}

// A change in a header alone makes another program, whose PTX of before is stale; one in a header that the kernels do
// not include makes none, and each changes the file that compiles it for the host.
func TestHashCoversHeaders(t *testing.T) {
	in := program(t, "InTurn", inTurn())
	before := packages(t, in)
	for name, included := range map[string]bool{
		"ptx.h": true, "words.h": true, "bytes.h": true, "sum.h": false, "host.h": false} {
		u, err := newUnit(in, Options{Compiler: fake{}})
		if err != nil {
			t.Fatal(err)
		}
		right := u.hash()
		if len(u.code.headers[name]) == 0 {
			t.Errorf("there is no %s", name)
		}
		u.code.headers[name] = append(slices.Clone(u.code.headers[name]), '\n')
		if changed := u.hash() != right; changed != included {
			t.Errorf("%s: a change in it changes the program's hash: %v, want %v", name, changed, included)
		}
		err = (&driver.Code{Name: u.name, Source: u.code.digest(), PTX: before["inturn/inturn_sm80.ptx"]}).Check()
		if stale := new(driver.StaleError); errors.As(err, &stale) != included {
			t.Errorf("%s: PTX from before a change in it: %v", name, err)
		}
		after := map[string][]byte{}
		if err := u.emit(after); err != nil {
			t.Fatal(err)
		}
		host, err := u.code.hostText()
		if err != nil {
			t.Fatal(err)
		}
		compiled := included || name == templates.HostHeader
		if changed := !bytes.Equal(before["host/inturn_host.cc"], host); changed != compiled {
			t.Errorf("%s: a change in it changes the kernels for the host: %v, want %v", name, changed, compiled)
		}
	}
}

func TestCompilerErrorNamesTemplate(t *testing.T) {
	in := program(t, "InTurn", inTurn())
	text := string(packages(t, in)["inturn/inturn.cu"])
	line := 1 + strings.Count(text[:strings.Index(text, "void post(")], "\n")
	wrong := &nvrtc.SourceError{Name: "inturn.cu",
		Log: fmt.Sprintf("inturn.cu(%d): error: no such thing\ninturn.cu(2): warning: odd\n1 error\n", line)}
	_, err := Packages([]Input{in}, Options{Compiler: fake{err: wrong}})
	for _, want := range []string{
		fmt.Sprintf("inturn.cu:%d (template post.cu.tmpl): error: no such thing", line),
		"inturn.cu:2 (template head.cu.tmpl): warning: odd", "schedule InTurn",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	clash := program(t, "Clash", linear())
	clash.Program.Semaphores = append(clash.Program.Semaphores, hostir.Semaphore{Name: "bias"},
		hostir.Semaphore{Name: "issue"}, hostir.Semaphore{Name: "Map"})
	unknown := program(t, "Unknown", linear())
	unknown.Program.Body = append(unknown.Program.Body,
		hostir.Set(hostir.StreamRef{}, hostir.Whole("X"), hostir.Whole("A")))
	for _, c := range []struct {
		inputs []Input
		want   []string
	}{
		{[]Input{program(t, "Run", linear())}, []string{`schedule Run: "run" can't be the name`}},
		{[]Input{program(t, "Func", linear())}, []string{`"func" can't be the name`}},
		{[]Input{program(t, "Ring", linear()), program(t, "RING", linear())},
			[]string{"schedules RING and Ring", "package ring"}},
		{[]Input{program(t, "Sum", linear()), program(t, "Sum2", linear()), program(t, "NewSum", matmul()),
			program(t, "NewSum2", matmul())},
			[]string{"schedule NewSum: in package tuned it would be a type, and the function that makes a Sum " +
				"(rename one)"}},
		{[]Input{clash}, []string{"semaphore bias and buffer Bias", "semaphore issue and a field",
			"semaphore Map would be field map of its Plan, a word of Go's (rename it)"}},
		{[]Input{unknown}, []string{`no buffer "X"`}},
	} {
		_, err := Packages(c.inputs, Options{Compiler: fake{}})
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q in it", c.inputs[0].Program.Name, err, want)
			}
		}
	}
}

func TestSpillsAreRefused(t *testing.T) {
	spilled := errors.New("kernel x spills")
	_, err := Packages([]Input{program(t, "InTurn", inTurn())},
		Options{Compiler: fake{}, Assembler: assembler{err: spilled}})
	if !errors.Is(err, spilled) || !strings.Contains(err.Error(), "inturn_sm80.ptx") {
		t.Errorf("got %v, want the spill with its file", err)
	}
	var lines []string
	_, err = Packages([]Input{program(t, "InTurn", inTurn())},
		Options{Compiler: fake{}, Assembler: assembler{}, Report: func(l string) { lines = append(lines, l) }})
	if err != nil || len(lines) != 2 {
		t.Errorf("got %q, %v, want a line for each PTX", lines, err)
	}
}

type assembler struct {
	err   error
	calls *int // counted, where one is given
}

func (a assembler) Usage([]byte) ([]string, error) {
	count(a.calls)
	return []string{"x: 8 registers"}, a.err
}

func count(calls *int) {
	if calls != nil {
		*calls++
	}
}

// Program says what a constant extent must be a multiple of, as it does of one that the shape binds.
func TestDividesConstant(t *testing.T) {
	p := program(t, "Rows", matmul())
	for i := range p.Program.Checks {
		p.Program.Checks[i].Extent = "64"
	}
	text := string(packages(t, p)["rows/program.go"])
	if want := `[]plan.Divide{{Extent: "64", By: "D"}}`; !strings.Contains(text, want) {
		t.Errorf("no %s in\n%s", want, text)
	}
}

func TestExtents(t *testing.T) {
	if plan.MaxExtent != schedule.MaxExtent {
		t.Errorf("a shape takes extents up to %d, a schedule up to %d", plan.MaxExtent, schedule.MaxExtent)
	}
}
