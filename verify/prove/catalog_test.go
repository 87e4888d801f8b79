package prove_test

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/verify/prove"
)

var schedules = map[string]schedule.Schedule{
	"AllGatherMatmul":        catalog.AllGatherMatmul,
	"AllGatherLinear":        catalog.AllGatherLinear,
	"AllGatherLinearKernels": catalog.AllGatherLinearKernels,
}

func program(t testing.TB, name string, s schedule.Schedule) *hostir.Program {
	t.Helper()
	p, err := lower.Lower(name, s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The catalog is proven for its default mesh sizes, safe eager and captured, and loses
// no overlap.
func TestCatalog(t *testing.T) {
	for name, s := range schedules {
		t.Run(name, func(t *testing.T) {
			r, err := prove.Schedule(t.Context(), program(t, name, s), prove.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(r)
			if !r.Replay() {
				t.Error("not serial-safe when captured")
			}
			for _, size := range r.Sizes {
				for _, w := range size.Warnings {
					t.Error(w)
				}
			}
		})
	}
}

// A rank alone, and a rack of 72.
func TestSizes(t *testing.T) {
	for name, s := range schedules {
		r, err := prove.Schedule(t.Context(), program(t, name, s), prove.Options{Ranks: []int{1, 9}, Runs: 3})
		if err != nil || r.Sizes[0].Ranks != 1 || r.Sizes[1].Runs != 3 || !r.Replay() {
			t.Errorf("%v: %v", r, err)
		}
	}
	r, err := prove.Schedule(t.Context(), program(t, "AllGatherLinear", catalog.AllGatherLinear), prove.Options{Ranks: []int{72}})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
}

// Every choice that is lowered is proven; signals in the step with a stream each for
// the steps are, from three ranks on, not serial-safe when captured.
func TestEveryChoice(t *testing.T) {
	for _, own := range []schedule.OwnShard{schedule.InPlace, schedule.Copied} {
		for _, signals := range []schedule.Signals{schedule.Batched, schedule.InStep} {
			for _, copies := range []schedule.CopyStream{schedule.Apart, schedule.WithStep} {
				for _, start := range []schedule.Placement{schedule.Hoisted, schedule.InLoop} {
					for _, compute := range []int{0, 1, 3} {
						s := catalog.AllGatherLinear
						s.Pipeline.OwnShard, s.Pipeline.Signals = own, signals
						s.Streams = schedule.Streams{Compute: compute, Copy: copies, Start: start}
						r, err := prove.Schedule(t.Context(), program(t, "X", s), prove.Options{Ranks: []int{2, 3, 5}})
						if err != nil {
							t.Errorf("%v %v: %v", s.Pipeline, s.Streams, err)
							continue
						}
						unordered := signals == schedule.InStep && copies == schedule.WithStep && start == schedule.Hoisted && compute != 1
						for _, size := range r.Sizes {
							if safe := size.Captured == nil; safe != (!unordered || size.Ranks == 2) {
								t.Errorf("%v %v: D = %d: safe when captured: %t", s.Pipeline, s.Streams, size.Ranks, safe)
							}
						}
					}
				}
			}
		}
	}
}
