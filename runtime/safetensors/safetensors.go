// Package safetensors reads the tensors of a checkpoint: for a rank, the parts that it needs.
package safetensors

import (
	"encoding/json"
	"errors"
	"fmt"
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

// Tensor describes a tensor and its place in a file.
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

// Part is Count rows of a tensor of one axis or two, from row From on. With Axis 1 it is columns instead of rows.
type Part struct {
	Name              string
	Shape             []int
	Axis, From, Count int
	Type              device.Type // of the elements that Read makes: BF16, FP16, FP32, or E4M3 of two axes
	Quantise          bool        // a tensor of more bits may be read as E4M3
	Square            int         // side of a square with one scale, of Type E4M3; 0: each row has a scale
}

// Transposed returns p with rows and columns exchanged: a part of a tensor of transposed shape that has columns where p
// has rows. If p is a part of the weight of a first product, the result is the part of the second product's weight.
func (p Part) Transposed() Part {
	p.Shape, p.Axis = []int{p.Shape[1], p.Shape[0]}, 1
	return p
}

// runs counts the runs of adjacent elements of the part, and the elements of one row or column in each run.
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
	case p.Type == device.E4M3 && len(p.Shape) == 2:
		return t.checkEight(p, s)
	case s.Type != names[p.Type] && (forms[s.Type].size == 0 || names[p.Type] == ""):
		return fmt.Errorf("tensor %s: its type is %s, and %v is wanted (BF16, F16 and F32 are converted to each other)",
			p.Name, s.Type, p.Type)
	}
	return nil
}

// Read reads a part of a tensor, and converts it where the tensor has another type. Rows after the tensor's last row
// are zeros.
func (t Tensors) Read(p Part) ([]byte, error) {
	if err := t.Check(p); err != nil {
		return nil, err
	}
	s := t[p.Name]
	if p.Type == device.E4M3 && s.Type != "F8_E4M3" {
		return t.codes(p)
	}
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
	if s.Type == names[p.Type] || p.Type == device.E4M3 {
		return raw, nil
	}
	made, err := convert(raw, forms[s.Type], forms[names[p.Type]])
	if err != nil {
		return nil, fmt.Errorf("convert tensor %s from %s to %v: %w", p.Name, s.Type, p.Type, err)
	}
	return made, nil
}
