package harness

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/reference"
)

// constants are programs that have a constant in the place of one symbol each.
var constants = []struct {
	symbol schedule.Extent
	value  int
	Program
}{
	{schedule.M, 64, ofKind("linear", Program{Name: "rows",
		Schedule: of(tensor("A", schedule.Dim("64", schedule.DIDx(schedule.D)), inK),
			tensor("B", inN, inK), tensor("C", schedule.Dim("64", schedule.Stream(schedule.D)), inN))})},
	{schedule.M, 16, ofKind("linear", Program{Name: "fewrows",
		Schedule: of(tensor("A", schedule.Dim("16"), columnsK),
			tensor("B", inN, columnsK), tensor("C", schedule.Dim("16"), inN))})},
	{schedule.K, 96, ofKind("matmul", Program{Name: "contracted",
		Schedule: of(tensor("A", rows, schedule.Dim("96")),
			tensor("B", schedule.Dim("96"), inN), tensor("C", steps, inN))})},
	{schedule.K, 96, ofKind("linear", Program{Name: "contractedinparts",
		Schedule: of(tensor("A", inM, schedule.Dim("96", schedule.DIDx(schedule.D))),
			tensor("B", inN, schedule.Dim("96", schedule.DIDx(schedule.D))), tensor("C", rows, inN))})},
	{schedule.N, 56, ofKind("linear", Program{Name: "columns", Schedule: of(tensor("A", rows, inK),
		tensor("B", schedule.Dim("56"), inK), tensor("Bias", schedule.Dim("56")),
		tensor("C", steps, schedule.Dim("56")))})},
	{schedule.N2, 16, ofKind("linear",
		Program{Name: "lora", Schedule: of(tensor("A", rows, inK), tensor("B", inN, inK),
			tensor("B2", schedule.Dim("16"), inK), tensor("C", steps, inN), tensor("C2", steps, schedule.Dim("16")))})},
	{schedule.N3, 24, ofKind("linear", Program{Name: "value", Schedule: of(tensor("A", rows, inK),
		tensor("B", inN, inK), tensor("B2", inN2, inK),
		tensor("B3", schedule.Dim("24"), inK), tensor("C", steps, inN), tensor("C2", steps, inN2),
		tensor("C3", steps, schedule.Dim("24")))})},
	{schedule.F, 96, ofKind("mlp", Program{Name: "between", Schedule: of(tensor("A", rows, inK),
		tensor("B", schedule.Dim("96", schedule.DIDx(schedule.D)), inK),
		tensor("B2", inN, schedule.Dim("96", schedule.DIDx(schedule.D))), tensor("C", rows, inN))})},
	{schedule.P, 40, ofKind("copy", Program{Name: "most",
		Schedule: of(tensor("A", schedule.Dim(schedule.M, unevenTo("40")), inN), tensor("C", inM, inN))})},
	{schedule.N, 8, ofKind("sum", Program{Name: "sum", Schedule: of(tensor("A", each, inM, schedule.Dim("8")),
		tensor("C", rows, schedule.Dim("8")))})},
}

func unevenTo(most schedule.Extent) Split {
	return Split{Kind: schedule.DeviceX, Count: schedule.D, Uneven: true, Most: most}
}

// A constant is part of every shape, the defaults included, and what contradicts it is
// refused with words.
func TestConstants(t *testing.T) {
	for _, x := range constants {
		p := x.plain(nil)
		for _, ranks := range []int{2, 4} {
			for _, typ := range p.Types {
				shapes := p.TestShapes(typ, ranks)
				for _, s := range append(shapes, p.BenchShapes(ranks, false)...) {
					s = s.Fit(p, ranks)
					if got := *s.At(x.symbol); got != x.value {
						t.Errorf("%s: %s is %d in %s, want %d", p.Name, x.symbol, got, s, x.value)
					}
					if err := p.Fits(s, ranks); err != nil {
						t.Errorf("%s: %v", p.Name, err)
					}
				}
				for i, s := range shapes {
					if ranks > 2 {
						break
					}
					t.Run(fmt.Sprintf("%s %d ranks %s %s", p.Name, ranks, s, typ), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							if err := testShape(t.Context(), p, s, ranks, uint64(i)); err != nil {
								t.Error(err)
							}
						})
					})
				}
			}
		}
		other := p.TestShapes(driver.BF16, 2)[0]
		*other.At(x.symbol) *= 2
		want := fmt.Sprintf("%s is %d, and %s has the constant %d for it (leave it out)", x.symbol,
			2*x.value, p.Name, x.value)
		if err := p.Fits(other, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", p.Name, err, want)
		}
		if _, err := p.Problem(other, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", p.Name, err, want)
		}
	}
}

