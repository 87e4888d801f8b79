package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	file  *os.File
	Type  string   `json:"dtype"`
	Shape []int    `json:"shape"`
	Range [2]int64 `json:"data_offsets"` // in the file's data; from OpenTensors on, in the file
}

// elementBytes are the types that a weight may have.
var elementBytes = map[string]int64{"BF16": 2, "F32": 4}

// TensorError says what is wrong with a tensor.
type TensorError struct{ Name, Problem string }

// Error names the tensor.
func (e *TensorError) Error() string { return fmt.Sprintf("tensor %s: %s", e.Name, e.Problem) }

// mostHeader is the format's bound of a header in bytes.
const mostHeader = 100_000_000

// OpenTensors opens the checkpoint in a folder and reads the files' headers.
func OpenTensors(dir string) (*Tensors, error) {
	t := &Tensors{named: map[string]stored{}}
	names := []string{"model.safetensors"}
	index, err := os.ReadFile(filepath.Join(dir, "model.safetensors.index.json"))
	if err == nil {
		var list struct {
			Files map[string]string `json:"weight_map"`
		}
		if err := json.Unmarshal(index, &list); err != nil {
			return nil, fmt.Errorf("read model.safetensors.index.json: %w", err)
		}
		names = names[:0]
		for _, file := range list.Files {
			names = append(names, file)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the checkpoint: %w", err)
	}
	for _, name := range names {
		if err := t.open(filepath.Join(dir, filepath.Base(name))); err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	return t, nil
}

func (t *Tensors) open(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the checkpoint: %w", err)
	}
	t.files = append(t.files, f)
	info, err := f.Stat()
	if err == nil {
		err = t.header(f, info.Size())
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// header reads a file's header: a length of 8 bytes, and JSON.
func (t *Tensors) header(f *os.File, size int64) error {
	var n uint64
	if err := binary.Read(io.NewSectionReader(f, 0, 8), binary.LittleEndian, &n); err != nil {
		return fmt.Errorf("the header's length: %w", err)
	}
	if n > mostHeader || int64(n) > size-8 {
		return fmt.Errorf("a header of %d bytes in a file of %d (it is truncated, or no safetensors file)", n, size)
	}
	list, err := entries(io.NewSectionReader(f, 8, int64(n)))
	if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	slices.SortFunc(list, func(a, b entry) int { return int(min(max(a.Range[0]-b.Range[0], -1), 1)) })
	end := int64(0)
	for _, e := range list {
		bytes := elementBytes[e.Type]
		if bytes == 0 {
			return &TensorError{e.name, fmt.Sprintf("type %q is not served (BF16 and F32 are)", e.Type)}
		}
		for _, x := range e.Shape {
			if x < 0 || x > 0 && bytes > size/int64(x) {
				return &TensorError{e.name, fmt.Sprintf("shape %v is larger than the file", e.Shape)}
			}
			bytes *= int64(x)
		}
		if e.Range[0] != end || e.Range[1]-e.Range[0] != bytes {
			return &TensorError{e.name, fmt.Sprintf("it lies at %v, and its place is %d bytes from %d on", e.Range,
				bytes, end)}
		}
		if _, twice := t.named[e.name]; twice {
			return &TensorError{e.name, "it is there twice"}
		}
		end = e.Range[1]
		e.file, e.Range = f, [2]int64{8 + int64(n) + e.Range[0], 8 + int64(n) + e.Range[1]}
		t.named[e.name] = e.stored
	}
	if have := size - 8 - int64(n); have != end {
		return fmt.Errorf("%d bytes of tensors, and the header tells of %d (it is truncated, or has a tail)", have, end)
	}
	return nil
}

type entry struct {
	name string
	stored
}

// entries reads the header token by token, so that a name that is there twice is not lost.
func entries(r io.Reader) (list []entry, err error) {
	d := json.NewDecoder(r)
	if open, err := d.Token(); err != nil {
		return nil, err
	} else if open != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		if name == "__metadata__" {
			err = d.Decode(&map[string]string{})
		} else {
			e := entry{name: name.(string)}
			err = d.Decode(&e.stored)
			list = append(list, e)
		}
		if err != nil {
			return nil, fmt.Errorf("%v: %w", name, err)
		}
	}
	_, err = d.Token()
	return list, err
}

// Part is a part of a tensor: of so many rows and columns from one on. A vector has one row.
type Part struct{ Row, Rows, Column, Columns int }

// Read reads a part of a tensor of a shape as elements of a type. Rows behind the tensor's last are zeros.
func (t *Tensors) Read(name string, shape []int, p Part, typ driver.Type) ([]byte, error) {
	s, ok := t.named[name]
	if !ok {
		return nil, &TensorError{name, "it is not in the checkpoint"}
	}
	if !slices.Equal(s.Shape, shape) {
		return nil, &TensorError{name, fmt.Sprintf("its shape is %v, and the config makes it %v", s.Shape, shape)}
	}
	rows, columns := 1, shape[len(shape)-1]
	if len(shape) == 2 {
		rows = shape[0]
	}
	size := elementBytes[s.Type]
	raw := make([]byte, int64(p.Rows)*int64(p.Columns)*size)
	step := int64(p.Columns) * size
	read := func(i, n int64) error { // n rows from p.Row+i on
		at := s.Range[0] + ((int64(p.Row)+i)*int64(columns)+int64(p.Column))*size
		_, err := s.file.ReadAt(raw[i*step:(i+n)*step], at)
		return err
	}
	var err error
	if real := int64(max(0, min(p.Rows, rows-p.Row))); p.Columns == columns {
		err = read(0, real)
	} else {
		for i := int64(0); i < real && err == nil; i++ {
			err = read(i, 1)
		}
	}
	if err != nil {
		return nil, &TensorError{name, err.Error()}
	}
	return convert(raw, s.Type, typ), nil
}

// convert makes elements of one type those of another.
func convert(raw []byte, from string, to driver.Type) []byte {
	switch {
	case from == "BF16" && to == driver.FP32:
		out := make([]byte, 0, 2*len(raw))
		for i := 0; i < len(raw); i += 2 {
			out = append(out, 0, 0, raw[i], raw[i+1])
		}
		return out
	case from == "F32" && to == driver.BF16:
		out := make([]byte, 0, len(raw)/2)
		for ; len(raw) > 0; raw = raw[4:] {
			x := math.Float32frombits(binary.LittleEndian.Uint32(raw))
			out = binary.LittleEndian.AppendUint16(out, rounded(x))
		}
		return out
	}
	return raw
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
func (t *Tensors) Close() error {
	var errs []error
	for _, f := range t.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
