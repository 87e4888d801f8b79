package tables

import (
	"slices"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/touch"
)

// tileWords are the parameters of a launch on rank 1 of 3, with words at 100, 110 and so on.
func tileWords(table kernels.Table) ([]uint64, kernels.Layout) {
	l := table.Code()[0].Row.(kernels.Row).Layout
	p := make([]uint64, l.At.Size)
	for place, words := range [][]uint64{kernels.PrePost: {100, 104}, kernels.PreWait: {110, 114},
		kernels.PostPost: {120, 124}, kernels.PostWait: {130, 134}} {
		copy(p[l.At.Lists[place].At:], words)
	}
	p[l.At.Count], p[l.At.Step], p[l.At.Value], p[l.At.Block] = 2, 200, 7, 208
	x := l.At.Tiled
	p[x.Ranks], p[x.Rank], p[x.Rows], p[x.K], p[x.N] = 3, 1, 4, 8, 2
	if l.Scatters() {
		p[l.At.Away], p[x.High], p[x.Broad] = 100, 3, 2 // two groups, of three rows and of one
	}
	return p, l
}

func tileWord(block int, kind touch.Kind, at driver.Ptr, value uint32) touch.Touch {
	return touch.Touch{Kind: kind, At: at, Bytes: 4, Value: value, Block: block}
}

func tileData(block int, kind touch.Kind, at driver.Ptr, bytes int64) touch.Touch {
	return touch.Touch{Kind: kind, At: at, Bytes: bytes, Type: driver.BF16, Block: block}
}

// biased is the function of sums that adds a row.
func biased() *kernels.Made {
	return &kernels.Made{Key: "bias", Word: "bias", Operands: []kernels.Operand{{Lies: kernels.ByColumn}}}
}

// TestScatterTouches: a launch's beginning, the groups of each peer's rows, and those of the own rows with their sum,
// as blocks.
func TestScatterTouches(t *testing.T) {
	table := kernels.Table{Peers: 2, Types: []driver.Type{driver.BF16}, Kernels: []kernels.Kernel{{
		Kind: kernels.Scatter, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 2,
		Finish: biased(), ByBlocks: true, Tile: kernels.Tile{Columns: 128, Cluster: 1}}}}
	list := table.Code()
	if len(list) != 1 || list[0].Name != "scatter_bf16" || !list[0].AtOnce || list[0].Threads != kernels.TileThreads ||
		list[0].Only != 90 {
		t.Fatalf("got %+v, want one kernel of blocks that run at once", list)
	}
	p, l := tileWords(table)
	x := l.At.Tiled
	for i, at := range []uint64{1000, 2000, 3000, 4000, 5000, 6000} {
		p[x.Maps+i*len(driver.TensorMap{})] = at
	}
	p[l.At.Finish] = 3500
	const read, write, wait, post = touch.Read, touch.Write, touch.Wait, touch.Post
	// Of a group: how many rows it has, and how many come before it.
	part := func(block int, ready, a, to, done driver.Ptr, rows int64, above driver.Ptr) []touch.Touch {
		words := above / 3 * 400
		return []touch.Touch{tileWord(block, wait, ready+words, 1), tileData(block, read, a+16*above, 16*rows),
			tileData(block, read, 3000, 32), tileData(block, write, to+4*above, 4*rows),
			tileWord(block, write, ready+words, 0), tileWord(block, post, done+words, 1)}
	}
	own := func(block int, rows int64, above driver.Ptr) []touch.Touch {
		words := above / 3 * 400
		return []touch.Touch{tileData(block, read, 2064+16*above, 16*rows), tileData(block, read, 3000, 32),
			tileData(block, write, 1016+4*above, 4*rows), tileWord(block, write, 208, 0),
			tileWord(block, wait, 130+words, 1), tileWord(block, wait, 134+words, 1),
			tileData(block, read, 1000+4*above, 4*rows), tileData(block, read, 1016+4*above, 4*rows),
			tileData(block, read, 1032+4*above, 4*rows), tileData(block, read, 3500, 4),
			tileData(block, write, 4000+4*above, 4*rows), tileWord(block, write, 130+words, 0),
			tileWord(block, write, 134+words, 0)}
	}
	want := slices.Concat(
		[]touch.Touch{tileWord(0, write, 208, 0), tileWord(0, post, 100, 1), tileWord(0, post, 104, 1),
			tileWord(0, post, 500, 1), tileWord(0, post, 504, 1)},
		part(1, 110, 2128, 5000, 120, 3, 0), part(2, 110, 2128, 5000, 120, 1, 3), // the rows of rank 2
		part(3, 114, 2000, 6000, 124, 3, 0), part(4, 114, 2000, 6000, 124, 1, 3), // of rank 0
		own(5, 3, 0), []touch.Touch{tileWord(5, write, 200, 7)}, own(6, 1, 3))
	if got := touched(t, list[0], p); !slices.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	p[x.High], p[x.Broad] = 128, 1 // two groups, of a column each
	column := touch.Touch{Kind: write, At: 5002, Bytes: 2, Rows: 4, Apart: 4, Type: driver.BF16, Block: 2}
	if got := touched(t, list[0], p); !slices.Contains(got, column) {
		t.Errorf("got\n%v\nwithout %v", got, column)
	}
	if got := touched(t, list[0], make([]uint64, l.At.Size)); len(got) != 0 {
		t.Errorf("the first launch, which does nothing, touches %v", got)
	}
}