// A constant that can't be cut over the ranks is refused.
func TestConstantNotCut(t *testing.T) {
	p := &constants[0].Program
	want := "M is 64, and must be a multiple of 3 for rows on 3 ranks"
	if err := p.Fits(Shape{K: 8, N: 8}, 3); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// A problem whose tensors are not as long as its extents say is an error, not a panic.
func TestContradictingProblem(t *testing.T) {
	tried := 0
	for _, x := range constants {
		if x.symbol == schedule.P {
			continue // no axis has that length
		}
		tried++
		e := x.TestShapes(driver.FP32, 2)[0].extents(2)
		e[x.symbol]++
		problem := &reference.Problem{Ops: x.Schedule.Ops, Tensors: x.Schedule.Tensors, Extents: e, Type: driver.FP32}
		if err := problem.Check(); err == nil ||
			!strings.Contains(err.Error(), fmt.Sprintf("%s of the operations is %d", x.symbol, x.value+1)) {
			t.Errorf("%s: %v", x.Name, err)
		}
	}
	if tried == 0 {
		t.Error("no program has a constant extent")
	}
}

// New's requirements of a shape widen the defaults, and a shape that New would refuse is
// refused before any rank starts.
func TestChecks(t *testing.T) {
	for parts := int64(2); parts <= 8; parts++ {
		p := *operation(t, "qkv")
		p.Checks = []Divide{{Extent: schedule.M, By: schedule.D, Times: parts}}
		for ranks := 2; ranks <= 8; ranks++ {
			d := int(parts) * ranks
			for _, s := range append(p.VerifyShapes(driver.FP32, ranks, true), p.BenchShapes(ranks, true)...) {
				if s.M%d != 0 {
					t.Errorf("%d parts on %d ranks: M is %d, no multiple of %d", parts, ranks, s.M, d)
				}
			}
			want := fmt.Sprintf("M is %d, and must be a multiple of %d for qkv on %d ranks", d+ranks, d, ranks)
			if err := p.Fits(Shape{M: d + ranks, K: 8, N: 8}, ranks); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}

// A requirement on the elements of a result holds for every default, and is seen where it does not hold.
func TestFlat(t *testing.T) {
	for _, x := range []struct {
		columns schedule.Extent
		times   int64
		m, n    int // refused on 3 ranks
		want    string
	}{
		{schedule.N, 0, 4, 5, "M times N is 4 times 5, and must be a multiple of 3"},
		{schedule.N, 2, 3, 5, "M times N is 3 times 5, and must be a multiple of 6"},
		{"8", 0, 4, 8, "M times 8 is 4 times 8, and must be a multiple of 3"},
	} {
		columns := schedule.Dim(x.columns)
		p := ofKindPtr("sum", Program{Name: "flat", Schedule: of(tensor("A", each, inM, columns),
			tensor("C", inM, columns)), Types: []driver.Type{driver.BF16},
			Checks: []Divide{{Extent: schedule.M, With: x.columns, By: schedule.D, Times: x.times}}})
		for ranks := 1; ranks <= 8; ranks++ {
			for _, typ := range []driver.Type{driver.BF16, driver.FP32} {
				for _, s := range append(p.VerifyShapes(typ, ranks, true), p.BenchShapes(ranks, true)...) {
					if err := p.Fits(s, ranks); err != nil {
						t.Errorf("%s times %d, a default: %v", x.columns, x.times, err)
					}
				}
			}
		}
		if err := p.Fits(Shape{M: x.m, N: x.n}, 3); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
}

// A program is tested with the numbers of ranks that it was proven for.
func TestTestRanks(t *testing.T) {
	for want, proven := range map[string][]int{"[2 3 4]": nil, "[2 4]": {2, 4, 8}, "[3]": {3, 5}, "[6]": {8, 6}} {
		if got := fmt.Sprint((&Program{Ranks: proven}).TestRanks()); got != want {
			t.Errorf("proven for %v: %s, want %s", proven, got, want)
		}
	}
}

// A program whose constants make it large is tested with few rows.
func TestLarge(t *testing.T) {
	p := ofKindPtr("linear", Program{Name: "llama", Types: []driver.Type{driver.BF16},
		Schedule: of(tensor("A", rows, schedule.Dim("8192")),
			tensor("B", schedule.Dim("3584"), schedule.Dim("8192")), tensor("C", steps, schedule.Dim("3584")))})
	for _, s := range p.TestShapes(driver.BF16, 4) {
		if s.M != 4 || !p.Large(s, 4) {
			t.Errorf("%s: large %v", s, p.Large(s, 4))
		}
	}
}
