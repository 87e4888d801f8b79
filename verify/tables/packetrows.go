package tables

import (
	"slices"

	"ovgen/runtime/kernels"
)

// packetRows adds the touches of each block of a kernel that makes rows and sends them. A block makes its rows, sends
// each result of them that goes to all, and then, for each of these, awaits what lands and puts all ranks' rows in their
// places.
func (x *launched) packetRows() {
	p, l := x.p, x.At.Lands
	blocks, size := int64(p[x.At.Block]), x.Type.Size()
	all := int64(p[x.At.Bytes]) * size
	for b := range blocks {
		x.number = int(b) + 1
		each := int64(p[l.Rows]*p[x.At.Given]) * size
		from := min(b*each, all)
		bytes := min(each, all-from)
		x.makesRows(from, bytes)
		row := int64(p[x.At.Given]) * size
		list := x.going(b, from/row, bytes/row)
		for _, g := range list {
			g.sent(slices.Repeat([]uint64{g.made}, len(g.to)))
		}
		for _, g := range list {
			g.awaited()
			g.put(g.ranks(), g.made, p[g.words+kernels.GoingAll], int64(p[g.words+kernels.GoingBytes]))
		}
	}
}

// gone is a result that goes to all ranks, as a block has it.
type gone struct {
	landed
	made  uint64 // address of this rank's rows
	words int    // place of its words among the parameters
}

// going are the results of a block's rows that go to all ranks.
func (x *launched) going(block, first, rows int64) (list []gone) {
	p, l := x.p, x.At.Lands
	rank, words := int(p[l.Rank]), l.Going
	for i, made := range x.rowResults() {
		if x.Spread>>i&1 == 0 {
			continue
		}
		g, row := p[words:words+kernels.GoingWords], int64(p[words+kernels.GoingRow])
		own := p[l.To+rank] + g[kernels.GoingAway]
		one := gone{landed{launched: x, block: block, from: first * row, bytes: rows * row, own: own,
			turn: own + 2*g[kernels.GoingHalf], half: g[kernels.GoingHalf], part: g[kernels.GoingPart]}, made, words}
		for r := range int(p[x.At.N]) {
			one.to = append(one.to, p[l.To+r]+g[kernels.GoingAway]+uint64(rank)*g[kernels.GoingPart])
		}
		one.others = others(len(one.to), rank)
		list, words = append(list, one), words+kernels.GoingWords
	}
	return list
}

// rowResults are the addresses of what functions of rows make, in their order, and of the scales that the last leaves.
func (x *launched) rowResults() []uint64 {
	list, at := []uint64{x.p[x.At.Lands.Made]}, x.At.Lands.Beside+len(x.Made.Operands)-1
	for _, then := range x.Made.Then {
		list = append(list, x.p[at])
		at += len(then.Operands)
	}
	return append(list, x.p[min(at, len(x.p)-1)])
}
