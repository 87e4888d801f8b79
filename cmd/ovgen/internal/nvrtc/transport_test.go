package nvrtc

import (
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/templates"
)

// TestTransport compiles every kernel of the transports as a package's are.
func TestTransport(t *testing.T) {
	c := pinned(t)
	a := pinnedAssembler(t)
	const each = kernels.EachPeer
	table := kernels.Table{Peers: 7, Types: []driver.Type{driver.BF16, driver.FP16, driver.FP32},
		Kernels: []kernels.Kernel{
			{Kind: kernels.Wait, PreWait: each},
			{Kind: kernels.Post, PostPost: each},
			{Kind: kernels.Copy},
			{Kind: kernels.Reduce, Terms: 8, Varies: true},
			{Kind: kernels.Get, PreWait: kernels.One, PostPost: kernels.One},
			{Kind: kernels.Put, PreWait: kernels.One, PostPost: kernels.One},
			{Kind: kernels.Shot, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 8, Varies: true},
		}}
	source, err := templates.Render(templates.Device{From: "a test", About: []string{"Kernels."},
		Table: table}.Source()...)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := templates.Headers()
	if err != nil {
		t.Fatal(err)
	}
	headers := map[string][]byte{}
	for name, text := range texts {
		headers["../device/"+name] = text
	}
	ptx, err := c.Compile("check.cu", source.Bytes, headers, options)
	if err != nil {
		t.Fatal(err)
	}
	// A load past the cache's coherence would see what a peer wrote too late.
	if strings.Contains(string(ptx), ".nc.") {
		t.Error("a kernel reads memory that others write as if it were constant")
	}
	lines, err := a.Usage(ptx)
	if err != nil || len(lines) != len(table.Code()) {
		t.Errorf("got %q, %v, want the registers of %v", lines, err, table.Code())
	}
	t.Log(lines)
}
