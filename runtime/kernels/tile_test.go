package kernels

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

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
		k := &kernel{layout: layout{Kernel: Kernel{Kind: Tiles, Tile: Tile{Columns: 112, Cluster: c.cluster}}}}
		if got := k.tiles(133, c.ranks, driver.MatmulDesc{M: c.m, K: c.k, N: c.n}); got != c.want {
			t.Errorf("%+v: got %d blocks", c, got)
		}
	}
}

// tileWords are the parameters of a launch on rank 1 of 3, with words at 100, 110 and so on.
func tileWords(table Table) ([]uint64, layout) {
	l := table.layout(table.Kernels[0])
	p := make([]uint64, l.size)
	for place, words := range [][]uint64{prePost: {100, 104}, preWait: {110, 114}, postPost: {120, 124},
		postWait: {130, 134}} {
		copy(p[l.lists[place].at:], words)
	}
	p[l.count], p[l.step], p[l.value], p[l.block] = 2, 200, 7, 208
	x := l.tiled
	p[x.ranks], p[x.rank], p[x.rows], p[x.k], p[x.n] = 3, 1, 4, 8, 2
	if l.Scatters() {
		p[l.away], p[x.high], p[x.broad] = 100, 3, 2 // two groups, of three rows and of one
	}
	return p, l
}

func tileWord(block int, kind driver.TouchKind, at driver.Ptr, value uint32) driver.Touch {
	return driver.Touch{Kind: kind, At: at, Bytes: 4, Value: value, Block: block}
}

func tileData(block int, kind driver.TouchKind, at driver.Ptr, bytes int64) driver.Touch {
	return driver.Touch{Kind: kind, At: at, Bytes: bytes, Type: driver.BF16, Block: block}
}

// TestScatterTouches: a launch's beginning, the groups of each peer's rows, and those of the own rows with their sum,
// as blocks.
func TestScatterTouches(t *testing.T) {
	table := Table{Peers: 2, Types: []driver.Type{driver.BF16}, Kernels: []Kernel{{Kind: Scatter,
		PrePost: EachPeer, PreWait: EachPeer, PostPost: EachPeer, PostWait: EachPeer, Terms: 2, Rows: 1,
		ByBlocks: true, Tile: Tile{Columns: 128, Cluster: 1}}}}
	list := table.Code()
	if len(list) != 1 || list[0].Name != "scatter_bf16" || !list[0].AtOnce || list[0].Threads != TileThreads ||
		list[0].Only != 90 {
		t.Fatalf("got %+v, want one kernel of blocks that run at once", list)
	}
	p, l := tileWords(table)
	x := l.tiled
	for i, at := range []uint64{1000, 2000, 3000, 4000, 5000, 6000} {
		p[x.maps+i*len(driver.TensorMap{})] = at
	}
	p[x.bias] = 3500
	const read, write, wait, post = driver.TouchRead, driver.TouchWrite, driver.TouchWait, driver.TouchPost
	// Of a group: how many rows it has, and how many come before it.
	part := func(block int, ready, a, to, done driver.Ptr, rows int64, above driver.Ptr) []driver.Touch {
		words := above / 3 * 400
		return []driver.Touch{tileWord(block, wait, ready+words, 1), tileData(block, read, a+16*above, 16*rows),
			tileData(block, read, 3000, 32), tileData(block, write, to+4*above, 4*rows),
			tileWord(block, write, ready+words, 0), tileWord(block, post, done+words, 1)}
	}
	own := func(block int, rows int64, above driver.Ptr) []driver.Touch {
		words := above / 3 * 400
		return []driver.Touch{tileData(block, read, 2064+16*above, 16*rows), tileData(block, read, 3000, 32),
			tileData(block, write, 1016+4*above, 4*rows), tileWord(block, write, 208, 0),
			tileWord(block, wait, 130+words, 1), tileWord(block, wait, 134+words, 1),
			tileData(block, read, 1000+4*above, 4*rows), tileData(block, read, 1016+4*above, 4*rows),
			tileData(block, read, 1032+4*above, 4*rows), tileData(block, read, 3500, 4),
			tileData(block, write, 4000+4*above, 4*rows), tileWord(block, write, 130+words, 0),
			tileWord(block, write, 134+words, 0)}
	}
	want := slices.Concat(
		[]driver.Touch{tileWord(0, write, 208, 0), tileWord(0, post, 100, 1), tileWord(0, post, 104, 1),
			tileWord(0, post, 500, 1), tileWord(0, post, 504, 1)},
		part(1, 110, 2128, 5000, 120, 3, 0), part(2, 110, 2128, 5000, 120, 1, 3), // the rows of rank 2
		part(3, 114, 2000, 6000, 124, 3, 0), part(4, 114, 2000, 6000, 124, 1, 3), // of rank 0
		own(5, 3, 0), []driver.Touch{tileWord(5, write, 200, 7)}, own(6, 1, 3))
	if got := list[0].Touches(unsafe.Pointer(&p[0]), nil); !slices.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	p[x.high], p[x.broad] = 128, 1 // two groups, of a column each
	column := driver.Touch{Kind: write, At: 5002, Bytes: 2, Rows: 4, Apart: 4, Type: driver.BF16, Block: 2}
	if got := list[0].Touches(unsafe.Pointer(&p[0]), nil); !slices.Contains(got, column) {
		t.Errorf("got\n%v\nwithout %v", got, column)
	}
	if got := list[0].Touches(unsafe.Pointer(&make([]uint64, l.size)[0]), nil); len(got) != 0 {
		t.Errorf("the first launch, which does nothing, touches %v", got)
	}
}

