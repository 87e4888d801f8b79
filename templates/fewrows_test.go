package templates

import (
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
	"ovgen/verify/sampling"
)

// allFewRows are the kernels of all kinds of weights.
var allFewRows = slices.Concat(fewrows.Kernels, fewrows.Narrow, fewrows.Squares)

// TestFewRows runs products of few rows in the simulator's engine.
func TestFewRows(t *testing.T) {
	sampling.Test(t, 2, 4)
	runFewRows(t, allFewRows, driver.BF16)
}

// TestFewRowsOfBoxes runs the products that GPUs make from boxes, which have the same bits. None has a narrow weight.
func TestFewRowsOfBoxes(t *testing.T) {
	sampling.Test(t, 3, 4)
	runFewRows(t, fewrows.Kernels.Early(), driver.FP16)
}

// runFewRows runs kernels, of one type where not everything is tested.
func runFewRows(t *testing.T, list fewrows.Family, typ driver.Type) {
	t.Helper()
	functions, apart := fewFunctions()
	d := device(apart...)
	d.FewRows = making(list, functions)
	if d = d.alike(t, typ); everything() {
		d.Table.Types = []driver.Type{driver.BF16, driver.FP16}
	}
	if out := onEngine("-O2").build(t, d.checked(), "fewrows"); out != "" {
		t.Errorf("the kernels do wrong:\n%s", out)
	}
}

// TestEarly runs products in a row, each of which may start before the one before it has ended, with a thread for each
// of the kernels' threads, under ThreadSanitizer, which has to see a weight that a launch reads ahead while the launch
// before makes it.
func TestEarly(t *testing.T) {
	sampling.Test(t, 1, 4)
	if testing.Short() {
		t.Skip("runs thousands of threads")
	}
	d := device()
	functions, _ := fewFunctions()
	list := fewrows.Family{fewrows.Kernels[0], fewrows.Narrow[0]}.Early()
	if d.FewRows = making(list, functions[:1]); !everything() {
		t.Log("with functions behind alone: OVGEN_SOAK is not set")
		d.FewRows = d.FewRows[len(list):]
	}
	d.Table.Types = []driver.Type{driver.BF16}
	needSanitizer(t)
	program, kernels := onThreads.program(t, d.checked(), "early")
	if program == "" {
		return
	}
	if out, err := run(t, program, append([]string{"1"}, kernels...)...); err != nil || len(out) > 0 {
		t.Fatalf("the kernels do wrong: %v\n%s", err, out)
	}
	if out, err := run(t, program, "spoiled", "1", d.few("plain")[0].Name(driver.BF16)); err == nil ||
		!strings.Contains(out, "WARNING: ThreadSanitizer: data race") {
		t.Errorf("a weight that the launch before makes was read ahead, and nobody saw it: %v\n%s", err, out)
	}
}
