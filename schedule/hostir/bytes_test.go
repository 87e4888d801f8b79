package hostir_test

import (
	"testing"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// TestBytes: sizes are whole numbers of bytes, or none.
func TestBytes(t *testing.T) {
	for _, x := range []struct {
		typ      schedule.Type
		elements int64
		want     int64 // 0: refused
	}{{"", 3, 12}, {schedule.E4M3, 3, 3}, {schedule.E2M1, 4, 2}, {schedule.E2M1, 1, 0}, {schedule.E2M1, 3, 0},
		{schedule.BF16, 4, 0}, {"fp7", 8, 0}} {
		b := hostir.Buffer{Name: "A", Tensor: schedule.Tensor{Type: x.typ}}
		if got, err := b.Bytes(x.elements, 32); got != x.want || (err != nil) != (x.want == 0) {
			t.Errorf("%d elements of %q: %d bytes, %v, want %d", x.elements, x.typ, got, err, x.want)
		}
	}
}
