package emit

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"ovgen/runtime/driver"
)

// PTX compiles a .cu of the user for GPUs of a compute capability from its number on: 80 for 8.0, 89 or 90. It returns
// how the name of the PTX ends, as in NAME_sm80.ptx, and the bytes, with a head as in generated PTX. Its source is the
// .cu, and the headers that it includes in the order of their names. An error in the source is a *nvrtc.SourceError.
func PTX(c Compiler, name string, from int, source []byte, headers map[string][]byte) (string, []byte, error) {
	arch, known := map[int]arch{80: sm80, 89: sm89, 90: sm90}[from]
	if !known {
		return "", nil, fmt.Errorf("compile %s.cu for compute capability %d (80, 89 or 90)", name, from)
	}
	texts := [][]byte{source}
	for _, h := range slices.Sorted(maps.Keys(headers)) {
		texts = append(texts, headers[h])
	}
	ptx, err := c.Compile(name+".cu", source, headers, arch.options())
	if err != nil {
		return "", nil, err
	}
	return arch.suffix, stamp{name: name, source: driver.Digest(texts...), arch: arch}.file(c.Version(), ptx), nil
}

var include = regexp.MustCompile(`(?m)^\s*#\s*include\s+"([^"]+)"`)

// Includes are the headers that a text includes in quotes, in order.
func Includes(source []byte) (names []string) {
	for _, m := range include.FindAllSubmatch(source, -1) {
		names = append(names, string(m[1]))
	}
	return names
}
