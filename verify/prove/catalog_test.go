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

// One schedule for a rack of 72.
func TestRack(t *testing.T) {
	r, err := prove.Schedule(t.Context(), program(t, "AllGatherLinear", catalog.AllGatherLinear), prove.Options{Ranks: []int{72}})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(r)
}
