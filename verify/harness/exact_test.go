package harness

import (
	"slices"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
)

// TestExact: every schedule of the catalogue is compared by ==, in every type and at every shape of the tests, unless
// it norms rows or adds up what no units fit.
func TestExact(t *testing.T) {
	compared := 0
	for _, c := range catalog.All() {
		p, err := lower.Lower(c.Name, c.Schedule)
		if err != nil {
			t.Fatal(err)
		}
		norms := slices.ContainsFunc(p.Schedule.Ops, func(o schedule.Op) bool {
			return slices.ContainsFunc(o.Then, schedule.Func.Norm)
		})
		program := Program{Name: c.Name, Schedule: p.Schedule, Checks: p.Checks}
		for _, typ := range p.Schedule.Types {
			for _, ranks := range []int{2, 3, 4} {
				element, _ := driver.ParseType(string(typ))
				for _, s := range program.TestShapes(element, ranks) {
					x, err := program.Problem(s, ranks)
					if err != nil {
						t.Fatal(err)
					}
					if compared++; x.Exact() == norms {
						t.Errorf("%s of %d ranks, %s %s: exact is %t", c.Name, ranks, s, typ, x.Exact())
					}
				}
			}
		}
	}
	t.Logf("%d problems", compared)
}
