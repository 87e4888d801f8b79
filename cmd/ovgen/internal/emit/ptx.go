package emit

import (
	"maps"
	"regexp"
	"slices"

	"ovgen/runtime/driver"
)

// PTX compiles a .cu of the user to the bytes of NAME_sm80.ptx, with a head as in generated PTX. Its source is the .cu,
// and the headers that it includes in the order of their names. An error in the source is a *nvrtc.SourceError.
func PTX(c Compiler, name string, source []byte, headers map[string][]byte) ([]byte, error) {
	texts := [][]byte{source}
	for _, h := range slices.Sorted(maps.Keys(headers)) {
		texts = append(texts, headers[h])
	}
	ptx, err := c.Compile(name+".cu", source, headers, sm80.options())
	if err != nil {
		return nil, err
	}
	return stamp{name: name, source: driver.Digest(texts...), arch: sm80}.file(c.Version(), ptx), nil
}

var include = regexp.MustCompile(`(?m)^\s*#\s*include\s+"([^"]+)"`)

// Includes are the headers that a text includes in quotes, in order.
func Includes(source []byte) (names []string) {
	for _, m := range include.FindAllSubmatch(source, -1) {
		names = append(names, string(m[1]))
	}
	return names
}
