package fewrows

import (
	"testing"

	"ovgen/runtime/driver"
)

// TestWith: a family has a kernel of each size with each function, also where the kernels are early, and names them
// apart.
func TestWith(t *testing.T) {
	first, second := &Function{Number: 1, Epilogue: "gelu"}, &Function{Number: 2}
	for _, list := range []Family{Kernels.With(nil, first, second), Kernels.With(nil, first, second).Early(),
		Kernels.Early().With(nil, first, second), Narrow.With(nil, first, second).Early()} {
		names := map[string]bool{}
		for number, function := range []*Function{nil, first, second} {
			for _, rows := range []int{1, 8, 9, 32, 64, 65} {
				at := list.of(number, rows)
				if at < 0 || list[at].Function != function || rows <= 64 && list[at].Rows < rows ||
					list[at].Rows != list.Of(rows).Rows {
					t.Fatalf("%d rows with function %d: kernel %d of %v", rows, number, at, list)
				}
			}
		}
		for _, k := range list {
			names[k.Name(driver.BF16)] = true
		}
		if len(names) != len(list) {
			t.Errorf("%d names of %d kernels", len(names), len(list))
		}
		if at := list.of(3, 1); at >= 0 {
			t.Errorf("kernel %d has a function that no kernel has", at)
		}
	}
}
