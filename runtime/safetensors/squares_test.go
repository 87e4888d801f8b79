package safetensors_test

import (
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/device"
	"ovgen/runtime/safetensors"
)

// TestSquares reads scales of squares of 2 x 2, of whole weights, of parts of rows and of columns, and where the last
// squares are not whole.
func TestSquares(t *testing.T) {
	codes := make([]byte, 24)
	for i := range codes {
		codes[i] = byte(i)
	}
	six := []float32{.5, 3, 1e-9, 7, 0, 2}
	w := safetensors.Part{Name: "w", Shape: []int{4, 6}, Count: 4, Type: device.E4M3, Square: 2}
	rows, columns, odd := w, w, w
	rows.From, rows.Count = 2, 2
	columns.Axis, columns.From, columns.Count = 1, 2, 4
	odd.Shape, odd.Count = []int{3, 5}, 3
	for name, x := range map[string]struct {
		p      safetensors.Part
		shape  string
		typ    string
		data   any
		scales []float32
		codes  []byte
	}{
		"all":  {w, "[4, 6]", "F32", six, six, codes},
		"rows": {rows, "[4, 6]", "F32", six, six[3:], codes[12:]},
		"columns": {columns, "[4, 6]", "F32", six, []float32{3, 1e-9, 0, 2}, slices.Concat(codes[2:6], codes[8:12],
			codes[14:18], codes[20:])},
		"bf16": {columns, "[4, 6]", "BF16", []uint16{0x3f00, 0x4040, 0x3f80, 0, 0, 0x4000}, []float32{3, 1, 0, 2},
			slices.Concat(codes[2:6], codes[8:12], codes[14:18], codes[20:])},
		"squares that are not whole": {odd, "[3, 5]", "F32", six, six, codes[:15]},
	} {
		tensors := opened(t, map[string]given{"w": {"F8_E4M3", x.shape, codes[:x.p.Shape[0]*x.p.Shape[1]]},
			"w_scale_inv": {x.typ, "[2, 3]", x.data}})
		got, err := tensors.Read(x.p)
		raw, failed := tensors.Scales(x.p)
		if err != nil || failed != nil || !slices.Equal(got, x.codes) || !slices.Equal(numbersOf(raw), x.scales) ||
			int64(len(raw)) != x.p.ScaleBytes() {
			t.Errorf("%s: codes %v, %v, scales %v, %v, want %v and %v", name, got, err, numbersOf(raw), failed, x.codes,
				x.scales)
		}
	}

	tensors := opened(t, map[string]given{"w": {"F8_E4M3", "[4, 6]", codes}, "w_scale_inv": {"F32", "[2, 3]", six}})
	rows.From, rows.Count = 1, 2
	columns.From, columns.Count = 0, 3
	for want, p := range map[string]safetensors.Part{
		"tensor w: 2 rows from 1 on are no whole squares of 2, which have one scale each (cut its 4 rows at " +
			"multiples of 2)": rows,
		"tensor w: 3 columns from 0 on are no whole squares of 2": columns,
	} {
		if _, err := tensors.Read(p); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
