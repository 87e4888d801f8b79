package nvrtc

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/templates"
)

// TestTiles compiles tiles as packages have them: none spills.
func TestTiles(t *testing.T) {
	c := pinned(t)
	a := pinnedAssembler(t)
	for _, tile := range []kernels.Tile{
		{Columns: 112, Cluster: 2},
		{Columns: 224, Cluster: 1, Together: true},
	} {
		t.Run(fmt.Sprintf("%dx%d", tile.Columns, tile.Cluster), func(t *testing.T) {
			if err := tile.Check(); err != nil {
				t.Fatal(err)
			}
			ptx := compileTiles(t, c, tile)
			lines, err := a.Usage(ptx)
			if err != nil || len(lines) != 2 {
				t.Errorf("got %q, %v, want the registers of two kernels", lines, err)
			}
			if !strings.Contains(string(ptx), ".target sm_90a") {
				t.Error("the PTX is not for compute capability 9.0a")
			}
		})
	}
}

func compileTiles(t *testing.T, c *Compiler, tile kernels.Tile) []byte {
	t.Helper()
	table := kernels.Table{Peers: 7, Types: []driver.Type{driver.BF16, driver.FP16, driver.FP32},
		Kernels: []kernels.Kernel{{Kind: kernels.Tiles, Tile: tile, Rows: 1, Terms: 7, PrePost: kernels.EachPeer,
			PreWait: kernels.EachPeer, PostPost: kernels.EachPeer, PostWait: kernels.EachPeer}}}
	source, err := templates.Render(templates.Device{From: "a test", About: []string{"Kernels."}, Table: table}.Source()...)
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
	if d := os.Getenv("DUMP"); d != "" {
		os.WriteFile(d, source.Bytes, 0o644)
	}
	ptx, err := c.Compile("tiles.cu", source.Bytes, headers, []string{"--gpu-architecture=compute_90a", "--std=c++17"})
	if err != nil {
		t.Fatal(err)
	}
	return ptx
}
