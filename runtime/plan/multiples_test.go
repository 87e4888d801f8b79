package plan_test

import (
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// A requirement of heads that are whole on each rank, or of a number alone, is said with the nearest multiples.
func TestMultiples(t *testing.T) {
	p := &plan.Program{Extents: []string{"K", "N2", "W"}, Types: []driver.Type{driver.BF16}, Divides: []plan.Divide{
		{Extent: "K", By: "128"}, {Extent: "N2", By: "D", Heads: "W"}, {Extent: "W", Heads: "", Times: 2}}}
	for want, extents := range map[string][]int{
		"K is 200: it must be a multiple of 128 (the nearest are 128 and 256)":                   {200, 48, 8},
		"N2 is 100: it must be a multiple of 8 times the ranks, 24 (the nearest are 96 and 120)": {128, 100, 8},
		"W is 7: it must be a multiple of 2 (the nearest are 6 and 8)":                           {128, 42, 7},
	} {
		if err := p.Check(3, driver.BF16, extents...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
