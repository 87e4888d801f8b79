package templates

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// engine is the folder of the engine that runs kernels in the simulator.
const engine = "../verify/sim"

// build renders a package, compiles testdata/NAME.cc over its kernels and the engine, runs that and
// returns what it printed.
func build(t *testing.T, d Device, headers, sources []string, main string) string {
	t.Helper()
	program := compile(t, rendered(t, d, headers, sources), main, "-O2")
	out, err := run(t, program)
	if err != nil {
		t.Fatalf("run: %v\n%s", err, out)
	}
	return out
}

// run runs a program, which a mistake in a kernel may keep from ending.
func run(t *testing.T, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 5*time.Minute, errors.New("it does not end"))
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "TSAN_OPTIONS=halt_on_error=1 exitcode=1")
	out, err := cmd.CombinedOutput()
	return string(out), errors.Join(err, context.Cause(ctx))
}

// rendered is a folder with the package's device code.
func rendered(t *testing.T, d Device, headers, sources []string) string {
	t.Helper()
	dir := t.TempDir()
	for file, names := range map[string][]string{d.Package + ".h": headers, d.Package + ".cu": sources, d.Package + "_host.cc": {"host.cc.tmpl"}} {
		text, err := Render(d, names...)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), text.Bytes, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// compile compiles testdata/NAME.cc in a folder with device code and returns the program. A
// fence of a smaller scope compiles too: what it does wrong is seen by running it.
func compile(t *testing.T, dir, main string, flags ...string) string {
	t.Helper()
	source, err := filepath.Abs(filepath.Join("testdata", main+".cc"))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, main)
	args := append(flags, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fno-strict-aliasing",
		"-I", dir, "-I", "testdata", source, "-o", program)
	if !slices.Contains(flags, "-fsanitize=thread") {
		args = append(args, "-I", engine, filepath.Join(engine, "engine_linux.cc"),
			"-D__threadfence()=__threadfence_system()", "-D__threadfence_block()=__threadfence_system()")
	}
	if out, err := exec.Command("g++", args...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	return program
}

// transport is a package with every kernel of the transports.
func transport() (d Device, headers, sources []string) {
	d = Device{Package: "check", From: "a test", About: []string{"Kernels."}}
	headers = []string{"head.h.tmpl", "peers.h.tmpl", "fused.h.tmpl", "sum.h.tmpl"}
	sources = []string{"head.cu.tmpl", "words.cu.tmpl", "fused.cu.tmpl", "bytes.cu.tmpl", "sum.cu.tmpl"}
	for _, k := range []string{"wait", "post", "copy", "reduce", "get", "put", "shot"} {
		d.Kernels = append(d.Kernels, Kernel{Name: "check_" + k, Params: "check_" + k})
		headers, sources = append(headers, k+".h.tmpl"), append(sources, k+".cu.tmpl")
	}
	return d, append(headers, "foot.h.tmpl"), sources
}

// checking is a package with the kernels that fill, compare and spin.
func checking() (d Device, headers, sources []string) {
	d = Device{Package: "run", From: "a test", About: []string{"Kernels."}, Kernels: []Kernel{
		{Name: "fill", Params: "run_fill"}, {Name: "compare", Params: "run_compare"}, {Name: "spin", Params: "run_spin"}}}
	return d, []string{"head.h.tmpl", "check.h.tmpl", "foot.h.tmpl"}, []string{"head.cu.tmpl", "clock.cu.tmpl", "check.cu.tmpl"}
}

func TestTransportKernels(t *testing.T) {
	d, headers, sources := transport()
	for _, main := range []string{"shim", "fused"} {
		if out := build(t, d, headers, sources, main); out != "" {
			t.Errorf("%s: the kernels do wrong:\n%s", main, out)
		}
	}
}

func TestCheckKernels(t *testing.T) {
	d, headers, sources := checking()
	out := build(t, d, headers, sources, "check")
	lines := strings.Split(out, "\n")
	if want := filled(3, 5, 12, 1<<23) + "42"; lines[0] != want {
		t.Errorf("fill:\n got %s\nwant %s", lines[0], want)
	}
	if want := strided(3, 5, 12, 2, 5, 1<<23, 4); lines[1] != want {
		t.Errorf("fill, strided:\n got %s\nwant %s", lines[1], want)
	}
	// Of want two in four count. Thread 0 has elements 0, 2, 4 and thread 1 has 1, 3: 1 equals 1, a NaN nothing, -0
	// equals 0, and 2 is not 3.
	if diff := cmp.Diff([]string{"-1 0 1", "1 2 3"}, lines[2:4]); diff != "" {
		t.Errorf("compare (-want +got):\n%s", diff)
	}
}

func TestRenderErrors(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"field", "a\nb {{.Missing}}", "can't evaluate field Missing"},
		{"parse", "{{if}}", "missing value for if"},
		{"function", "{{env `HOME`}}", `function "env" not defined`},
		{"arithmetic", "{{align 5 3}}", "align 5 3"},
		{"division", "{{ceilDiv 5 0}}", "ceilDiv 5 0"},
		{"logarithm", "{{log2 12}}", "log2 12"},
		{"fail", "{{fail `too wide`}}", "too wide"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := execute("x.tmpl", c.source, Device{})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "x.tmpl:") {
				t.Errorf("got %q and error %v, want an error with x.tmpl and %q", out, err, c.want)
			}
		})
	}
	if _, err := Render(Device{}, "nothing.tmpl"); err == nil {
		t.Error("a template that does not exist is no error")
	}
	if _, err := Render(struct{ From string }{"x"}, "head.h.tmpl"); err == nil || !strings.Contains(err.Error(), "head.h.tmpl, line 3") {
		t.Errorf("got %v, want the template and the line of its text", err)
	}
}

func TestFunctions(t *testing.T) {
	for source, want := range map[string]string{
		"{{align 5 4}} {{align 8 4}}":     "8 8",
		"{{ceilDiv 7 2}} {{ceilDiv 0 2}}": "4 0",
		"{{log2 32}}":                     "5",
		`{{list "a" "b" | join "-"}}`:     "a-b",
	} {
		out, err := execute("x.tmpl", source, nil)
		if err != nil || string(out) != want {
			t.Errorf("%s: got %q, %v, want %q", source, out, err, want)
		}
	}
	for _, name := range allowed {
		if functions()[name] == nil {
			t.Errorf("sprig has no function %s", name)
		}
	}
}

func TestSections(t *testing.T) {
	d := Device{Package: "p", From: "a test"}
	text, err := Render(d, "head.cu.tmpl", "copy.cu.tmpl", "post.cu.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text.Bytes), "\n") {
		want := ""
		switch {
		case strings.Contains(line, "p_copy("):
			want = "copy.cu.tmpl"
		case strings.Contains(line, "p_post("):
			want = "post.cu.tmpl"
		case strings.HasPrefix(line, "#include"):
			want = "head.cu.tmpl"
		default:
			continue
		}
		if got := text.At(i + 1); got != want {
			t.Errorf("line %d %q: got template %s, want %s", i+1, line, got, want)
		}
	}
}
