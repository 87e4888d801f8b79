package harness

import (
	"fmt"
	"slices"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/verify/reference"
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
		if got := asked.fit(operation(t, name), 4); got != want {
			t.Errorf("%s at %s: %+v, want %+v", name, asked, got, want)
		}
	}
}

// TestShapesFit holds the default shapes against what the placements are cut in.
func TestShapesFit(t *testing.T) {
	for _, p := range operations {
		for ranks := 1; ranks <= 8; ranks++ {
			for _, typ := range []driver.Type{driver.BF16, driver.FP32} {
				for _, s := range append(p.verifyShapes(typ, ranks, true), p.benchShapes(ranks, true)...) {
					s.Type = typ
					if _, err := p.problem(s, ranks); err != nil {
						t.Errorf("%s on %d ranks, %s: %v", p.Name, ranks, s, err)
					}
				}
			}
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
		{&Program{Op: "copy", Tensors: []Tensor{tensor("A", schedule.Dim(schedule.M, unevenTo(schedule.P)), inN), tensor("C", inM, inN)}},
			"[{ [7 1]} {no rows [0 0]} {one part [7 0]}]"},
		{&Program{Op: "copy", Tensors: []Tensor{tensor("A", schedule.Dim(schedule.M, unevenTo("5")), inN), tensor("C", inM, inN)}},
			"[{ [5 3]} {no rows [0 0]} {one part [5 0]}]"},
	} {
		if got := fmt.Sprint(x.program.patterns(Shape{M: 8, N: 4}, 2)); got != x.want {
			t.Errorf("%s: %s, want %s", x.program.Name, got, x.want)
		}
	}
}

// TestCollective holds the bytes that bandwidths are of against nccl-tests' rules.
func TestCollective(t *testing.T) {
	const ranks = 4
	s := Shape{M: 16, K: 1, N: 8, Type: driver.BF16}
	for name, want := range map[string]collective{
		"allgather":     {"all-gather", 16 * 8 * 2, 0.75},
		"reducescatter": {"reduce-scatter", 16 * 8 * 2, 0.75},
		"allreduce":     {"all-reduce", 16 * 8 * 2, 1.5},
		"broadcast":     {"broadcast", 16 * 8 * 2, 1},
		"alltoall":      {"all-to-all", 4 * 16 * 2, 0.75},
		"permutation":   {"send and receive", 4 * 8 * 2, 1},
	} {
		p := operation(t, name)
		x, err := p.problem(s, ranks)
		if err != nil {
			t.Fatal(err)
		}
		l := &lab{tensors: &tensors{r: &rank{}, p: p, s: s, x: x, parts: map[string]reference.Part{}}}
		for _, tensor := range p.Tensors {
			l.parts[tensor.Name], err = x.Part(tensor.Name, 0)
			if err != nil {
				t.Fatal(err)
			}
		}
		if got, ok := l.collective(ranks); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestPlacements(t *testing.T) {
	for name, want := range map[string]string{
		"broadcast": "A [M, N] on rank 0 -> C [M, N]  [fp32] only",
		"mlp":       "A [DIDx(D), M/D, K]  B [DIDx(D), F/D, K]  Bias [DIDx(D), F/D]  B2 [N, DIDx(D), F/D] -> C [DIDx(D), M/D, N]  [fp32] only",
	} {
		p := *operation(t, name)
		p.Types = []driver.Type{driver.FP32}
		if got := p.placements(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestParts of all ranks make up what a result is, or each rank has all.
func TestParts(t *testing.T) {
	for _, p := range operations {
		s := p.verifyShapes(driver.BF16, 3, false)[1]
		s.Type = driver.BF16
		x, err := p.problem(s, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, tensor := range p.Tensors {
			held := 0
			for r := range 3 {
				part, err := x.Part(tensor.Name, r)
				if err != nil {
					t.Fatal(err)
				}
				held += part.Count
			}
			want := x.Elements(tensor.Name)
			if _, ok := reference.Ragged(tensor); ok {
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