// TestTilesAlike: kernels that differ by their tiles touch and signal the same in the same order, so ranks may launch
// different ones.
func TestTilesAlike(t *testing.T) {
	for _, kind := range []kernels.Kind{kernels.Tiles, kernels.Scatter} {
		table := kernels.Table{Peers: 2, Types: []driver.Type{driver.BF16}}
		for i, tile := range []kernels.Tile{{Columns: 128, Cluster: 1}, {Columns: 112, Cluster: 2},
			{Columns: 224, Cluster: 2, Together: true}} {
			k := kernels.Kernel{Kind: kind, Number: i + 1, PrePost: each,
				PreWait: each, PostPost: each, PostWait: each, Terms: 2,
				ByBlocks: kind == kernels.Scatter, Tile: tile}
			if kind == kernels.Scatter {
				k.Finish = biased()
			} else {
				k.Bias = true
			}
			table.Kernels = append(table.Kernels, k)
		}
		p, l := tileWords(table)
		for i := range (l.At.Lists[0].At - l.At.Tiled.Maps) / len(driver.TensorMap{}) {
			p[l.At.Tiled.Maps+i*len(driver.TensorMap{})] = uint64(1000 * (i + 1))
		}
		list := table.Code()
		want := touched(t, list[0], p)
		for _, k := range list[1:] {
			if got := touched(t, k, p); len(want) == 0 || !slices.Equal(got, want) ||
				k.Params != list[0].Params {
				t.Errorf("%s touches\n%v\nand %s\n%v", k.Name, got, list[0].Name, want)
			}
		}
	}
}

// TestTileTouches: a launch's beginning, a part for each shard, and its end, as blocks.
func TestTileTouches(t *testing.T) {
	table := kernels.Table{Peers: 2, Types: []driver.Type{driver.BF16, driver.FP32}, Kernels: []kernels.Kernel{{
		Kind: kernels.Tiles, PrePost: each, PreWait: each, PostPost: each, PostWait: each, Terms: 2, Bias: true,
		Tile: kernels.Tile{Columns: 112, Cluster: 2}}}}
	list := table.Code()
	if len(list) != 1 || list[0].Name != "tiles_bf16" || list[0].Params != 88*8 || list[0].Only != 90 ||
		list[0].Cluster != 2 || list[0].Shared != 231536 {
		t.Fatalf("got %+v, want one kernel of 88 words, of elements of 16 bits", list)
	}
	p, l := tileWords(table)
	x := l.At.Tiled
	p[x.Gathered] = 1000
	p[x.Shards], p[x.Shards+1] = 5000, 6000
	p[x.Maps], p[x.Maps+16], p[x.Maps+32], p[x.Maps+48], p[x.Bias] = 2000, 1000, 3000, 4000, 3500
	word, data := tileWord, tileData
	const read, write, wait, post = touch.Read, touch.Write, touch.Wait, touch.Post
	product := func(block int, a, c driver.Ptr) []touch.Touch {
		return []touch.Touch{data(block, read, a, 64), data(block, read, 3000, 32), data(block, read, 3500, 4),
			data(block, write, c, 16)}
	}
	pulled := func(block int, ready, from, to, done driver.Ptr) []touch.Touch {
		return []touch.Touch{word(block, wait, ready, 1), data(block, read, from, 64), data(block, write, to, 64),
			word(block, write, ready, 0), word(block, post, done, 1)}
	}
	want := slices.Concat(
		[]touch.Touch{word(0, write, 208, 0), word(0, post, 100, 1), word(0, post, 104, 1)},
		product(1, 2000, 4016),
		pulled(2, 110, 5000, 1128, 120), product(2, 1128, 4032), // of rank 2
		pulled(3, 114, 6000, 1000, 124), product(3, 1000, 4000), // of rank 0
		[]touch.Touch{word(4, write, 208, 0), word(4, wait, 130, 1), word(4, wait, 134, 1), word(4, write, 130, 0),
			word(4, write, 134, 0), word(4, write, 200, 7)})
	if got := touched(t, list[0], p); !slices.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	if got := touched(t, list[0], make([]uint64, l.At.Size)); len(got) != 0 {
		t.Errorf("the first launch, which does nothing, touches %v", got)
	}
}
