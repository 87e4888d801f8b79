package hostir_test

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// Requirements that differ in Times are one, of a multiple of all; others stay beside each other.
func TestAsk(t *testing.T) {
	var p hostir.Program
	for _, d := range []hostir.Divide{{Extent: "M", By: schedule.D, Times: 1}, {Extent: "K", By: schedule.D, Times: 4},
		{Extent: "M", By: schedule.D, Times: 2}, {Extent: "M", By: "8"}, {Extent: "M", By: schedule.D, Times: 3},
		{Extent: "K", By: schedule.D}, {Extent: "K", By: schedule.D, Times: 6}} {
		p.Ask(d)
	}
	want := []hostir.Divide{{Extent: "M", By: schedule.D, Times: 6}, {Extent: "K", By: schedule.D, Times: 12},
		{Extent: "M", By: "8"}}
	if !slices.Equal(p.Checks, want) {
		t.Errorf("got %v, want %v", p.Checks, want)
	}
}
