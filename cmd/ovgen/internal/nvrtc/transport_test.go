package nvrtc

import (
	"strings"
	"testing"

	"ovgen/templates"
)

// TestTransport compiles every kernel of the transports as a package's are.
func TestTransport(t *testing.T) {
	c := pinned(t)
	a, err := FindAssembler(".")
	if err != nil {
		t.Fatal(err)
	}
	if a == nil {
		t.Skip("no ptxas here: make toolchain fetches it")
	}
	headers := []string{"head.h.tmpl", "peers.h.tmpl", "fused.h.tmpl", "sum.h.tmpl"}
	sources := []string{"head.cu.tmpl", "words.cu.tmpl", "fused.cu.tmpl", "bytes.cu.tmpl", "sum.cu.tmpl"}
	kernels := []string{"wait", "post", "copy", "reduce", "get", "put", "shot"}
	for _, k := range kernels {
		headers, sources = append(headers, k+".h.tmpl"), append(sources, k+".cu.tmpl")
	}
	d := templates.Device{Package: "check", From: "a test", About: []string{"Kernels."}}
	header, err := templates.Render(d, append(headers, "foot.h.tmpl")...)
	if err != nil {
		t.Fatal(err)
	}
	source, err := templates.Render(d, sources...)
	if err != nil {
		t.Fatal(err)
	}
	ptx, err := c.Compile("check.cu", source.Bytes, map[string][]byte{"check.h": header.Bytes}, options)
	if err != nil {
		t.Fatal(err)
	}
	// A load past the cache's coherence would see what a peer wrote too late.
	if strings.Contains(string(ptx), ".nc.") {
		t.Error("a kernel reads memory that others write as if it were constant")
	}
	lines, err := a.Usage(ptx)
	if err != nil || len(lines) != len(kernels) {
		t.Errorf("got %q, %v, want the registers of %v", lines, err, kernels)
	}
	t.Log(lines)
}
