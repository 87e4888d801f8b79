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
	names := slices.DeleteFunc(schedule.Functions(), func(do schedule.FuncKind) bool {
		f := schedule.Func{Do: do}
		return !f.ByProduct() || !f.Elementwise()
	})
	if len(names) < 2 {
		t.Fatalf("products apply %v", names)
	}
	for _, do := range names {
		s, f := scheduletest.Clone(catalog.TensorParallelMLP), schedule.Func{Do: do}
		s.Ops[0].Then[1] = f
		for _, does := range append(slices.Clone(names), "") {
			p, err := lower.Lower("Layers", s)
			if err != nil {
				t.Fatal(err)
			}
			p.Body = hostir.MapSteps(p.Body, func(n hostir.Step) []hostir.Node {
				return []hostir.Node{hostir.Changed(n, func(x *hostir.Product) {
					if x.Func != "" {
						x.Func = string(does)
					}
				})}
			})
			_, err = prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3}})
			if (err == nil) != (does == f.Do) {
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
