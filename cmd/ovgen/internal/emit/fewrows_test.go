package emit

import (
	"testing"

	"ovgen/runtime/fewrows"
	"ovgen/schedule/catalog"
)

// TestFewRowsOfKernels: schedules may ask for the rows of each kernel, whose package ends with it, and for no others.
func TestFewRowsOfKernels(t *testing.T) {
	s, rows := catalog.LinearAllReduceFewRows, map[int]bool{0: true}
	for i, k := range fewrows.Kernels {
		rows[k.Rows] = true
		if list := fewrows.Kernels.UpTo(k.Rows); len(list) != i+1 || list[i] != k {
			t.Errorf("up to %d rows: kernels %v", k.Rows, list)
		}
	}
	for n := range 130 {
		s.FewRows = n
		if err := s.Validate(); (err == nil) != rows[n] {
			t.Errorf("%d rows, for which there are kernels: %t, %v", n, rows[n], err)
		}
	}
}
