package main

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"ovgen/runtime/driver"
)

// Tensors are the tensors of a checkpoint in the safetensors format: of model.safetensors, or of the files that
// model.safetensors.index.json names.
type Tensors struct {
	files []*os.File
	named map[string]stored
}

// stored is where a tensor lies.
type stored struct {
	Type  string   `json:"dtype"`
	Shape []int    `json:"shape"`
	Range [2]int64 `json:"data_offsets"` // behind the header
	data  io.ReaderAt
}

// elementBytes are the types that a weight may have.
var elementBytes = map[string]int{"BF16": 2, "F32": 4}

// OpenTensors opens the checkpoint in a folder and reads the files' headers.
func OpenTensors(dir string) (*Tensors, error) {
	t := &Tensors{named: map[string]stored{}}
	var index struct {
		Files map[string]string `json:"weight_map"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "model.safetensors.index.json"))
	if errors.Is(err, fs.ErrNotExist) {
		index.Files, err = map[string]string{"": "model.safetensors"}, nil
	} else if err == nil {
		err = json.Unmarshal(text, &index)
	}
	if err != nil {
		return nil, fmt.Errorf("read model.safetensors.index.json: %w", err)
	}
	for _, name := range slices.Compact(slices.Sorted(maps.Values(index.Files))) {
		path := filepath.Join(dir, filepath.Base(name))
		if err := t.open(path); err != nil {
			return nil, errors.Join(fmt.Errorf("read %s: %w", path, err), t.Close())
		}
	}
	return t, nil
}

// mostHeader is the format's bound of a header in bytes.
const mostHeader = 100_000_000

// open reads a file's header: a length of 8 bytes, and JSON. The tensors fill the rest of the file.
func (t *Tensors) open(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	t.files = append(t.files, f)
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var n uint64
	if err := binary.Read(f, binary.LittleEndian, &n); err != nil {
		return fmt.Errorf("the header's length: %w", err)
	}
	if n > mostHeader || int64(n) > info.Size()-8 {
		return fmt.Errorf("a header of %d bytes in a file of %d (it is truncated, or no safetensors file)", n,
			info.Size())
	}
	named, size := map[string]stored{}, info.Size()-8-int64(n)
	text, err := io.ReadAll(io.LimitReader(f, int64(n)))
	if err = cmp.Or(err, json.Unmarshal(text, &named)); err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	delete(named, "__metadata__")
	told := int64(0)
	for name, s := range named {
		bytes, err := s.bytes(size)
		if err != nil {
			return fmt.Errorf("tensor %s: %w", name, err)
		}
		s.data = io.NewSectionReader(f, 8+int64(n)+s.Range[0], bytes)
		t.named[name] = s
		told += bytes
	}
	if told != size {
		return fmt.Errorf("%d bytes of tensors, and the header tells of %d (the file is truncated, or has a tail)",
			size, told)
	}
	return nil
}

// bytes is the size of a tensor, which must lie within so many bytes.
func (s stored) bytes(size int64) (int64, error) {
	bytes := int64(elementBytes[s.Type])
	if bytes == 0 {
		return 0, fmt.Errorf("type %q is not served (BF16 and F32 are)", s.Type)
	}
	for _, x := range s.Shape {
		if x < 0 || x > 0 && bytes > size/int64(x) {
			return 0, fmt.Errorf("shape %v is larger than the file, which may be truncated", s.Shape)
		}
		bytes *= int64(x)
	}
	if s.Range[0] < 0 || s.Range[0] > size-bytes || s.Range[1] != s.Range[0]+bytes {
		return 0, fmt.Errorf("%v of %d bytes is no place for its %d (the file may be truncated)", s.Range, size, bytes)
	}
	return bytes, nil
}

// Part is so many rows of a tensor of a shape from one on; of Axis 1, columns.
type Part struct {
	Shape             []int
	Axis, From, Count int
}

// transposed is the part of the second product's weight that belongs to a part of the first one's.
func (p Part) transposed() Part { return Part{[]int{p.Shape[1], p.Shape[0]}, 1, p.From, p.Count} }

// runs are the runs of elements that lie side by side in the tensor: how many, and how many a row of the axis has.
func (p Part) runs() (n, each int) {
	shape := append(slices.Clone(p.Shape), 1)
	if p.Axis == 1 {
		return shape[0], 1
	}
	return 1, shape[1]
}

// Elements counts those of the part.
func (p Part) Elements() int {
	n, each := p.runs()
	return n * p.Count * each
}

// Read reads a part of a tensor as elements of a type. Rows behind the tensor's last are zeros.
func (t *Tensors) Read(name string, p Part, typ driver.Type) ([]byte, error) {
	s, ok := t.named[name]
	if !ok {
		return nil, fmt.Errorf("tensor %s: it is not in the checkpoint", name)
	}
	if !slices.Equal(s.Shape, p.Shape) {
		return nil, fmt.Errorf("tensor %s: its shape is %v, and the config makes it %v", name, s.Shape, p.Shape)
	}
	n, each := p.runs()
	each *= elementBytes[s.Type]
	raw, run, real := make([]byte, n*p.Count*each), p.Count*each, max(0, min(p.Count, p.Shape[p.Axis]-p.From))*each
	for i := 0; i < n && real > 0; i++ {
		at := int64(i*p.Shape[p.Axis]+p.From) * int64(each)
		if _, err := s.data.ReadAt(raw[i*run:i*run+real], at); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", name, err)
		}
	}
	return convert(raw, s.Type, typ), nil
}

// convert makes elements of one type those of another.
func convert(raw []byte, from string, to driver.Type) (out []byte) {
	switch {
	case from == "BF16" && to == driver.FP32:
		out = slices.Grow(out, 2*len(raw))
		for ; len(raw) > 0; raw = raw[2:] {
			out = append(out, 0, 0, raw[0], raw[1])
		}
	case from == "F32" && to == driver.BF16:
		out = slices.Grow(out, len(raw)/2)
		for ; len(raw) > 0; raw = raw[4:] {
			x := math.Float32frombits(binary.LittleEndian.Uint32(raw))
			out = binary.LittleEndian.AppendUint16(out, rounded(x))
		}
	default:
		out = raw
	}
	return out
}

// rounded is the nearest bf16, the even one of two.
func rounded(x float32) uint16 {
	b := math.Float32bits(x)
	if x != x {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// Close closes the files.
func (t *Tensors) Close() (err error) {
	for _, f := range t.files {
		err = errors.Join(err, f.Close())
	}
	return err
}
