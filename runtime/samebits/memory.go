package samebits

import (
	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/runtime/plan"
)

// Rows of two ranks are compared, so the tiles of a peer's follow the tiles of the own. A rank has the rows of the
// library's product in order: whole tiles.
const ranks, rows = 2, driver.OrderRows

var _ = [1]bool{}[rows%kernels.TileRows]

// Words of a launch, by their places: the words of its four lists, and the step word. The first count word follows.
const (
	step   = kernels.PostWait + 1
	counts = step + 1
)

// allWords counts the words of a launch: with a count word of blocks, one of pieces, and two of each shard.
const allWords = counts + (2+2*kernels.MostShards)*plan.CountApart

// memory is the memory of one comparison.
type memory struct {
	desc           driver.MatmulDesc // of one rank's rows
	a, b, bias     driver.Ptr
	staging        driver.Ptr // pulled shards, or slots; and what else a sum reads
	tiles, library driver.Ptr // results
	words          driver.Ptr
	workspace      driver.Ptr
	random, bytes  int64 // from the beginning: of random numbers, of everything
}

// layOut places everything behind each other, from 0 on.
func layOut(d driver.MatmulDesc) memory {
	x := memory{desc: d}
	piece := func(bytes int64) driver.Ptr {
		at := x.bytes
		x.bytes += (bytes + 255) &^ 255
		return driver.Ptr(at)
	}
	x.a = piece(d.Type.Bytes(ranks * rows * d.K))
	x.b = piece(d.Type.Bytes(d.N * d.K))
	x.bias = piece(d.Type.Bytes(d.N))
	x.staging = piece(d.Type.Bytes(ranks * rows * max(d.K, d.N)))
	x.random = x.bytes
	x.tiles, x.library = piece(ranks*x.result()), piece(ranks*x.result())
	x.words = piece(4 * allWords)
	x.workspace = piece(driver.WorkspaceBytes)
	return x
}

// Bytes is the memory that New allocates to compare a product of that depth and so many columns, and frees.
func Bytes(depth, columns int64) int64 {
	x := layOut(driver.MatmulDesc{K: int(depth), N: int(columns), Type: driver.BF16}) // all its types have 16 bits
	return x.bytes
}

// move moves everything to an address.
func (x *memory) move(base driver.Ptr) {
	for _, p := range []*driver.Ptr{&x.a, &x.b, &x.bias, &x.staging, &x.tiles, &x.library, &x.words, &x.workspace} {
		*p += base
	}
}

// operand and result are the bytes of one rank's rows, and of their results.
func (x *memory) operand() int64 { return x.desc.Type.Bytes(rows * x.desc.K) }
func (x *memory) result() int64  { return x.desc.Type.Bytes(rows * x.desc.N) }

// word is the address of a word, by its place.
func (x *memory) word(i int) driver.Ptr { return x.words + driver.Ptr(4*i) }
