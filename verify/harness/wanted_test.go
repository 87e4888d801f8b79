package harness

import (
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
)

// TestCopiedScales: a result that is a copy of codes is compared with these, and its scales with theirs.
func TestCopiedScales(t *testing.T) {
	coded := func(name, scale string, axes ...Axis) []Tensor {
		return []Tensor{{Name: name, Axes: axes, Type: schedule.E4M3, Scale: scale},
			{Name: scale, Axes: axes[:3], Type: schedule.FP32}}
	}
	inD := schedule.Dim(schedule.D)
	p := ofKind("copy", Program{Name: "exchange", Schedule: of(append(coded("A", "ScaleA", unevenD, inD, inM, inN),
		coded("C", "ScaleC", inD, unevenD, inM, inN)...)...)})
	x, err := p.Problem(Shape{M: 2, N: 16, Type: driver.BF16}, 2)
	if err != nil {
		t.Fatal(err)
	}
	w := &Wanted{Tensors: &Tensors{Program: &p, Problem: x, Member: &Member{}},
		full: map[string]driver.Ptr{"A": 1, "ScaleA": 2, "C": 3, "ScaleC": 4}}
	if err := w.onDevice(nil, 0); err != nil {
		t.Fatal(err)
	}
	if w.full["C"] != 1 || w.full["ScaleC"] != 2 {
		t.Errorf("compared with %v", w.full)
	}
}
