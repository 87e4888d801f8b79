package mutate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// KernelMutant is a template of device code with one mistake.
type KernelMutant struct {
	File     string // of package templates: "device/blocks.h"
	Text     string // the change
	Old, New string // Old occurs once in the file
	// Right says why the change is right by PTX's memory model; empty if it is a mistake.
	Right string
	Cores bool // the change is in code for the tensor cores, for which loops stand in the other tests
	// Order: nothing but the order of threads is wrong, which TestThreads alone looks at. It runs first then.
	Order bool
	Wide  bool // kernels of bf16 do not show it
}

// Name is the mutant in one line.
func (m KernelMutant) Name() string { return m.File + ": " + m.Text }

// Tests that run the kernels, quick tests first: of transports, of functions, of sums over a block, of formulas, of
// products on tensor cores, and of products of few rows. Where ranks wait for each other forever, TestTurns notices at
// once, and TestThreads waits for seconds.
var (
	transportTests = []string{"TestTransportKernels", "TestTurns", "TestManyRanks", "TestThreads"}
	functionTests  = []string{"TestFunctionKernels"}
	blockTests     = []string{"TestFunctionKernels", "TestThreads"}
	formulaTests   = []string{"TestFormulas", "TestInexact", "TestThreads"}
	coreTests      = []string{"TestHopper", "TestFewBoxes"}
	eightTests     = []string{"TestEight"}
	fourTests      = append(eightTests, formulaTests...)
	fewTests       = []string{"TestFewRows", "TestEarly", "TestTurns", "TestThreads"}
)

// tests are the tests that run the kernels made from the file.
func (m KernelMutant) tests() []string {
	list := m.quickFirst()
	if i := slices.Index(list, "TestThreads"); m.Order && i > 0 {
		return slices.Concat(list[i:i+1], list[:i], list[i+1:])
	}
	return list
}

// quickFirst are these tests in the order of the time that they take.
func (m KernelMutant) quickFirst() []string {
	switch {
	case m.Cores && m.File == "fewboxes.cu.tmpl":
		return coreTests[1:]
	case m.Cores && m.File != "device/hopper.h":
		return coreTests[:1]
	case m.Cores:
		return coreTests
	}
	switch m.File {
	case "device/call.h", "call.cu.tmpl":
		return functionTests
	case "device/blocksum.h":
		return blockTests
	case "device/eight.h":
		return eightTests
	case "device/scaledsum.h":
		return []string{"TestScaledSum"}
	case "device/four.h", "device/scale.h", "device/powers.h":
		return fourTests
	case "device/fewrows.h", "device/narrow.h", "fewrows.cu.tmpl":
		return fewTests
	case "fewfunction.cu.tmpl":
		return fewTests[:1]
	case "fewboxes.cu.tmpl":
		return []string{"TestFewRowsOfBoxes"}
	case "device/arith.h", "device/units.h", "device/elements.h", "each.tmpl", "device/groups.h",
		"groups.cu.tmpl", "pieces.tmpl", "device/eightunits.h":
		return formulaTests
	}
	return transportTests
}

// errNoVerdict: the tests of the kernels ended before they had run them.
var errNoVerdict = errors.New("no verdict")

// KernelJudge judges mutants of kernels. It builds the tests of package templates once, and keeps the objects that
// mutants share.
type KernelJudge struct {
	dir  string // of package templates
	temp string
}

// The tests, the objects, and the variables that tell the tests about a mutant.
const (
	kernelTests   = "templates.test"
	kernelObjects = "objects"
	mutantFile    = "OVGEN_MUTANT_FILE"
	mutantText    = "OVGEN_MUTANT_TEXT"
	mutantObjects = "OVGEN_MUTANT_OBJECTS"
	mutantTypes   = "OVGEN_MUTANT_TYPES"
)

// NewKernelJudge builds the tests of package templates, which lies in dir.
func NewKernelJudge(ctx context.Context, dir string) (*KernelJudge, error) {
	temp, err := os.MkdirTemp("", "ovgen")
	if err != nil {
		return nil, err
	}
	j := &KernelJudge{dir, temp}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", filepath.Join(temp, kernelTests), ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("build the tests of kernels: %w\n%s", err, out), j.Close())
	}
	return j, os.Mkdir(filepath.Join(temp, kernelObjects), 0o700)
}

// Close removes the tests and the objects.
func (j *KernelJudge) Close() error { return os.RemoveAll(j.temp) }

// Judge runs the tests of the kernels with the mutant in place of its file, until one fails: with kernels of one type
// first, which takes a third of the time, then of all. A change that is right, for reasons that no type changes, is
// judged with one. The mutant is caught if a test fails because of the kernels.
func (j *KernelJudge) Judge(ctx context.Context, m KernelMutant) (class Class, why string, err error) {
	rounds := []string{"", "all"}
	switch {
	case m.Right != "":
		rounds = rounds[:1]
	case m.Wide:
		rounds = rounds[1:]
	}
	for _, types := range rounds {
		for _, test := range m.tests() {
			out, passed, err := j.run(ctx, m, test, types)
			if err != nil {
				return "", "", fmt.Errorf("mutate %s: %w", m.Name(), err)
			}
			if class, why = verdict(out, passed); class == "" {
				return "", "", fmt.Errorf("mutate %s: %w:\n%s", m.Name(), errNoVerdict, out)
			}
			if class == Caught {
				class, why = against(m.Right, class, why)
				return class, why, nil
			}
		}
	}
	class, why = against(m.Right, class, why)
	return class, why, nil
}

// run runs a test with the mutant, in kernels of all types or of one.
func (j *KernelJudge) run(ctx context.Context, m KernelMutant, test, types string) (out []byte, passed bool,
	err error) {
	text, err := m.text(j.dir)
	if err != nil {
		return nil, false, err
	}
	file, err := os.CreateTemp(j.temp, "*.txt")
	if err != nil {
		return nil, false, err
	}
	defer os.Remove(file.Name())
	if _, err := file.Write(text); err != nil {
		return nil, false, errors.Join(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return nil, false, err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(j.temp, kernelTests), "-test.v", "-test.run", "^"+test+"$")
	cmd.Dir = j.dir
	cmd.Env = append(os.Environ(), mutantFile+"="+m.File, mutantText+"="+file.Name(),
		mutantObjects+"="+filepath.Join(j.temp, kernelObjects), mutantTypes+"="+types)
	out, err = cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, false, err
	}
	return out, err == nil, nil
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

// verdict reads the output of a test; the class is empty where the test did not run the kernels.
func verdict(out []byte, passed bool) (Class, string) {
	text := string(out)
	if passed {
		if strings.Contains(text, "--- SKIP") || strings.Count(text, "--- PASS") != 1 {
			return "", ""
		}
		return Survivor, "all tests pass"
	}
	if strings.Contains(text, "compile: ") {
		return "", ""
	}
	for _, sign := range []string{"WARNING: ThreadSanitizer", "wait for", "the kernels do wrong",
		"device code does wrong", "run: ", "the compiler may move"} {
		_, after, ok := strings.Cut(text, sign)
		switch lines := strings.SplitN(sign+after, "\n", 3); {
		case !ok:
		case sign != "run: ":
			return Caught, strings.TrimSpace(lines[0])
		case strings.Contains(lines[0], "signal: killed") && !strings.Contains(text, "it does not end"):
			return "", "" // the machine killed it, and not the test
		default: // the exit status, then the kernels' output
			return Caught, strings.Join(strings.Fields(strings.Join(lines[:min(len(lines), 2)], " ")), " ")
		}
	}
	return "", ""
}
