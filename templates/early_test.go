package templates

import (
	"regexp"
	"testing"

	"ovgen/runtime/fewrows"
)

// entries are the kernels of a .cu with the first call of each.
var entries = regexp.MustCompile(`__global__ void\s(?:__launch_bounds__\([^)]*\)\s)?(\w+)` +
	`\(const __grid_constant__ [^)]*\)\s*\{\s*(\w+)`)

// TestStartEarly: in a package whose products read weights ahead, kernels whose launches start early wait for the end
// of the launch before ahead of all else, and the others do not.
func TestStartEarly(t *testing.T) {
	c := withFewRows(t, fewrows.Kernels[:1].Early(), every())
	table, waits := c.device.Table, map[string]bool{}
	for _, m := range entries.FindAllStringSubmatch(c.cu(t), -1) {
		waits[m[1]] = m[2] == "start_early"
	}
	table.Early = true
	numbers := map[bool]int{}
	for _, k := range table.Code() {
		if waits[k.Name] != k.Early {
			t.Errorf("kernel %s starts early: %t; it waits first: %t", k.Name, k.Early, waits[k.Name])
		}
		numbers[k.Early]++
	}
	if numbers[true] == 0 || numbers[false] == 0 {
		t.Errorf("%d kernels start early, and %d do not", numbers[true], numbers[false])
	}
	table.Early = false
	for _, k := range table.Code() {
		if k.Early {
			t.Errorf("kernel %s starts early in a table that does not", k.Name)
		}
	}
}
