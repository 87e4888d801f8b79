package reference

import (
	"math"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/reading"
)

var (
	rows    = schedule.Dim(schedule.M, schedule.DIDx(schedule.D))
	inK     = schedule.Dim(schedule.K, schedule.DIDx(schedule.D))
	inF     = schedule.Dim(schedule.F, schedule.DIDx(schedule.D))
	m, k, n = schedule.Dim(schedule.M), schedule.Dim(schedule.K), schedule.Dim(schedule.N)
)

func problem(kind string, tensors map[string][]schedule.Axis) *Problem {
	p := &Problem{Type: driver.BF16, Extents: reading.Extents{
		schedule.D: 4, schedule.M: 16, schedule.K: 1024, schedule.N: 24, schedule.N2: 8,
		schedule.N3: 16, schedule.F: 512}}
	for _, name := range []string{"A", "B", "Bias", "C", "B2", "C2", "B3", "C3", "Gathered"} {
		if axes, ok := tensors[name]; ok {
			p.Tensors = append(p.Tensors, schedule.Tensor{Name: name, Axes: axes})
		}
	}
	p.Ops = scheduletest.Ops(kind, p.Tensors)
	return p
}

type placed = map[string][]schedule.Axis

// TestExact holds the largest sums against what the type holds, and the results'
// spread against zero: inputs that leave nothing to find would pass too.
func TestExact(t *testing.T) {
	for name, p := range map[string]*Problem{
		"gather":   problem("matmul", placed{"A": {rows, k}, "B": {k, n}, "C": {m, n}}),
		"reduce":   problem("linear", placed{"A": {m, inK}, "B": {n, inK}, "C": {rows, n}}),
		"gradient": problem("gradient", placed{"A": {m, n}, "B": {rows, k}, "C": {n, k}}),
		"mlp": problem("mlp", placed{"A": {rows, k}, "B": {inF, k}, "Bias": {inF},
			"B2": {n, inF}, "C": {rows, n}}),
		"sum": problem("sum", placed{"A": {schedule.Dim(schedule.D, schedule.DIDx(schedule.D)), m, n},
			"C": {rows, n}}),
	} {
		for _, typ := range []driver.Type{driver.BF16, driver.FP16, driver.FP32} {
			p.Type = typ
			p.exact(t, name)
		}
	}
}

// exact holds the sums of C against what the type holds.
func (p *Problem) exact(t *testing.T, name string) {
	t.Helper()
	if err := p.Check(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c := p.Results(inputs(p, false))["C"]
	zeros := 0
	for i, x := range c.Want {
		if got := float64(Round(p.Type, float32(x))); got != x || math.Abs(x) > p.Most("C") {
			t.Fatalf("%s %s: element %d is %g, which %s holds as %g", name, p.Type, i, x, p.Type, got)
		}
		if x == 0 {
			zeros++
		}
	}
	if c.Points() < len(c.Want) || zeros > len(c.Want)/2 {
		t.Errorf("%s %s: %d of %d results are one number, and %d are zero", name, p.Type, c.Points(), len(c.Want),
			zeros)
	}
}

func inputs(p *Problem, real bool) map[string]Input {
	in := map[string]Input{}
	for i, t := range p.Tensors {
		if !p.Result(t.Name) {
			in[t.Name] = p.Input(t.Name, uint32(i+1), real)
		}
	}
	return in
}

// TestResults names every result of the further products of one A.
func TestResults(t *testing.T) {
	n2, n3 := schedule.Dim(schedule.N2), schedule.Dim(schedule.N3)
	p := problem("linear", placed{"A": {rows, k}, "B": {n, k}, "B2": {n2, k}, "B3": {n3, k},
		"C": {m, n}, "C2": {m, n2}, "C3": {m, n3}, "Gathered": {m, k}})
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	got := p.Results(inputs(p, false))
	for name, want := range map[string]int{"C": 16 * 24, "C2": 16 * 8, "C3": 16 * 16, "Gathered": 16 * 1024} {
		if len(got[name].Want) != want {
			t.Errorf("%s has %d elements, want %d", name, len(got[name].Want), want)
		}
	}
	for name, want := range map[string]bool{"A": false, "B": true, "B3": true, "C": false} {
		if p.Own(name) != want {
			t.Errorf("each rank has a %s of its own: %v", name, !want)
		}
	}
}

func TestReduces(t *testing.T) {
	for _, x := range []struct {
		p    *Problem
		want bool
	}{
		{problem("matmul", placed{"A": {m, inK}, "B": {inK, n}, "C": {rows, n}}), true},
		{problem("linear", placed{"A": {m, inK}, "B": {n, inK}, "C": {m, n}}), true},
		{problem("linear", placed{"A": {rows, k}, "B": {n, k}, "C": {m, n}}), false},
		{problem("gradient", placed{"A": {m, n}, "B": {rows, k}, "C": {n, k}}), false},
		{problem("copy", placed{"A": {rows, n}, "C": {m, n}}), false},
	} {
		if got := x.p.Reduces(); got != x.want {
			t.Errorf("%s of %v reduces: %v", x.p.Ops, x.p.Tensors, got)
		}
	}
}

func TestCheck(t *testing.T) {
	p := problem("linear", placed{"A": {rows, k}, "B": {n, k}, "C": {m, n}})
	p.Extents[schedule.M] = 15
	if err := p.Check(); err == nil ||
		!strings.Contains(err.Error(), "place A: extent M: 15 cannot be cut as [DIDx(D), M/D]") {
		t.Error(err)
	}
	p = problem("copy", placed{"A": {m, n}, "C": {n, m}})
	p.Ops[0].Index = "mn->nm"
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "no reference for C = mn->nm(A)") {
		t.Error(err)
	}
}
