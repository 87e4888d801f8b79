package lower_test

import (
	"slices"
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
	"ovgen/schedule/lower"
	"ovgen/schedule/scheduletest"
)

// Stated multiples become requirements on the shape, one that the placements have already once.
func TestMultiples(t *testing.T) {
	s := scheduletest.Of("linear", scheduletest.Tensors("A[M/D K] B[N K] C[M:D N]")...)
	before, err := lower.Lower("X", s)
	if err != nil {
		t.Fatal(err)
	}
	s.Multiples = map[schedule.Extent]string{"N": "128", "M": "D", "K": "4*D"}
	p, err := lower.Lower("X", s)
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(before.Checks), hostir.Divide{Extent: "K", By: "D", Times: 4},
		hostir.Divide{Extent: "N", By: "128"})
	if !slices.Equal(p.Checks, want) {
		t.Errorf("got  %v\nwant %v", p.Checks, want)
	}
}
