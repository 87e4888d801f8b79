package safetensors_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ovgen/runtime/device"
	"ovgen/runtime/safetensors"
)

// bf16 is a number that bf16 has.
func bf16(x float32) uint16 { return uint16(math.Float32bits(x) >> 16) }

// file is a safetensors file of a header and so many bytes.
func file(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), make([]byte, data)...)
}

// many are so many tensors without elements.
func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]},`, i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// TestRefused has files that break the format's rules.
func TestRefused(t *testing.T) {
	const x = `"x": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}`
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "the header's length"},
		{"a header that ends early", file("{"+x+"}", 0)[:20], "truncated"},
		{"an endless header", binary.LittleEndian.AppendUint64(nil, 1<<60), "truncated, or no safetensors file"},
		{"no object", file("[]", 0), "the header: it is no JSON object"},
		{"half an object", file("{"+x, 8), "the header"},
		{"no tensor", file(`{"x": 3}`, 8), "the header: tensor x: json: cannot unmarshal number"},
		{"data that ends early", file("{"+x+"}", 7),
			"tensor x: [0 8] of 7 bytes is no place for shape [2 2] (the file may be truncated)"},
		{"a tail", file("{"+x+"}", 9), "9 bytes of tensors"},
		{"one name twice", file("{"+x+`, "x": {"dtype": "BF16", "shape": [2], "data_offsets": [8, 12]}}`, 12),
			"the header: tensor x stands there twice"},
		{"a hole", file("{"+x+`, "y": {"dtype": "BF16", "shape": [2], "data_offsets": [12, 16]}}`, 16),
			"tensor y: it begins at 12, and the one before it ends at 8"},
		{"a hole before the first", file(`{"x": {"dtype": "BF16", "shape": [2], "data_offsets": [4, 8]}}`, 8),
			"tensor x: it begins at 4, and the one before it ends at 0"},
		{"two at one place, and a hole", file("{"+x+`, "y": {"dtype": "BF16", "shape": [4], "data_offsets": [0, 8]}}`,
			16), "it begins at 0, and the one before it ends at 8"},
		{"two that overlap", file("{"+x+`, "y": {"dtype": "BF16", "shape": [2], "data_offsets": [6, 10]}}`, 10),
			"tensor y: it begins at 6, and the one before it ends at 8"},
		{"negative extents", file(`{"x": {"dtype": "U8", "shape": [-2, -8], "data_offsets": [0, 16]}}`, 16),
			"tensor x: shape [-2 -8]"},
		{"a negative place", file(`{"x": {"dtype": "U8", "shape": [-16], "data_offsets": [16, 0]}}`, 16),
			"tensor x: shape [-16]"},
		{"more behind the object", file("{"+x+"} {}", 8), "the header: there is more behind the JSON object"},
		{"half of something behind the object", file("{"+x+`} "`, 8), "the header: unexpected EOF"},
		{"no key", file("{3: 4}", 0), "the header: invalid character '3'"},
		{"metadata that ends early", file(`{"__metadata__": {`, 0), "the header: unexpected EOF"},
		{"too many tensors", file("{"+many(1<<17+1)+"}", 0), "the header: more than 131072 tensors"},
		{"a place that is too small", file(`{"x": {"dtype": "BF16", "shape": [4], "data_offsets": [0, 4]}}`, 8),
			"tensor x: [0 4] of 8 bytes is no place for shape [4]"},
		{"a place behind the end", file("{"+x+`, "y": {"dtype": "BF16", "shape": [2], "data_offsets": [8, 12]}}`, 10),
			"tensor y: [8 12] of 10 bytes is no place for shape [2] (the file may be truncated)"},
		{"a place before the data", file(`{"x": {"dtype": "BF16", "shape": [2], "data_offsets": [-4, 0]}}`, 4),
			"tensor x: [-4 0] of 4 bytes is no place for shape [2]"},
		{"overflow", file(`{"x": {"dtype": "BF16", "shape": [4294967296, 4294967296], "data_offsets": [0, 0]}}`, 0),
			"tensor x: [0 0] of 0 bytes is no place for shape"},
		{"a type", file(`{"x": {"dtype": "F9", "shape": [8], "data_offsets": [0, 8]}}`, 8),
			`tensor x: type "F9" is none of the format`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := safetensors.Open(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "%!") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{"1.safetensors": file("{"+x+"}", 8), "2.safetensors": file("{"+x+"}", 8),
		"model.safetensors.index.json": []byte(`{"weight_map": {"x": "1.safetensors", "y": "2.safetensors"}}`)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := safetensors.Open(dir); err == nil || !strings.Contains(err.Error(), "1.safetensors has it too") {
		t.Errorf("%v, want the file that has the tensor too", err)
	}
	if _, err := safetensors.Open(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// threeFiles writes a checkpoint of three files and returns its folder.
func threeFiles(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	first := file(`{"__metadata__": {"of": "[]"}, "z": {"dtype": "U8", "shape": [0, 7], "data_offsets": [12, 12]},
		"x": {"dtype": "BF16", "shape": [3, 2], "data_offsets": [0, 12]}}  `, 0)
	for i := range 6 {
		first = binary.LittleEndian.AppendUint16(first, bf16(float32(i)))
	}
	second := file(`{"y": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}`, 4)
	third := file(`{"n": {"dtype": "I16", "shape": [1], "data_offsets": [0, 2]}}`, 2)
	index := `{"weight_map": {"x": "1.safetensors", "y": "2.safetensors", "n": "3.safetensors"}}`
	for name, data := range map[string][]byte{"1.safetensors": first, "2.safetensors": second,
		"3.safetensors": third, "model.safetensors.index.json": []byte(index)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestRead reads parts of tensors of two files, in either type.
func TestRead(t *testing.T) {
	dir := threeFiles(t)
	tensors, err := safetensors.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	shape := []int{3, 2}
	for _, x := range []struct {
		part safetensors.Part
		want []float32
	}{
		{safetensors.Part{Shape: shape, Count: 3}, []float32{0, 1, 2, 3, 4, 5}},
		{safetensors.Part{Shape: shape, From: 1, Count: 1}, []float32{2, 3}},
		{safetensors.Part{Shape: shape, Axis: 1, From: 1, Count: 1}, []float32{1, 3, 5}},
		{safetensors.Part{Shape: shape, From: 2, Count: 2}, []float32{4, 5, 0, 0}},
		{safetensors.Part{Shape: shape, From: 4, Count: 1}, []float32{0, 0}},
	} {
		var want32, want16 []byte
		for _, f := range x.want {
			want16 = binary.LittleEndian.AppendUint16(want16, bf16(f))
			want32 = binary.LittleEndian.AppendUint32(want32, uint32(bf16(f))<<16)
		}
		for typ, want := range map[device.Type][]byte{device.BF16: want16, device.FP32: want32} {
			x.part.Name, x.part.Type = "x", typ
			got, err := tensors.Read(x.part)
			if err = errors.Join(tensors.Check(x.part), err); err != nil || string(got) != string(want) {
				t.Errorf("%+v: %v %v, want %v", x.part, got, err, want)
			}
		}
	}
	scalars := []int{1}
	if got, err := tensors.Read(safetensors.Part{Name: "y", Shape: scalars, Count: 1, Type: device.FP32}); err != nil ||
		len(got) != 4 {
		t.Errorf("%v, %v", got, err)
	}
	for _, x := range []struct {
		part safetensors.Part
		want string
	}{
		{safetensors.Part{Name: "w", Shape: shape, Type: device.BF16}, "tensor w: it is not in the checkpoint"},
		{safetensors.Part{Name: "x", Shape: scalars, Type: device.BF16}, "its shape is [3 2], and [1] is wanted"},
		{safetensors.Part{Name: "x", Shape: shape}, "its type is BF16, and no type is wanted (BF16, F16 and F32 are"},
		{safetensors.Part{Name: "n", Shape: scalars, Type: device.BF16}, "its type is I16, and bf16 is wanted"},
		{safetensors.Part{Name: "y", Shape: scalars, Axis: 1, Type: device.FP32}, "of axis 1 are no part of [1]"},
		{safetensors.Part{Name: "x", Shape: shape, From: -1, Type: device.BF16}, "0 from -1 on of axis 0 are no part"},
	} {
		if _, err := tensors.Read(x.part); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v, want %q", x.part, err, x.want)
		}
	}
	if err := os.Remove(filepath.Join(dir, "2.safetensors")); err != nil {
		t.Fatal(err)
	}
	if _, err := tensors.Read(safetensors.Part{Name: "y", Shape: scalars, Type: device.FP32}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Error(err)
	}
}
