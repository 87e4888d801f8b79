package prove_test

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
	"ovgen/verify/prove"
)

// Two layers with a function between them are proven, and not with another in its place or none.
func TestFunctions(t *testing.T) {
	list := schedule.Epilogues()
	if len(list) < 2 {
		t.Fatalf("products apply %v", list)
	}
	for _, f := range list {
		s := scheduletest.Clone(catalog.TensorParallelMLP)
		s.Ops[0].Then[1] = f
		for _, other := range append(slices.Clone(list), schedule.Func{}) {
			does := other.Word
			p, err := lower.Lower("Layers", s)
			if err != nil {
				t.Fatal(err)
			}
			p.Body = hostir.MapSteps(p.Body, func(n hostir.Step) []hostir.Node {
				return []hostir.Node{hostir.Changed(n, func(x *hostir.Product) {
					if x.Func != "" {
						x.Func = does
					}
				})}
			})
			_, err = prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3}})
			if (err == nil) != (does == f.Word) {
				t.Errorf("%s of what %q makes: %v", f, does, err)
			}
		}
	}
}

// A function behind a sum over hosts is proven; no rows come to what makes that sum.
func TestFunctionOverHosts(t *testing.T) {
	s := scheduletest.Clone(catalog.LinearReduceScatterHosts)
	s.Ops[0].Then = []schedule.Func{schedule.Scale(2)}
	p, err := lower.Lower("Scaled", s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3, 4, 5, 6, 7, 8}}); err != nil {
		t.Error(err)
	}
}
