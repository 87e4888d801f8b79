package harness

import (
	"fmt"
	"slices"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/reading"
)

func operation(t *testing.T, name string) *Program {
	t.Helper()
	i := slices.IndexFunc(operations, func(p Program) bool { return p.Name == name })
	if i < 0 {
		t.Fatalf("no operation %s", name)
	}
	return &operations[i]
}

func TestFit(t *testing.T) {
	asked := Shape{M: 8, K: 64, N: 128}
	for name, want := range map[string]Shape{
		"gather": {M: 8, K: 64, N: 128},
		"qkv":    {M: 8, K: 64, N: 128, N2: 32, N3: 32},
		"mlp":    {M: 8, K: 64, N: 64, F: 512},
	} {
		if got := asked.Fit(operation(t, name), 4); got != want {
			t.Errorf("%s at %s: %+v, want %+v", name, asked, got, want)
		}
	}
}

// TestShapesFit holds the default shapes against what the placements are cut in.
func TestShapesFit(t *testing.T) {
	for _, p := range operations {
		for ranks := 1; ranks <= 8; ranks++ {
			for _, typ := range []driver.Type{driver.BF16, driver.FP32} {
				for _, s := range append(p.VerifyShapes(typ, ranks, true), p.BenchShapes(ranks, true)...) {
					s.Type = typ
					if _, err := p.Problem(s, ranks); err != nil {
						t.Errorf("%s on %d ranks, %s: %v", p.Name, ranks, s, err)
					}
				}
			}
		}
	}
}

// GPUs are filled where they, or the host within seconds, make the results apart from the program.
func TestShapesOnGPUs(t *testing.T) {
	in1024 := schedule.Dim("1024")
	cut1024 := schedule.Dim("1024", schedule.DIDx(schedule.D))
	chain := func(rows Axis) *Program {
		p := Program{Name: "gated", Schedule: of(tensor("A", rows, in1024), tensor("Up", columnsF, in1024),
			tensor("Gate", columnsF, in1024), tensor("Down", inN, columnsF), tensor("C", rows, inN))}
		p.Schedule.Ops = []Op{schedule.Linear("U", "A", "Up"), schedule.Linear("G", "A", "Gate", schedule.SwiGLU("U")),
			schedule.Linear("C", "G", "Down")}
		return &p
	}
	tiles := *operation(t, "gather")
	tiles.Schedule.Moves = []schedule.Move{{Of: "A", Way: schedule.Tiles{Columns: 128}}}
	norm := Program{Name: "norm", Schedule: of(tensor("A", rows, inN), tensor("Norm", inN), tensor("C", inM, inN))}
	norm.Schedule.Ops = []Op{schedule.Copy("C", "A", schedule.RMSNorm("Norm"))}
	for _, x := range []struct {
		p     *Program
		ranks int
		want  int
	}{
		{operation(t, "gather"), 8, 3},
		{&tiles, 2, 3 + 6},
		{chain(rows), 2, 2}, // a product alone would be much for the host
		{chain(cut1024), 2, 2},
		{&norm, 2, 3}, // nothing is multiplied
		{&norm, 8, 2}, // but here it is large
	} {
		for _, s := range x.p.VerifyShapes(driver.BF16, x.ranks, true) {
			s.Type = driver.BF16
			if _, err := x.p.Problem(s, x.ranks); err != nil {
				t.Errorf("%s on %d ranks, %s: %v", x.p.Name, x.ranks, s, err)
			}
			if err := x.p.Fits(s, x.ranks); err != nil {
				t.Error(err)
			}
		}
		if got := x.p.VerifyShapes(driver.BF16, x.ranks, true); len(got) != x.want {
			t.Errorf("%s on %d ranks: %v, want %d shapes", x.p.Name, x.ranks, got, x.want)
		}
	}
}

func TestCounts(t *testing.T) {
	for _, x := range []struct {
		m, ranks int
		want     []int
	}{{7, 1, []int{7}}, {7, 3, []int{4, 0, 3}}, {40, 4, []int{13, 7, 13, 7}}} {
		got := counts(x.m, x.ranks, x.m)
		if !slices.Equal(got, x.want) {
			t.Errorf("%d over %d ranks: %v, want %v", x.m, x.ranks, got, x.want)
		}
		each := pairs(got)
		for r := range x.ranks {
			sent, received := 0, 0
			for o := range x.ranks {
				sent, received = sent+each[r*x.ranks+o], received+each[o*x.ranks+r]
			}
			if sent != x.m || received != x.m {
				t.Errorf("of pairs %v rank %d sends %d and receives %d, want %d", each, r, sent, received, x.m)
			}
		}
	}
}

