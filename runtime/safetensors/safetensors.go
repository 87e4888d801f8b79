// Package safetensors reads parts of the tensors of a checkpoint, for ranks of which each has a part.
package safetensors

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"ovgen/runtime/device"
)

// Tensors are the tensors of a checkpoint in the safetensors format, by name: of model.safetensors, or of the files
// that model.safetensors.index.json names.
type Tensors map[string]Tensor

// Tensor is where a tensor lies.
type Tensor struct {
	Type  string   `json:"dtype"`
	Shape []int    `json:"shape"`
	Range [2]int64 `json:"data_offsets"` // behind the header
	path  string
	start int64 // in the file
}

// sizes of elements in bytes, by the format's names.
var sizes = map[string]float64{"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "U16": 2, "I16": 2, "F16": 2,
	"BF16": 2, "U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8}

// names of the types that Read makes.
var names = map[device.Type]string{device.BF16: "BF16", device.FP16: "F16", device.FP32: "F32"}

// Open reads the headers of the checkpoint in a folder.
func Open(dir string) (Tensors, error) {
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
	t := Tensors{}
	for _, name := range slices.Compact(slices.Sorted(maps.Values(index.Files))) {
		path := filepath.Join(dir, filepath.Base(name))
		if err := t.add(path); err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	return t, nil
}

// mostHeader is the format's bound of a header in bytes.
const mostHeader = 100_000_000

// add reads a file's header: a length of 8 bytes, and JSON. The tensors fill the rest of the file.
func (t Tensors) add(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var n int64
	if err := binary.Read(f, binary.LittleEndian, &n); err != nil {
		return fmt.Errorf("the header's length: %w", err)
	}
	size, told, named := info.Size()-8-n, int64(0), Tensors{} // size: of all tensors
	if n < 0 || n > mostHeader || size < 0 {
		return fmt.Errorf("a header of %d bytes in a file of %d (it is truncated, or no safetensors file)", n,
			info.Size())
	}
	text, err := io.ReadAll(io.LimitReader(f, n))
	if err = cmp.Or(err, json.Unmarshal(text, &named)); err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	delete(named, "__metadata__")
	for name, s := range named {
		bytes := sizes[s.Type] // which does not overflow
		for _, x := range s.Shape {
			bytes *= float64(x)
		}
		switch {
		case sizes[s.Type] == 0:
			return fmt.Errorf("tensor %s: type %q is none of the format", name, s.Type)
		case s.Range[0] < 0 || s.Range[1] > size || float64(s.Range[1]-s.Range[0]) != bytes:
			return fmt.Errorf("tensor %s: %v of %d bytes is no place for shape %v (the file may be truncated)", name,
				s.Range, size, s.Shape)
		}
		told += s.Range[1] - s.Range[0]
		s.path, s.start = path, 8+n+s.Range[0]
		t[name] = s
	}
	if told != size {
		return fmt.Errorf("%d bytes of tensors, and the header tells of %d (the file is truncated, or has a tail)",
			size, told)
	}
	return nil
}

// Part is so many rows, from one on, of a tensor of one axis or two; of Axis 1, columns.
type Part struct {
	Name              string
	Shape             []int
	Axis, From, Count int
	Type              device.Type // that the elements are to have: the tensor's, or FP32 where that is BF16
}

// Transposed is the part of a tensor of transposed shape that has its columns where p has its rows: of the second
// product's weight, where p is of the first one's.
func (p Part) Transposed() Part {
	p.Shape, p.Axis = []int{p.Shape[1], p.Shape[0]}, 1
	return p
}

// runs are the runs of elements that lie side by side in the tensor: how many, and how many a row of the axis has.
func (p Part) runs() (n, each int) {
	if p.Axis == 1 {
		return p.Shape[0], 1
	}
	return 1, append(slices.Clone(p.Shape), 1)[1]
}

// Bytes is the size of the part.
func (p Part) Bytes() int64 {
	n, each := p.runs()
	return p.Type.Bytes(n * p.Count * each)
}

// Check reports that the tensor is missing, or has another shape or type.
func (t Tensors) Check(p Part) error {
	s, ok := t[p.Name]
	switch {
	case !ok:
		return fmt.Errorf("tensor %s: it is not in the checkpoint", p.Name)
	case !slices.Equal(s.Shape, p.Shape):
		return fmt.Errorf("tensor %s: its shape is %v, and %v is wanted", p.Name, s.Shape, p.Shape)
	case p.From < 0 || p.Count < 0 || len(p.Shape) > 2 || p.Axis < 0 || p.Axis >= len(p.Shape):
		return fmt.Errorf("tensor %s: %d from %d on of axis %d are no part of %v", p.Name, p.Count, p.From, p.Axis,
			p.Shape)
	case s.Type != names[p.Type] && !(s.Type == "BF16" && p.Type == device.FP32):
		return fmt.Errorf("tensor %s: its type is %s, and %v is wanted (only BF16 is converted, to FP32)", p.Name,
			s.Type, p.Type)
	}
	return nil
}

// Read reads a part of a tensor. Rows behind the tensor's last are zeros.
func (t Tensors) Read(p Part) ([]byte, error) {
	if err := t.Check(p); err != nil {
		return nil, err
	}
	s := t[p.Name]
	f, err := os.Open(s.path)
	if err != nil {
		return nil, fmt.Errorf("read tensor %s: %w", p.Name, err)
	}
	defer f.Close()
	n, each := p.runs()
	each *= int(sizes[s.Type])
	run, real := p.Count*each, max(0, min(p.Count, p.Shape[p.Axis]-p.From))*each
	raw := make([]byte, n*run)
	for i := range n {
		at := s.start + int64(i*p.Shape[p.Axis]+p.From)*int64(each)
		if _, err := f.ReadAt(raw[i*run:i*run+real], at); err != nil {
			return nil, fmt.Errorf("read tensor %s of %s: %w", p.Name, s.path, err)
		}
	}
	if s.Type == names[p.Type] {
		return raw, nil
	}
	wide := make([]byte, 0, 2*len(raw))
	for ; len(raw) > 0; raw = raw[2:] {
		wide = append(wide, 0, 0, raw[0], raw[1])
	}
	return wide, nil
}
