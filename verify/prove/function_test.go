package prove_test

import (
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
	for _, f := range []schedule.Func{schedule.GELU(), schedule.ReLU()} {
		s := scheduletest.Clone(catalog.TensorParallelMLP)
		s.Ops[0].Then[1] = f
		for _, does := range []schedule.FuncKind{schedule.ApplyGELU, schedule.ApplyReLU, ""} {
			p, err := lower.Lower("Layers", s)
			if err != nil {
				t.Fatal(err)
			}
			p.Body = hostir.MapSteps(p.Body, func(n hostir.Step) []hostir.Node {
				if n.Func != "" {
					n.Func = string(does)
				}
				return []hostir.Node{n}
			})
			_, err = prove.Schedule(t.Context(), p, prove.Options{Ranks: []int{1, 2, 3}})
			if (err == nil) != (does == f.Do) {
				t.Errorf("%s of what %q makes: %v", f, does, err)
			}
		}
	}
}