// TestLeast: of tiles by shape a launch takes those that leave the fewest multiprocessors idle.
func TestLeast(t *testing.T) {
	s := &Set{}
	wide := Tile{Columns: 224, Cluster: 2, Together: true}
	for _, tile := range []Tile{{Columns: 112, Cluster: 2}, {Columns: 128, Cluster: 1}, {Columns: 176, Cluster: 2},
		{Columns: 176, Cluster: 1}, wide} {
		s.kernels = append(s.kernels, &kernel{layout: layout{Kernel: Kernel{Kind: Tiles, Tile: tile}}})
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

// TestTilesAlike: kernels that differ by their tiles touch and signal the same in the same order, so ranks may launch
// different ones.
func TestTilesAlike(t *testing.T) {
	for _, kind := range []Kind{Tiles, Scatter} {
		table := Table{Peers: 2, Types: []driver.Type{driver.BF16}}
		for i, tile := range []Tile{{Columns: 128, Cluster: 1}, {Columns: 112, Cluster: 2},
			{Columns: 224, Cluster: 2, Together: true}} {
			table.Kernels = append(table.Kernels, Kernel{Kind: kind, Number: i + 1, PrePost: EachPeer,
				PreWait: EachPeer, PostPost: EachPeer, PostWait: EachPeer, Terms: 2, Rows: 1,
				ByBlocks: kind == Scatter, Tile: tile})
		}
		p, l := tileWords(table)
		for i := range l.maps() {
			p[l.tiled.maps+i*len(driver.TensorMap{})] = uint64(1000 * (i + 1))
		}
		list := table.Code()
		want := list[0].Touches(unsafe.Pointer(&p[0]), nil)
		for _, k := range list[1:] {
			if got := k.Touches(unsafe.Pointer(&p[0]), nil); len(want) == 0 || !slices.Equal(got, want) ||
				k.Params != list[0].Params {
				t.Errorf("%s touches\n%v\nand %s\n%v", k.Name, got, list[0].Name, want)
			}
		}
	}
}

// TestTileTouches: a launch's beginning, a part for each shard, and its end, as blocks.
func TestTileTouches(t *testing.T) {
	table := Table{Peers: 2, Types: []driver.Type{driver.BF16, driver.FP32}, Kernels: []Kernel{{Kind: Tiles,
		PrePost: EachPeer, PreWait: EachPeer, PostPost: EachPeer, PostWait: EachPeer, Terms: 2, Rows: 1,
		Tile: Tile{Columns: 112, Cluster: 2}}}}
	list := table.Code()
	if len(list) != 1 || list[0].Name != "tiles_bf16" || list[0].Params != 88*8 || list[0].Only != 90 ||
		list[0].Cluster != 2 || list[0].Shared != 231536 {
		t.Fatalf("got %+v, want one kernel of 88 words, of elements of 16 bits", list)
	}
	p, l := tileWords(table)
	x := l.tiled
	p[x.gathered] = 1000
	p[x.shards], p[x.shards+1] = 5000, 6000
	p[x.maps], p[x.maps+16], p[x.maps+32], p[x.maps+48], p[x.bias] = 2000, 1000, 3000, 4000, 3500
	word, data := tileWord, tileData
	const read, write, wait, post = driver.TouchRead, driver.TouchWrite, driver.TouchWait, driver.TouchPost
	product := func(block int, a, c driver.Ptr) []driver.Touch {
		return []driver.Touch{data(block, read, a, 64), data(block, read, 3000, 32), data(block, read, 3500, 4),
			data(block, write, c, 16)}
	}
	pulled := func(block int, ready, from, to, done driver.Ptr) []driver.Touch {
		return []driver.Touch{word(block, wait, ready, 1), data(block, read, from, 64), data(block, write, to, 64),
			word(block, write, ready, 0), word(block, post, done, 1)}
	}
	want := slices.Concat(
		[]driver.Touch{word(0, write, 208, 0), word(0, post, 100, 1), word(0, post, 104, 1)},
		product(1, 2000, 4016),
		pulled(2, 110, 5000, 1128, 120), product(2, 1128, 4032), // of rank 2
		pulled(3, 114, 6000, 1000, 124), product(3, 1000, 4000), // of rank 0
		[]driver.Touch{word(4, write, 208, 0), word(4, wait, 130, 1), word(4, wait, 134, 1), word(4, write, 130, 0),
			word(4, write, 134, 0), word(4, write, 200, 7)})
	if got := list[0].Touches(unsafe.Pointer(&p[0]), nil); !slices.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	if got := list[0].Touches(unsafe.Pointer(&make([]uint64, l.size)[0]), nil); len(got) != 0 {
		t.Errorf("the first launch, which does nothing, touches %v", got)
	}
}

// TestGroups: a rank's rows are cut into as many groups of tiles as there are words for, at the ends of tiles where
// there are such that divide the columns.
func TestGroups(t *testing.T) {
	s := &Set{}
	for _, columns := range []int{128, 144} {
		s.kernels = append(s.kernels, &kernel{layout: layout{Kernel: Kernel{Kind: Scatter,
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
		if g != (groups{c.rows, c.columns}) || g.count(d) != c.count || c.count > MostGroups(c.ranks) {
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
