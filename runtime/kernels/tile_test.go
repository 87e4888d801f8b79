package kernels

import (
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/group"
	"ovgen/runtime/plan"
)

func TestTileCheck(t *testing.T) {
	for _, c := range []struct {
		kind                  Kind
		tile                  Tile
		stages, boxes, shared int
		want                  string // part of the error
	}{
		{Tiles, Tile{Columns: 112, Cluster: 2}, 7, 1, 231536, ""},
		{Tiles, Tile{Columns: 128, Cluster: 1}, 6, 2, 229472, ""},
		{Tiles, Tile{Columns: 224, Cluster: 1, Together: true}, 4, 2, 213056, ""},
		{Tiles, Tile{Columns: 256, Cluster: 2, Together: true}, 4, 2, 229440, ""},
		{Tiles, Tile{Columns: 120, Cluster: 1}, 0, 0, 0, "a multiple of 16"},
		{Tiles, Tile{Columns: 48, Cluster: 1}, 0, 0, 0, "from 64 to 256"},
		{Tiles, Tile{Columns: 272, Cluster: 1, Together: true}, 0, 0, 0, "from 64 to 256"},
		{Tiles, Tile{Columns: 208, Cluster: 1}, 0, 0, 0, "registers"},
		{Tiles, Tile{Columns: 128}, 0, 0, 0, "clusters of 0"},
		{Scatter, Tile{Columns: 144, Cluster: 1}, 6, 1, 225376, ""},
		{Scatter, Tile{Columns: 128, Cluster: 2}, 0, 0, 0, "wait for all blocks"},
		{Scatter, Tile{Columns: 120, Cluster: 1}, 0, 0, 0, "a multiple of 16"},
		{Tiles, Tile{Columns: 128, Cluster: 4}, 0, 0, 0, "clusters of 4"},
	} {
		err := Kernel{Kind: c.kind, Tile: c.tile}.CheckTile()
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: got %v, want %q", c.tile, err, c.want)
			}
			continue
		}
		if got := [3]int{c.tile.Stages(), c.tile.Boxes(), c.tile.Shared()}; err != nil ||
			got != [3]int{c.stages, c.boxes, c.shared} || got[2] > mostShared {
			t.Errorf("%+v: %v, %v, want %d stages, %d boxes, %d bytes", c.tile, err, got, c.stages, c.boxes, c.shared)
		}
	}
}

// TestTileBlocks: whole clusters, as many as there are tiles or as pulling takes, and no more than multiprocessors.
func TestTileBlocks(t *testing.T) {
	for _, c := range []struct{ cluster, ranks, m, k, n, want int }{
		{1, 1, 128, 64, 112, 1},
		{2, 1, 128, 64, 112, 2},
		{2, 1, 256, 64, 113, 4},
		{1, 3, 1, 64, 1, 3},
		{2, 2, 1, 64, 1, 4},
		{2, 2, 128, 4096, 1, 132}, // a shard of a megabyte
		{2, 2, 4096, 4096, 4096, 132},
	} {
		k := &kernel{Layout: Layout{Kernel: Kernel{Kind: Tiles, Tile: Tile{Columns: 112, Cluster: c.cluster}}}}
		p := Product{MatmulDesc: driver.MatmulDesc{M: c.m, K: c.k, N: c.n}, Ranks: c.ranks}
		if got := k.Grid(133, &p); got != c.want {
			t.Errorf("%+v: got %d blocks", c, got)
		}
	}
}

