package nvrtc

import (
	"fmt"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	s "ovgen/schedule"
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
			const each = kernels.EachPeer
			k := kernels.Kernel{Kind: kernels.Tiles, Tile: tile, Bias: true, Terms: 1, PrePost: each, PreWait: each,
				PostPost: each, PostWait: each}
			if err := k.CheckTile(); err != nil {
				t.Fatal(err)
			}
			ptx := compileTiles(t, c, templates.Device{Table: kernels.Table{Peers: 1,
				Types: []driver.Type{driver.BF16, driver.FP32}, Kernels: []kernels.Kernel{k}}})
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

// TestScatter compiles sums by tiles, as wide as sums get them, with functions of one operand to eight behind: none
// spills. Where OVGEN_SOAK is not set, they are those of a transformer's layer.
func TestScatter(t *testing.T) {
	sampling.Test(t, 1, 2)
	c, a := pinned(t), pinnedAssembler(t)
	lists := [][]s.Func{{s.Bias("Bias"), s.Add("R")}}
	types := []driver.Type{driver.BF16}
	if sampling.All() {
		types = append(types, driver.FP16)
		bias, sums := []s.Func{s.Bias("Bias"), s.SwiGLU("Gate"), s.Add("R"), s.Add("R2")}, []s.Func{}
		for i := range kernels.MostBeside {
			sums = append(sums, s.Add(fmt.Sprint("R", i)))
		}
		lists = append(lists, bias[:1], bias, sums[:1], sums[:4], sums[:5], sums)
	}
	for _, list := range lists {
		f := templates.Formula{}
		for _, of := range list {
			f.Trees = append(f.Trees, of.Tree())
		}
		t.Run(f.String(), func(t *testing.T) {
			finish, code, err := f.Finish()
			if err != nil {
				t.Fatal(err)
			}
			const each = kernels.EachPeer
			table := kernels.Table{Peers: 7, Types: types}
			for i, tile := range []kernels.Tile{{Columns: 128, Cluster: 1}, {Columns: 144, Cluster: 1},
				{Columns: 256, Cluster: 1, Together: true}} {
				table.Kernels = append(table.Kernels, kernels.Kernel{Kind: kernels.Scatter, Number: i + 1, Tile: tile,
					Finish: &finish, Terms: 7, PrePost: each, PreWait: each, PostPost: each, PostWait: each,
					ByBlocks: true})
			}
			lines, err := a.Usage(compileTiles(t, c, templates.Device{Table: table,
				Formulas: map[string]*templates.Code{finish.Word: code}}))
			if err != nil || len(lines) != 3*len(types) {
				t.Errorf("got %q, %v, want the registers of %d kernels", lines, err, 3*len(types))
			}
		})
	}
}

// compileTiles compiles kernels for compute capability 9.0a.
func compileTiles(t *testing.T, c *Compiler, d templates.Device) []byte {
	t.Helper()
	d.From, d.About = "a test", []string{"Kernels."}
	source, err := templates.Render(d.Source()...)
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
