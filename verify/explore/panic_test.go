package explore_test

import (
	"testing"

	"pgregory.net/rapid"

	"ovgen/schedule"
	"ovgen/schedule/catalog"
	"ovgen/schedule/lower"
	"ovgen/verify/explore"
	"ovgen/verify/ops/opstest"
	"ovgen/verify/sampling"
)

// The explorer has an answer for every list.
func TestNoPanic(t *testing.T) {
	sampling.Test(t, 2, 3)
	for name, s := range map[string]schedule.Schedule{"AllToAllV": catalog.AllToAllV,
		"ReduceScatterV":          catalog.ReduceScatterV,
		"LinearReduceScatterRing": catalog.LinearReduceScatterRing, "AllReduceOneShot": catalog.AllReduceOneShot,
		"LinearReduceScatterNCCL": catalog.LinearReduceScatterNCCL} {
		p, err := lower.Lower(name, s)
		if err != nil {
			t.Fatal(err)
		}
		shape := explore.ShapeOf(p, 2)
		lists, err := shape.Unroll(p)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				sys, err := explore.Of(p, shape, opstest.Spoil(r, lists), explore.Eager, explore.Captured)
				if err != nil {
					return
				}
				sys.First, sys.Limit = true, 50
				explore.Explore(sys)
				explore.ExploreSerial(sys)
			})
		})
	}
}
