package served

import (
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/sampling"
)

// beside are schedules with communications of which none needs another's result.
var beside = []struct {
	name string
	s.Schedule
	gathered, summed string // tensors that take other ways too
}{
	{"keys and values", P32GatherKV, "Key", ""},
	{"keys and values go round", P33RingKV, "", ""},
	{"a weight beside a product", P39FSDPPrefetch, "Next", ""},
	{"a gradient's sum behind a product", P41ZeROOverlap, "", "C"},
	{"both gradients of a column-parallel layer", P44ColumnBackward, "", "Dx"},
	{"both gradients of a row-parallel layer", P46RowBackwardSP, "Dy", ""},
	{"a choice of the best, for all", P22HeadArgmax, "", ""},
	{"a layer and the rows that it gathers", of("A[M/D K] B[F/D K] B2[N F/D] C[M/D N] Gathered[M:D K]",
		s.Linear("H", "A", "B"), s.Linear("C", "H", "B2"), s.Copy("Gathered", "A")).Schedule, "A", "C"},
	{"a gradient and its update's rows", of("A[M N] B[M/D K] P[F/D K] C[N K] All[F K]",
		s.Gradient("C", "A", "B"), s.Copy("All", "P")).Schedule, "P", ""},
}

// TestBeside: they share a plan.
func TestBeside(t *testing.T) {
	sampling.Test(t, 0, 3)
	for _, x := range beside {
		isCrossed(t, x.name, x.Schedule, 1, 2, 3, 4, 8)
		for _, ways := range [][2]s.Way{{s.NCCL{}, s.NCCL{}}, {s.GatherShot{}, s.Shot{}}, {s.Pull{WithStep: true},
			s.Slots{}}, {s.PushGather{}, s.Shot{Signals: s.MemOps}}} {
			y := scheduletest.Clone(x.Schedule)
			for i, name := range []string{x.gathered, x.summed} {
				maker, _ := y.Maker(name)
				if name == "" || maker.Name() == "gradient" && i == 1 && !isShot(ways[i]) {
					continue
				}
				y.Moves = append(y.Moves, s.Move{Of: name, Way: ways[i]})
			}
			if len(y.Moves) > 0 {
				isCrossed(t, x.name, y, 1, 2, 3, 4, 8)
			}
		}
	}
}

// isShot says that a way serves sums of gradients.
func isShot(w s.Way) bool {
	_, is := w.(s.Shot)
	return is
}
