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

// TestMakes: functions stay behind products of more than 8 rows for which a block has several tiles.
func TestMakes(t *testing.T) {
	function := &Function{Number: 1}
	for _, x := range []struct {
		family  Family
		m, n    int
		by      driver.Func
		makes   bool
		because string
	}{
		{Kernels.With(nil, function), 8, 14336, "", true, "it has few rows"},
		{Kernels.With(nil, function), 16, oneTile, "", true, "a block has one tile"},
		{Kernels.With(nil, function), 16, 14336, "", false, "a block has two tiles"},
		{Kernels.With(nil, function), 16, 14336, "gelu", true, "the library rounds behind gelu"},
		{Kernels.With(function), 16, 14336, "", true, "no kernel makes the product alone"},
		{Kernels.With(nil, function), 65, 64, "", false, "no kernel has so many rows"},
		{Kernels.With(nil, function), -65, 64, "", true, "the library would add them in another order"},
		{Kernels.EarlyInTiles().With(nil, function), -65, 64, "", true, "it makes several tiles"},
		{Kernels.Early().With(nil, function), -65, 64, "", false, "a kernel by boxes makes one tile"},
	} {
		inOrder := x.m < 0
		x.m = max(x.m, -x.m)
		d := driver.MatmulDesc{M: x.m, K: 4096, N: x.n, Type: driver.BF16, Transposed: true, Func: x.by,
			InOrder: inOrder}
		if got := x.family.makes(d); got != x.makes {
			t.Errorf("%d x %d %q: a kernel with a function makes it: %t, though %s", x.m, x.n, x.by, got, x.because)
		}
	}
}

// TestCodeFrom: kernels that widen codes need the instruction for it, and early ones launches that start early.
func TestCodeFrom(t *testing.T) {
	for _, c := range []struct {
		family Family
		from   int
	}{{Kernels, 0}, {Narrow, 89}, {Squares, 89}, {Narrow[:1].Early(), 90}} {
		for _, k := range c.family.Code([]driver.Type{driver.BF16}) {
			if k.From != c.from {
				t.Errorf("%s is from compute capability %d on, want %d", k.Name, k.From, c.from)
			}
		}
	}
}
