package reference

import (
	"math"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/reading"
)

// TestSummands compares sums of codes with plain arithmetic on the codes: fp32 in the order of ranks, rounded once.
// They are off from the sum of the tensors before codes by no more than docs/eight.md says.
func TestSummands(t *testing.T) {
	const ranks, rows, columns = 3, 6, 64
	terms := []schedule.Axis{schedule.Dim(schedule.D, schedule.DIDx(schedule.D)), schedule.Dim(schedule.M),
		schedule.Dim(schedule.N)}
	p := &Problem{Type: driver.BF16, Extents: reading.Extents{schedule.D: ranks, schedule.M: rows, schedule.N: columns},
		Tensors: []schedule.Tensor{{Name: "A", Axes: terms}, {Name: "Q", Axes: terms, Type: schedule.E4M3, Scale: "SQ"},
			{Name: "SQ", Axes: terms[:2], Type: schedule.FP32},
			{Name: "C", Axes: []schedule.Axis{schedule.Dim(schedule.M, schedule.DIDx(schedule.D)), terms[2]}}},
		Ops: []schedule.Op{schedule.Copy("Q", "A", schedule.Quantise()), schedule.Sum("C", "Q")}}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	in := map[string]Input{"A": p.Input("A", 7, true)}
	of, a := p.Results(in), in["A"].Values(driver.BF16, ranks*rows*columns)
	unit, exact := math.Ldexp(1, -driver.BF16.Digits()), 0
	for i := range rows * columns {
		sum, plain, off, sizes := float32(0), 0.0, 0.0, 0.0
		for r := range ranks {
			at := r*rows*columns + i
			x, scale := a.Want[at], of["SQ"].Want[at/columns]
			sum += float32(of["Q"].Want[at] * scale)
			plain, sizes = plain+x, sizes+math.Abs(x)
			off += max(math.Ldexp(math.Abs(x), -4), math.Ldexp(scale, -10))
		}
		off += ranks * 0x1p-24 * (sizes + off)
		want, c := float64(Round(driver.BF16, sum)), of["C"].At(i)
		if want < c.Lo || c.Hi < want {
			t.Fatalf("element %d is %v, want %g", i, c, want)
		}
		if c.IsPoint() {
			exact++
		}
		if most := off + unit*(math.Abs(plain)+off); math.Abs(want-plain) > most {
			t.Fatalf("element %d is %g, and %g without codes: more than %g off", i, want, plain, most)
		}
	}
	if exact < rows*columns*9/10 {
		t.Errorf("%d of %d sums have one value", exact, rows*columns)
	}
}
