package nvrtc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const source = `#include "k.h"
extern "C" __global__ void k(const __grid_constant__ struct k_params p) { *(int *)p.at = 1; }
`

var (
	headers = map[string][]byte{"k.h": []byte("struct k_params { unsigned long long at; };\n")}
	options = []string{"--gpu-architecture=compute_80", "--std=c++17"}
)

// pinned is the NVRTC of the toolchain folder; tests that compile are skipped without.
func pinned(t *testing.T) *Compiler {
	t.Helper()
	c, err := Find("", ".")
	if errors.Is(err, ErrMissing) {
		t.Skip("no NVRTC here: make toolchain fetches it")
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// pinnedAssembler is the ptxas of the toolchain folder; tests that assemble are skipped without.
func pinnedAssembler(t *testing.T) *Assembler {
	t.Helper()
	a, err := FindAssembler(".")
	if err != nil {
		t.Fatal(err)
	}
	if a == nil {
		t.Skip("no ptxas here: make toolchain fetches it")
	}
	return a
}

func TestCompile(t *testing.T) {
	c, other := pinned(t), pinned(t) // each keeps what it has compiled
	one, err := c.Compile("k.cu", []byte(source), headers, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".target sm_80", ".visible .entry k("} {
		if !strings.Contains(string(one), want) {
			t.Errorf("%q is not in the PTX:\n%s", want, one)
		}
	}
	t.Chdir(t.TempDir())
	two, err := other.Compile("k.cu", []byte(source), headers, options)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(one), string(two)); diff != "" {
		t.Errorf("other bytes in another folder:\n%s", diff)
	}
}

func TestCompileErrors(t *testing.T) {
	c := pinned(t)
	_, err := c.Compile("k.cu", []byte(source+"__global__ void w() { no_such(); }\n"), headers, options)
	var wrong *SourceError
	if !errors.As(err, &wrong) || !strings.Contains(wrong.Log, "k.cu(3): error:") {
		t.Errorf("got %v, want a SourceError of line 3", err)
	}
	if _, err := c.Compile("k.cu", []byte(source), nil, options); !errors.As(err, &wrong) {
		t.Errorf("got %v, want a SourceError for a header that is not there", err)
	}
	if _, err := c.Compile("k.cu", []byte(source), headers, []string{"--no-such-option"}); err == nil ||
		errors.As(err, &wrong) && wrong.Log == "" {
		t.Errorf("got %v, want an error for an unknown option", err)
	}
}

func TestFind(t *testing.T) {
	t.Setenv("OVGEN_NVRTC", "")
	t.Setenv("OVGEN_PTXAS", "")
	empty := t.TempDir()
	if _, err := Find("", empty); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "make toolchain") {
		t.Errorf("got %v, want what to do", err)
	}
	if a, err := FindAssembler(empty); a != nil || err != nil {
		t.Errorf("got %v, %v, want no ptxas and no error", a, err)
	}
	nothing := filepath.Join(empty, "libnvrtc.so")
	for name, find := range map[string]func() (*Compiler, error){
		"flag":        func() (*Compiler, error) { return Find(nothing, ".") },
		"environment": func() (*Compiler, error) { t.Setenv("OVGEN_NVRTC", nothing); return Find("", ".") },
	} {
		if _, err := find(); err == nil || !strings.Contains(err.Error(), nothing) {
			t.Errorf("%s: got %v, want an error that names %s", name, err, nothing)
		}
	}
	t.Setenv("OVGEN_PTXAS", nothing)
	if _, err := FindAssembler("."); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want the ptxas that was named to be missing", err)
	}
	// A folder further up is found.
	file := filepath.Join(empty, folder, filepath.FromSlash(libraryFile))
	below := filepath.Join(empty, "a", "b")
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644),
		os.MkdirAll(below, 0o755)); err != nil {
		t.Fatal(err)
	}
	if got, err := above(below, libraryFile); got != file || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, file)
	}
}

func TestUsage(t *testing.T) {
	const clean = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'copy' for 'sm_90'
ptxas info    : Function properties for copy
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 32 registers, 24 bytes cmem[0]
ptxas info    : Compiling entry function 'wait' for 'sm_90'
ptxas info    : Function properties for wait
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, 272 bytes cmem[0]
`
	got, err := usage(clean)
	if diff := cmp.Diff([]string{"copy: 32 registers", "wait: 8 registers"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	const slow = "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"
	if _, err := usage(slow + clean); err == nil || !strings.Contains(err.Error(), "are serialized") {
		t.Errorf("got %v, want the loss", err)
	}
	spilled := strings.Replace(clean, "0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used 8",
		"16 bytes spill stores, 20 bytes spill loads\nptxas info    : Used 255", 1)
	if _, err := usage(spilled); err == nil || !strings.Contains(err.Error(), "kernel wait spills") {
		t.Errorf("got %v, want the kernel that spills", err)
	}
}

func TestAssemble(t *testing.T) {
	c := pinned(t)
	a := pinnedAssembler(t)
	ptx, err := c.Compile("k.cu", []byte(source), headers, options)
	if err != nil {
		t.Fatal(err)
	}
	if lines, err := a.Usage(ptx); err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], "k: ") {
		t.Errorf("got %q, %v, want the registers of k", lines, err)
	}
	if _, err := a.Usage([]byte("no PTX")); err == nil {
		t.Error("text that is no PTX assembles")
	}
}