// Uneven parts are verified with parts that differ, with no rows at all and with all of
// them in one part.
func TestPatterns(t *testing.T) {
	for _, x := range []struct {
		program *Program
		want    string
	}{
		{operation(t, "allgather"), "[{ []}]"},
		{operation(t, "uneven"), "[{ [7 1]} {no rows [0 0]} {one part [8 0]}]"},
		{operation(t, "alltoallv"), "[{ [7 1 1 7]} {no rows [0 0 0 0]} {one part [0 8 0 0]}]"},
		{ofKindPtr("copy", Program{Schedule: of(tensor("A", schedule.Dim(schedule.M, unevenTo(schedule.P)), inN),
			tensor("C", inM, inN))}),
			"[{ [7 1]} {no rows [0 0]} {one part [7 0]}]"},
		{ofKindPtr("copy", Program{Schedule: of(tensor("A", schedule.Dim(schedule.M, unevenTo("5")), inN),
			tensor("C", inM, inN))}),
			"[{ [5 3]} {no rows [0 0]} {one part [5 0]}]"},
	} {
		if got := fmt.Sprint(x.program.Patterns(Shape{M: 8, N: 4}, 2)); got != x.want {
			t.Errorf("%s: %s, want %s", x.program.Name, got, x.want)
		}
	}
}

// TestParts of all ranks make up what a result is, or each rank has all.
func TestParts(t *testing.T) {
	for _, p := range operations {
		s := p.VerifyShapes(driver.BF16, 3, false)[1]
		s.Type = driver.BF16
		x, err := p.Problem(s, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, tensor := range p.Schedule.Tensors {
			held := 0
			for r := range 3 {
				part, err := x.Part(tensor.Name, r)
				if err != nil {
					t.Fatal(err)
				}
				held += part.Count
			}
			want := x.Elements(tensor.Name)
			if _, ok := reading.Ragged(tensor); ok {
				want = 3 * x.Extents[schedule.M] // every rank sends and receives M in all
			} else if _, _, sharded := tensor.Sharded(); !sharded {
				want *= 3
			}
			if held != want {
				t.Errorf("%s: the ranks hold %d elements of %s, want %d", p.Name, held, tensor.Name, want)
			}
		}
	}
}

// Shapes of a schedule that states multiples have them.
func TestShapesOfMultiples(t *testing.T) {
	gather := *operation(t, "gather")
	gather.Checks = append(slices.Clone(gather.Checks), Divide{Extent: schedule.N, By: schedule.D, Times: 128})
	const ranks = 3
	for _, s := range gather.TestShapes(driver.BF16, ranks) {
		if s.N == 0 || s.N%(128*ranks) != 0 {
			t.Errorf("%s has no multiple of %d", s, 128*ranks)
		}
	}
}

// TestOtherRows: rows of a number of their own are as many as their placement needs, and may be fewer than the others.
func TestOtherRows(t *testing.T) {
	p := &Program{Name: "crossed", Schedule: schedule.Schedule{
		Tensors: []schedule.Tensor{tensor("A", inM, inN),
			tensor("E", schedule.Dim(schedule.P, schedule.DIDx(schedule.D)), inN), tensor("C", inM, inN)},
		Ops: []schedule.Op{schedule.Call("C", "Cross", "mn,pn->mn", "A", "E")}}}
	for ranks := 1; ranks <= 4; ranks++ {
		for _, s := range p.VerifyShapes(driver.BF16, ranks, false) {
			if full := s.Fit(p, ranks); full.P == 0 || full.P%ranks != 0 {
				t.Errorf("%d ranks: %d rows", ranks, full.P)
			}
		}
		if err := p.Fits(Shape{M: 8 * ranks, N: 4, P: ranks}, ranks); err != nil {
			t.Error(err)
		}
	}
}

// TestOtherSums: a second product may sum over as many columns as F, which is then no width between layers.
func TestOtherSums(t *testing.T) {
	inF := schedule.Dim(schedule.F, schedule.DIDx(schedule.D))
	p := &Program{Name: "two", Schedule: schedule.Schedule{
		Tensors: []schedule.Tensor{tensor("A", inM, inK), tensor("B", inN, inK), tensor("C", inM, inN),
			tensor("A2", inM, inF), tensor("B2", inN2, inF), tensor("C2", inM, inN2)},
		Ops: []schedule.Op{schedule.Linear("C", "A", "B"), schedule.Linear("C2", "A2", "B2")}}}
	for ranks := 1; ranks <= 4; ranks++ {
		for _, s := range p.VerifyShapes(driver.BF16, ranks, false) {
			if full := s.Fit(p, ranks); full.F == 0 || full.F%ranks != 0 {
				t.Errorf("%d ranks: %d columns", ranks, full.F)
			}
		}
	}
}
