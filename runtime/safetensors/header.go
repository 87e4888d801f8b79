package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// mostHeader is the format's bound of a header in bytes. mostTensors bounds the tensors of a file; the format does not.
const (
	mostHeader  = 100_000_000
	mostTensors = 1 << 17
)

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
	size := info.Size() - 8 - n // of all tensors
	if n < 0 || n > mostHeader || size < 0 {
		return fmt.Errorf("a header of %d bytes in a file of %d (it is truncated, or no safetensors file)", n,
			info.Size())
	}
	text, err := io.ReadAll(io.LimitReader(f, n))
	if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	list, err := parse(text)
	if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	if err := fill(list, size); err != nil {
		return err
	}
	for _, x := range list {
		if other, ok := t[x.name]; ok {
			return fmt.Errorf("tensor %s: %s has it too", x.name, other.path)
		}
		x.path, x.start = path, 8+n+x.Range[0]
		t[x.name] = x.Tensor
	}
	return nil
}

// entry is a tensor of a header.
type entry struct {
	name string
	Tensor
}

// parse reads the JSON of a header: an object with tensors by name, and with metadata, which parse skips. No name may
// appear twice.
func parse(text []byte) ([]entry, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, cmp.Or(err, errors.New("it is no JSON object"))
	}
	var list []entry
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		x := entry{name: token.(string)} // a key: the decoder has checked it
		switch {
		case seen[x.name]:
			return nil, fmt.Errorf("tensor %s stands there twice", x.name)
		case len(list) == mostTensors:
			return nil, fmt.Errorf("more than %d tensors", mostTensors)
		}
		seen[x.name] = true
		if x.name == "__metadata__" {
			var skipped json.RawMessage
			if err := d.Decode(&skipped); err != nil {
				return nil, err
			}
			continue
		}
		if err := d.Decode(&x.Tensor); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", x.name, err)
		}
		list = append(list, x)
	}
	if _, err := d.Token(); err != nil { // the object's end
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, cmp.Or(err, errors.New("there is more behind the JSON object"))
	}
	return list, nil
}

// fill sorts tensors by their places and checks that they fill size bytes without holes or overlap, and that each has
// the bytes of its shape.
func fill(list []entry, size int64) error {
	slices.SortFunc(list, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.Range[0], b.Range[0]), cmp.Compare(a.Range[1], b.Range[1]))
	})
	end := int64(0)
	for _, x := range list {
		bytes := sizes[x.Type] // a float64, which does not overflow
		for _, n := range x.Shape {
			bytes *= float64(n)
		}
		switch from, to := x.Range[0], x.Range[1]; {
		case sizes[x.Type] == 0:
			return fmt.Errorf("tensor %s: type %q is none of the format", x.name, x.Type)
		case slices.ContainsFunc(x.Shape, func(n int) bool { return n < 0 }):
			return fmt.Errorf("tensor %s: shape %v", x.name, x.Shape)
		case from < 0 || to > size || float64(to-from) != bytes:
			return fmt.Errorf("tensor %s: %v of %d bytes is no place for shape %v (the file may be truncated)", x.name,
				x.Range, size, x.Shape)
		case from != end:
			return fmt.Errorf("tensor %s: it begins at %d, and the one before it ends at %d", x.name, from, end)
		}
		end = x.Range[1]
	}
	if end != size {
		return fmt.Errorf("%d bytes of tensors, and the header tells of %d (the file is truncated, or has a tail)",
			size, end)
	}
	return nil
}