// TestLeast: a launch takes the tile that leaves the fewest multiprocessors idle at its shape.
func TestLeast(t *testing.T) {
	s := &Set{}
	wide := Tile{Columns: 224, Cluster: 2, Together: true}
	for _, tile := range []Tile{{Columns: 112, Cluster: 2}, {Columns: 128, Cluster: 1}, {Columns: 176, Cluster: 2},
		{Columns: 176, Cluster: 1}, wide} {
		s.kernels = append(s.kernels, &kernel{Layout: Layout{Kernel: Kernel{Kind: Tiles, Tile: tile}}})
	}
	for _, c := range []struct {
		ranks, m, n int
		want        Tile
	}{
		{2, 256, 7168, Tile{Columns: 112, Cluster: 2}},  // 2 waves of 112, or 1 of 224 in which half would wait
		{2, 512, 7168, wide},                            // 4 waves of 112, or 2 of 224
		{1, 512, 7168, wide},                            // 2 waves of 112, or 1 of 224
		{1, 512, 4096, Tile{Columns: 128, Cluster: 1}},  // 1 wave of 128, or 2 of 112
		{2, 1024, 7168, Tile{Columns: 176, Cluster: 2}}, // 8 waves of 112, or 5 of 176
		{2, 64, 14336, Tile{Columns: 128, Cluster: 1}},  // half of each cluster of two would be idle
		{1, 128, 112, Tile{Columns: 112, Cluster: 2}},
	} {
		for first := range s.kernels {
			got := s.least(s.kernels[first], 132, c.ranks, driver.MatmulDesc{M: c.m, N: c.n})
			if got.Tile != c.want {
				t.Errorf("%d x %d rows, %d columns, from tile %d: got %v, want %v", c.ranks, c.m, c.n, first, got.Tile,
					c.want)
			}
		}
	}
	for i, k := range s.kernels {
		k.Number = i + 1
	}
	d := driver.MatmulDesc{M: 512, N: 7168}
	for name, want := range map[string]Tile{"tiles4": {Columns: 176, Cluster: 1}, "": wide, "scatter": wide} {
		if got := s.best(s.kernels[0], name, 132, 2, d); got.Tile != want {
			t.Errorf("told to take %q: got %v, want %v", name, got.Tile, want)
		}
	}
	if got := s.least(s.kernels[1], 0, 1, driver.MatmulDesc{M: 1, N: 1}); got == nil {
		t.Error("no tile for a device without multiprocessors")
	}
}

// TestGroups: a rank's rows are cut into as many groups of tiles as there are words for, at the ends of tiles where
// there are such that divide the columns.
func TestGroups(t *testing.T) {
	s := &Set{}
	for _, columns := range []int{128, 144} {
		s.kernels = append(s.kernels, &kernel{Layout: Layout{Kernel: Kernel{Kind: Scatter,
			Tile: Tile{Columns: columns, Cluster: 1}}}})
	}
	for _, c := range []struct{ ranks, m, n, rows, columns, count int }{
		{1, 256, 4096, 128, 128, 64},
		{2, 256, 4096, 128, 128, 64},
		{2, 256, 4608, 128, 256, 36}, // 128 and 144 divide it
		{2, 256, 2160, 128, 144, 30},
		{2, 1, 1, 128, 128, 1},
		{2, 1024, 4096, 128, 512, 64},
		{2, 65 * 128, 4096, 256, 4096, 33},
		{8, 512, 4096, 128, 2048, 8},
		{8, 1536, 4096, 256, 4096, 6},
	} {
		d := driver.MatmulDesc{M: c.m, N: c.n}
		g := s.groups(s.kernels[1], c.ranks, d)
		if g != (TileGroups{c.rows, c.columns}) || g.count(d) != c.count || c.count > MostGroups(c.ranks) {
			t.Errorf("%+v: got %+v, %d of at most %d", c, g, g.count(d), MostGroups(c.ranks))
		}
	}
}

// TestMostGroups: the ranks that a kernel of tiles may be emitted for have a group each at least.
func TestMostGroups(t *testing.T) {
	for ranks := 1; ranks <= MostShards+1; ranks++ {
		if n := MostGroups(ranks); n < 1 || n > plan.MostBlocks || n*(ranks-1) > group.CountWords-1 {
			t.Errorf("%d ranks have %d groups", ranks, n)
		}
	}
}
