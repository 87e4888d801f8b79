package safetensors_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/device"
	"ovgen/runtime/safetensors"
)

// given is a tensor of a file, of fp32 or of bytes.
type given struct {
	typ   string
	shape string
	data  any
}

// opened is a checkpoint of tensors.
func opened(t *testing.T, list map[string]given) safetensors.Tensors {
	t.Helper()
	var header []string
	var data []byte
	for name, x := range list {
		from := len(data)
		var err error
		if data, err = binary.Append(data, binary.LittleEndian, x.data); err != nil {
			t.Fatal(err)
		}
		header = append(header, fmt.Sprintf(`%q: {"dtype": %q, "shape": %s, "data_offsets": [%d, %d]}`, name, x.typ,
			x.shape, from, len(data)))
	}
	dir := t.TempDir()
	text := append(file("{"+strings.Join(header, ", ")+"}", 0), data...)
	if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	tensors, err := safetensors.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return tensors
}

// numbersOf are the numbers of scales.
func numbersOf(raw []byte) (list []float32) {
	for ; len(raw) > 0; raw = raw[4:] {
		list = append(list, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
	}
	return list
}

// e4m3 is the number of a code by its definition.
func e4m3(code int) float64 {
	if code>>3 == 0 {
		return math.Ldexp(float64(code), -9)
	}
	return math.Ldexp(float64(8+code&7), code>>3-10)
}

// TestQuantise rounds to e4m3: each of its numbers, the middles between neighbours, and the fp32 numbers beside both,
// in a row whose greatest number is e4m3's, so that its scale is 1.
func TestQuantise(t *testing.T) {
	row, want := []float32{448, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())},
		[]byte{0x7e, 0x7e, 0xfe, 0x7f}
	up, down := float32(math.Inf(1)), float32(math.Inf(-1))
	for code := range 0x7e {
		x, y := float32(e4m3(code)), float32(e4m3(code+1))
		middle := (x + y) / 2
		row = append(row, x, math.Nextafter32(x, up), middle, math.Nextafter32(middle, down),
			math.Nextafter32(middle, up))
		want = append(want, byte(code), byte(code), byte(code+code%2), byte(code), byte(code+1))
	}
	for i := range len(row) - 4 {
		row, want = append(row, -row[4+i]), append(want, want[4+i]|0x80)
	}
	want[4+5*0x7e] = 0x80 // of -0
	tensors := opened(t, map[string]given{"x": {"F32", fmt.Sprintf("[1, %d]", len(row)), row}})
	p := safetensors.Part{Name: "x", Shape: []int{1, len(row)}, Count: 1, Type: device.E4M3, Quantise: true}
	got, err := tensors.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	for i, code := range got {
		if code != want[i] {
			t.Errorf("%g becomes %#x, want %#x", row[i], code, want[i])
		}
	}
	if raw, err := tensors.Scales(p); err != nil || !slices.Equal(numbersOf(raw), []float32{1}) {
		t.Errorf("scales %v, %v, want 1", numbersOf(raw), err)
	}
}

// TestScales reads scales of rows, of parts of rows and of columns: a checkpoint's, in each of their shapes, and scales
// that the reader makes.
func TestScales(t *testing.T) {
	codes := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	rows := safetensors.Part{Name: "w", Shape: []int{3, 4}, From: 1, Count: 2, Type: device.E4M3}
	columns := safetensors.Part{Name: "w", Shape: []int{3, 4}, Axis: 1, From: 2, Count: 2, Type: device.E4M3}
	three := []float32{.5, 3, 1e-9}
	for name, x := range map[string]struct {
		scale         given
		rows, columns []float32
	}{
		"of rows":       {given{"F32", "[3]", three}, three[1:], three},
		"of rows [N 1]": {given{"F32", "[3, 1]", three}, three[1:], three},
		"of rows in bf16": {given{"BF16", "[3, 1]", []uint16{0x3f00, 0x4040, 0x3f80}}, []float32{3, 1},
			[]float32{.5, 3, 1}},
		"one":     {given{"F32", "[]", three[:1]}, []float32{.5, .5}, []float32{.5, .5, .5}},
		"one [1]": {given{"F32", "[1]", three[:1]}, []float32{.5, .5}, []float32{.5, .5, .5}},
	} {
		tensors := opened(t, map[string]given{"w": {"F8_E4M3", "[3, 4]", codes}, "w_scale": x.scale})
		for _, one := range []struct {
			p      safetensors.Part
			scales []float32
			codes  []byte
		}{{rows, x.rows, codes[4:]}, {columns, x.columns, []byte{2, 3, 6, 7, 10, 11}}} {
			got, err := tensors.Read(one.p)
			if err != nil || !slices.Equal(got, one.codes) {
				t.Errorf("%s: codes %v, %v, want %v", name, got, err, one.codes)
			}
			raw, err := tensors.Scales(one.p)
			if scales := numbersOf(raw); err != nil || !slices.Equal(scales, one.scales) ||
				int64(len(raw)) != one.p.ScaleBytes() {
				t.Errorf("%s: scales %v, %v, want %v", name, scales, err, one.scales)
			}
		}
	}

	wide := []float32{7, -14, 0, 1, 0, 0, 0, 0, 448, 224, -896, 1.75}
	made := opened(t, map[string]given{"w": {"F32", "[3, 4]", wide}})
	rows.Quantise, columns.Quantise = true, true
	for _, one := range []struct {
		p      safetensors.Part
		scales []float32
		codes  []byte
	}{
		{rows, []float32{1, 2}, []byte{0, 0, 0, 0, 0x76, 0x6e, 0xfe, 0x36}},
		{columns, []float32{.03125, 1, 2}, []byte{0, 0x60, 0, 0, 0xfe, 0x36}},
	} {
		got, err := made.Read(one.p)
		raw, failed := made.Scales(one.p)
		if err != nil || failed != nil || !slices.Equal(got, one.codes) || !slices.Equal(numbersOf(raw), one.scales) {
			t.Errorf("made: codes %#x, %v, scales %v, %v, want %#x, %v", got, err, numbersOf(raw), failed, one.codes,
				one.scales)
		}
	}
	if rows.Quantise = false; made.Check(rows) == nil {
		t.Error("an fp32 weight is taken for one of eight bits")
	}
}
