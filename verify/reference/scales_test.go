package reference

import (
	"math"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/reading"
)

// quantising is a layer whose rows are made of eight bits.
func quantising() *Problem {
	scale := func(name string, a schedule.Axis) schedule.Tensor {
		return schedule.Tensor{Name: name, Axes: []schedule.Axis{a}, Type: schedule.FP32}
	}
	return &Problem{Type: driver.BF16, Extents: reading.Extents{schedule.D: 2, schedule.M: 12, schedule.K: 64,
		schedule.N: 16},
		Tensors: []schedule.Tensor{{Name: "A", Axes: []schedule.Axis{rows, k}},
			{Name: "Q", Axes: []schedule.Axis{rows, k}, Type: schedule.E4M3, Scale: "SQ"}, scale("SQ", rows),
			{Name: "B", Axes: []schedule.Axis{n, k}, Type: schedule.E4M3, Scale: "SB"}, scale("SB", n),
			{Name: "C", Axes: []schedule.Axis{m, n}}},
		Ops: []schedule.Op{schedule.Copy("Q", "A", schedule.Quantise()), schedule.Linear("C", "Q", "B")}}
}

// TestQuantised holds codes, scales and their product against plain arithmetic, of integers and of reals. Rows are of
// different sizes.
func TestQuantised(t *testing.T) {
	p := quantising()
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	for _, real := range []bool{false, true} {
		in := map[string]Input{}
		for i, name := range []string{"A", "B", "SB"} {
			in[name] = p.Input(name, uint32(i), real)
		}
		of := p.Results(in)
		a, b := in["A"].Values(driver.BF16, 12*64), in["B"].Values(driver.E4M3, 16*64)
		sb := in["SB"].Values(driver.FP32, 16)
		scales := map[float64]bool{}
		for i := range 12 {
			most, scale := 0.0, 0x1p-20
			for _, x := range a.Want[i*64 : (i+1)*64] {
				most = max(most, math.Abs(x))
			}
			for 448*scale < most {
				scale *= 2
			}
			scales[scale] = true
			if v := of["SQ"].At(i); v.Lo != scale || v.Hi != scale {
				t.Fatalf("real %v: the scale of row %d is %v, want %g", real, i, v, scale)
			}
			var codes []float64
			for j, x := range a.Want[i*64 : (i+1)*64] {
				code := float64(Round(driver.E4M3, float32(x/scale)))
				if v := of["Q"].At(i*64 + j); v.Lo != code || v.Hi != code {
					t.Fatalf("real %v: code %d,%d of %g is %v, want %g", real, i, j, x, v, code)
				}
				codes = append(codes, code)
			}
			for j := range 16 {
				sum := 0.0
				for k, code := range codes {
					sum += code * scale * b.Want[j*64+k] * sb.Want[j]
				}
				sum = float64(Round(driver.BF16, float32(sum)))
				if v := of["C"].At(i*16 + j); sum < v.Lo || v.Hi < sum || !real && !v.IsPoint() {
					t.Fatalf("real %v: element %d,%d is %v, want %g", real, i, j, v, sum)
				}
			}
		}
		if len(scales) < 3 {
			t.Errorf("real %v: there are the scales %v alone", real, scales)
		}
	}
}
