package harness

import (
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
)

// TestInexact: sums beyond the integers that a type holds are no longer exact, and copies are, whatever they are of.
func TestInexact(t *testing.T) {
	p := ofKind("linear", Program{Name: "linear", Schedule: of(tensor("A", inM, inK), tensor("B", inN, inK),
		tensor("C", inM, inN))})
	q := ofKind("copy", Program{Name: "copy", Schedule: of(tensor("A", rows, inN), tensor("C", inM, inN))})
	for _, x := range []struct {
		of      Program
		typ     driver.Type
		largest float32
		inexact bool
	}{{p, driver.BF16, 256, false}, {p, driver.BF16, 258, true}, {p, driver.FP16, 2048, false},
		{p, driver.FP16, 2050, true}, {q, driver.BF16, 1 << 20, false}} {
		problem, err := x.of.Problem(Shape{M: 8, K: 8, N: 16, Type: x.typ}, 2)
		if err != nil {
			t.Fatal(err)
		}
		w := &Wanted{Tensors: &Tensors{Program: &x.of, Problem: problem, Member: &Member{}}}
		if got := w.inexact("C", x.largest); got != x.inexact {
			t.Errorf("%s: %g in %s is inexact: %t", x.of.Name, x.largest, x.typ, got)
		}
	}
}

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
