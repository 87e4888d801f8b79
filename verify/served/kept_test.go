package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/explore"
	"ovgen/verify/prove"
	"ovgen/verify/sampling"
)

// TestValuesAreKept: what one stage of a chain has made or gathered, a later one behind sums and calls reads, whichever
// ways the tensors travel by.
func TestValuesAreKept(t *testing.T) {
	sampling.Test(t, 2, 3)
	ways := []struct{ gathered, first, second s.Way }{{}, {nil, nil, s.Shot{}}, {nil, s.Shot{}, nil},
		{s.GatherShot{}, s.PushShot{}, s.Shot{}}, {s.PushGather{}, nil, nil}, {s.NCCL{}, s.NCCL{}, s.NCCL{}}}
	for _, x := range []struct {
		name string
		s.Schedule
		gathered, first, second string
	}{
		{"D25", D25GPTJParallelSP, "X", "Pa", "C"}, {"A13", A13CommandR, "X", "Pa", "C"},
		{"D24", D24FalconParallelTwoSums, "", "Pa", "C"}, {"A14", A14CommandRDecode, "", "Pa", "C"},
		{"P04", P04MixtralDense, "", "R", "C"}, {"a gated pair", GatheredTwice, "A", "R", "C"},
	} {
		for _, by := range ways {
			y := scheduletest.Clone(x.Schedule)
			y.Moves = []s.Move{{Of: x.first, Way: by.first}, {Of: x.second, Way: by.second}}
			if x.gathered != "" {
				y.Moves = append(y.Moves, s.Move{Of: x.gathered, Way: by.gathered})
			}
			p, err := lower.Lower("X", y)
			if err != nil {
				t.Errorf("%s, %+v: %v", x.name, y.Moves, err)
				continue
			}
			if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3, 4, 8}}); err != nil {
				t.Errorf("%s, %+v: %v", x.name, y.Moves, err)
			}
			if explored, err := explore.Small(p, []int{1, 2}, false); err != nil || len(explored) == 0 {
				t.Errorf("%s, %+v: explored for %v ranks: %v", x.name, y.Moves, explored, err)
			}
		}
	}
}

// TestValuesAreKeptOverHosts: rows that a rail has brought are there for a later stage.
func TestValuesAreKeptOverHosts(t *testing.T) {
	x := scheduletest.Clone(GatheredTwice)
	x.Mesh = s.Hosts()
	p, err := lower.Lower("X", x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{2, 4, 6}}); err != nil {
		t.Error(err)
	}
}

// TestSumsForAllBehindRows: every rank gets the sums of all rows, by each way behind rows that come by each way. Blocks
// that signal each for itself are explored at two parts, which rows of two ranks are as well.
func TestSumsForAllBehindRows(t *testing.T) {
	x := of("A[M/D K] B[F/D K] B2[K F/D] C[M K]", s.Linear("H", "A", "B"), s.Linear("C", "H", "B2"))
	for _, gather := range []s.Way{nil, s.GatherShot{}, s.PushGather{}, s.NCCL{}} {
		for _, sum := range []s.Way{nil, s.Shot{}, s.PushShot{}, s.TwoShot{}, s.NCCL{}} {
			y := scheduletest.Clone(x.Schedule)
			y.Moves = []s.Move{{Of: "A", Way: gather}, {Of: "C", Way: sum}}
			isCrossed(t, "sums for all", y, 1, 2, 3, 4)
		}
	}
}
