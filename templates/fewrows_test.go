package templates

import (
	"slices"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/fewrows"
)

// allFewRows are the kernels of both kinds of weights.
var allFewRows = slices.Concat(fewrows.Kernels, fewrows.Narrow)

// TestFewRows runs products of few rows in the simulator's engine.
func TestFewRows(t *testing.T) {
	d := device()
	d.FewRows = allFewRows
	d.Table.Types = []driver.Type{driver.BF16, driver.FP16}
	if out := build(t, d.checked(), "fewrows", append([]string{"-O2"}, aligned...)...); out != "" {
		t.Errorf("the kernels do wrong:\n%s", out)
	}
}
