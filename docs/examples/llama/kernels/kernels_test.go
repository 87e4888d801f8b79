package kernels_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"ovgen/runtime/driver"
)

// TestPTX holds the PTX against its head and the source that lies here.
func TestPTX(t *testing.T) {
	text, err := os.ReadFile("llama.cu")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^#include "(.*)"$`).FindAllSubmatch(text, -1) {
		names = append(names, string(m[1]))
	}
	slices.Sort(names)
	texts := [][]byte{text}
	for _, name := range names {
		header, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, header)
	}
	ptx, err := os.ReadFile("llama_sm90.ptx")
	if err != nil {
		t.Fatal(err)
	}
	c := driver.Code{Name: "llama", Source: driver.Digest(texts...), PTX: ptx}
	if err := c.Check(); err != nil {
		t.Errorf("%v: go generate .", err)
	}
}
