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
	Range [2]int64 `json:"data_offsets"` // in the file's data
	file  *os.File
	at    int64 // in the file
}

// elementBytes are the types that a weight may have.
var elementBytes = map[string]int64{"BF16": 2, "F32": 4}

// mostHeader is the format's bound of a header in bytes.
const mostHeader = 100_000_000

// OpenTensors opens the checkpoint in a folder and reads the files' headers.
func OpenTensors(dir string) (*Tensors, error) {
	t := &Tensors{named: map[string]stored{}}
	list := struct {
		Files map[string]string `json:"weight_map"`
	}{map[string]string{"": "model.safetensors"}}
	index, err := os.ReadFile(filepath.Join(dir, "model.safetensors.index.json"))
	if err == nil {
		list.Files = nil
		err = json.Unmarshal(index, &list)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read model.safetensors.index.json: %w", err)
	}
	for _, name := range slices.Compact(slices.Sorted(maps.Values(list.Files))) {
		path := filepath.Join(dir, filepath.Base(name))
		if err := t.open(path); err != nil {
			return nil, errors.Join(fmt.Errorf("read %s: %w", path, err), t.Close())
		}
	}
	return t, nil
}

// open reads a file's header: a length of 8 bytes, and JSON.
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
	if err := binary.Read(io.NewSectionReader(f, 0, 8), binary.LittleEndian, &n); err != nil {
		return fmt.Errorf("the header's length: %w", err)
	}
	size := info.Size() - 8
	if n > mostHeader || int64(n) > size {
		return fmt.Errorf("a header of %d bytes in a file of %d (it is truncated, or no safetensors file)", n, size+8)
	}
	size -= int64(n)
	list, err := entries(io.NewSectionReader(f, 8, int64(n)))
	if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	end := int64(0)
	for _, e := range list {
		if _, twice := t.named[e.name]; twice {
			return fmt.Errorf("tensor %s: it is there twice", e.name)
		}
		bytes, err := e.bytes(info.Size())
		if err != nil {
			return fmt.Errorf("tensor %s: %w", e.name, err)
		}
		if e.Range != [2]int64{end, end + bytes} {
			return fmt.Errorf("tensor %s: it lies at %v, and its place is %d bytes from %d on", e.name, e.Range,
				bytes, end)
		}
		e.file, e.at, end = f, 8+int64(n)+end, end+bytes
		t.named[e.name] = e.stored
	}
	if size != end {
		return fmt.Errorf("%d bytes of tensors, and the header tells of %d (it is truncated, or has a tail)", size, end)
	}
	return nil
}

// bytes is the size of a tensor in a file of at most so many.
func (s stored) bytes(most int64) (int64, error) {
	bytes := elementBytes[s.Type]
	if bytes == 0 {
		return 0, fmt.Errorf("type %q is not served (BF16 and F32 are)", s.Type)
	}
	for _, x := range s.Shape {
		if x < 0 || x > 0 && bytes > most/int64(x) {
			return 0, fmt.Errorf("shape %v is larger than the file", s.Shape)
		}
		bytes *= int64(x)
	}
	return bytes, nil
}

type entry struct {
	name string
	stored
}

// entries reads the header token by token, so that a name that is there twice is not lost, and sorts it by place.
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
		e := entry{name: name.(string)}
		if e.name == "__metadata__" {
			err = d.Decode(&map[string]string{})
		} else {
			err = d.Decode(&e.stored)
			list = append(list, e)
		}
		if err != nil {
			return nil, fmt.Errorf("%v: %w", name, err)
		}
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.Range[0], b.Range[0]) })
	_, err = d.Token()
	return list, err
}

// Part is a part of a tensor: of so many rows and columns from one on. A vector has one row.
type Part struct{ Row, Rows, Column, Columns int }

// Read reads a part of a tensor of a shape as elements of a type. Rows behind the tensor's last are zeros.
func (t *Tensors) Read(name string, shape []int, p Part, typ driver.Type) ([]byte, error) {
	s, ok := t.named[name]
	if !ok {
		return nil, fmt.Errorf("tensor %s: it is not in the checkpoint", name)
	}
	if !slices.Equal(s.Shape, shape) {
		return nil, fmt.Errorf("tensor %s: its shape is %v, and the config makes it %v", name, s.Shape, shape)
	}
	rows, columns := 1, shape[len(shape)-1]
	if len(shape) == 2 {
		rows = shape[0]
	}
	size := int(elementBytes[s.Type])
	raw := make([]byte, p.Rows*p.Columns*size)
	for i := range max(0, min(p.Rows, rows-p.Row)) {
		at := s.at + int64(((p.Row+i)*columns+p.Column)*size)
		if _, err := s.file.ReadAt(raw[i*p.Columns*size:(i+1)*p.Columns*size], at); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", name, err)
		}
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
