package served

import (
	"testing"

	s "ovgen/schedule"
)

// functions are functions where no product is ahead of them, and rows that are normed.
var functions = []declared{
	{"gelu by a kernel", "of rows that a sum has made, ahead of a gather", of(
		"A[M K/D] B[N K/D] W[F/D N] C[M:D F/D]", s.Linear("R", "A", "B"), s.Copy("X", "R", s.GELU()),
		s.Linear("C", "X", "W")), served},
	{"relu by a kernel", "of the caller's rows", of("A[M/D K] W[F/D K] C[M:D F/D]", s.Copy("X", "A", s.ReLU()),
		s.Linear("C", "X", "W")), served},
	{"gelu once more", "it is there already", of("A[M/D K] W[F/D K] C[M:D F/D]",
		s.Copy("X", "A", s.GELU(), s.GELU()), s.Linear("C", "X", "W")),
		at("Ops[0].Then[1]", "gelu is there already")},
}

// TestFunctions holds each against its verdict.
func TestFunctions(t *testing.T) {
	for i := range functions {
		d := &functions[i]
		if err := d.holds(t); err != nil {
			t.Errorf("%s: %v", d.id, err)
		}
	}
}
