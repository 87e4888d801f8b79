package mutate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// KernelMutant is a template of device code with one mistake.
type KernelMutant struct {
	File     string // of package templates: "device/blocks.h"
	Text     string // the change
	Old, New string // Old stands once in the file
	// Right says why the change is right by PTX's memory model; empty if it is a mistake.
	Right string
	Cores bool // in what the tensor cores run, and loops on a host do not
}

// Name is the mutant in one line.
func (m KernelMutant) Name() string { return m.File + ": " + m.Text }

// Tests that run the kernels: of transports, of functions, and of products on tensor cores.
const (
	transportTests = "^(TestTransportKernels|TestTurns|TestThreads)$"
	functionTests  = "^TestFunctionKernels$"
	coreTests      = "^TestHopper$"
)

// tests are the tests that run the kernels made of the file.
func (m KernelMutant) tests() string {
	if m.Cores {
		return coreTests
	}
	switch m.File {
	case "device/gate.h", "device/norm.h", "gates.cu.tmpl", "rmsnorm.cu.tmpl",
		"device/call.h", "call.cu.tmpl", "device/rotary.h", "rotary.cu.tmpl",
		"device/blocksum.h", "device/each.h", "device/layernorm.h", "layernorm.cu.tmpl", "device/fromfp32.h":
		return functionTests
	}
	return transportTests
}

// errNoVerdict: the tests of the kernels ended without having run them.
var errNoVerdict = errors.New("no verdict")

// JudgeKernel runs the tests of package templates, which lies in dir, with the mutant in the
// place of its file. It is caught where they fail because of the kernels.
func JudgeKernel(ctx context.Context, dir string, m KernelMutant) (Class, string, error) {
	text, err := m.text(dir)
	if err != nil {
		return "", "", err
	}
	out, passed, err := overlaid(ctx, dir, m.tests(), filepath.Join(dir, m.File), text)
	if err != nil {
		return "", "", fmt.Errorf("mutate %s: %w", m.Name(), err)
	}
	class, why := verdict(out, passed, m.tests())
	if class == "" {
		return "", "", fmt.Errorf("mutate %s: %w:\n%s", m.Name(), errNoVerdict, out)
	}
	class, why = against(m.Right, class, why)
	return class, why, nil
}

// Mutable returns the reason why the mistake can't be made in the templates in dir.
func Mutable(dir string, m KernelMutant) error {
	_, err := m.text(dir)
	return err
}

// text is the file with the mistake.
func (m KernelMutant) text(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, m.File))
	if err != nil {
		return nil, fmt.Errorf("mutate %s: %w", m.Name(), err)
	}
	if n := bytes.Count(text, []byte(m.Old)); n != 1 {
		return nil, fmt.Errorf("mutate %s: %q stands %d times in the file, want once", m.Name(), m.Old, n)
	}
	return bytes.Replace(text, []byte(m.Old), []byte(m.New), 1), nil
}

// verdict reads the output of tests; the class is empty where they did not get to run
// the kernels.
func verdict(out []byte, passed bool, tests string) (Class, string) {
	text := string(out)
	if passed {
		if strings.Contains(text, "--- SKIP") || strings.Count(text, "--- PASS") != strings.Count(tests, "Test") {
			return "", ""
		}
		return Survivor, "all tests pass"
	}
	if strings.Contains(text, "compile: ") {
		return "", ""
	}
	for _, sign := range []string{"WARNING: ThreadSanitizer", "wait for", "the kernels do wrong", "run: ",
		"the compiler may move"} {
		_, after, ok := strings.Cut(text, sign)
		switch lines := strings.SplitN(sign+after, "\n", 3); {
		case !ok:
		case sign != "run: ":
			return Caught, strings.TrimSpace(lines[0])
		case strings.Contains(lines[0], "signal: killed") && !strings.Contains(text, "it does not end"):
			return "", "" // the machine killed it, not the test for what the kernels do
		default: // the exit status, then what the kernels print of themselves
			return Caught, strings.Join(strings.Fields(strings.Join(lines[:min(len(lines), 2)], " ")), " ")
		}
	}
	return "", ""
}
