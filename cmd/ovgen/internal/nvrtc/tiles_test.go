package nvrtc

import (
	"fmt"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/templates"
	"ovgen/verify/sampling"
)

// TestTiles compiles kernels of tiles as packages have them: none spills, also not the one with most registers.
func TestTiles(t *testing.T) {
	c, a := pinned(t), pinnedAssembler(t)
	tiles := []kernels.Tile{{Columns: 160, Cluster: 2}}
	if sampling.All() {
		tiles = append(tiles, kernels.Tile{Columns: 112, Cluster: 1}, kernels.Tile{Columns: 128, Cluster: 2},
			kernels.Tile{Columns: 224, Cluster: 1, Together: true},
			kernels.Tile{Columns: 256, Cluster: 2, Together: true})
	} else {
		t.Log("of one tile: OVGEN_SOAK is not set")
	}
	for _, tile := range tiles {
		t.Run(fmt.Sprint(tile), func(t *testing.T) {
			if err := (kernels.Kernel{Kind: kernels.Tiles, Tile: tile}).CheckTile(); err != nil {
				t.Fatal(err)
			}
			ptx := compileTiles(t, c, tile)
			lines, err := a.Usage(ptx)
			if err != nil || len(lines) != 1 {
				t.Errorf("got %q, %v, want the registers of one kernel", lines, err)
			}
			if !strings.Contains(string(ptx), ".target sm_90a") {
				t.Error("the PTX is not for compute capability 9.0a")
			}
		})
	}
}

func compileTiles(t *testing.T, c *Compiler, tile kernels.Tile) []byte {
	t.Helper()
	const each = kernels.EachPeer
	table := kernels.Table{Peers: 1, Types: []driver.Type{driver.BF16, driver.FP32}, Kernels: []kernels.Kernel{{
		Kind: kernels.Tiles, Tile: tile, Bias: true, Terms: 1, PrePost: each, PreWait: each, PostPost: each,
		PostWait: each}}}
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
	ptx, err := c.Compile("tiles.cu", source.Bytes, headers, []string{"--gpu-architecture=compute_90a", "--std=c++17"})
	if err != nil {
		t.Fatal(err)
	}
	return ptx
}
