package served

import (
	"slices"
	"testing"

	s "ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/prove"
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

// TestColumnsBesideProducts: a product runs beside columns that come for another result, whose copies wait for posts
// that begin the program alone, and behind columns that it takes.
func TestColumnsBesideProducts(t *testing.T) {
	for _, x := range []struct {
		name string
		form
		waits bool
	}{
		{"another's columns", of("A[M N/D] Weight[N N/D] C[M N] Sums[M/D N]", s.Copy("C", "A"),
			s.Linear("Sums", "A", "Weight")), false},
		{"its columns", of("A[M N/D] Weight[K N] C[M N] Y[M K]", s.Copy("C", "A"), s.Linear("Y", "C", "Weight")), true},
	} {
		p, err := lower.Lower("X", x.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		if waitsAhead(p) != x.waits {
			t.Errorf("%s: a product waits for the copies of columns: %t\n%s", x.name, !x.waits, hostir.Print(p))
		}
		report, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3, 4, 8}})
		if err != nil || !report.Replay() {
			t.Errorf("%s: no graph: %v", x.name, err)
		}
	}
}

// waitsAhead says whether the caller's stream waits for another one ahead of the first product.
func waitsAhead(p *hostir.Program) (waits bool) {
	made := false
	hostir.Walk(p.Body, func(n hostir.Node) {
		switch x := n.(type) {
		case hostir.Step:
			_, product := x.Do.(hostir.Product)
			made = made || product
		case hostir.Synchronize:
			waits = waits || !made && slices.ContainsFunc(x.Streams, func(on hostir.StreamRef) bool {
				return on.String() == "main"
			})
		}
	})
	return waits
}
