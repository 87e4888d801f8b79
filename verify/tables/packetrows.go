package tables

import (
	"cmp"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/touch"
)

// packetRows adds the touches of each block of a kernel that makes rows and sends them. A block makes its rows, sends
// each result of them that goes to all, and puts these in their places; then, for each, it awaits what lands and puts
// the other ranks' rows in their places. It applies its last function to its own rows, and then to those of others.
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
		rank, ranks := int(p[l.Rank]), int(p[x.At.N])
		for _, g := range list {
			g.putAll([]int{rank})
		}
		x.widens(int64(rank)*all/row+from/row, bytes/row)
		for _, g := range list {
			g.awaited()
			g.putAll(g.others)
		}
		for ahead := range ranks - 1 {
			x.widens(int64((rank+1+ahead)%ranks)*all/row+from/row, bytes/row)
		}
	}
}

// gone is a result that goes to all ranks, as a block has it.
type gone struct {
	landed
	made  uint64 // address of this rank's rows
	words int    // place of its words among the parameters
}

// putAll adds the touches by which the rows of some ranks are put in their places.
func (x *gone) putAll(ranks []int) {
	x.put(ranks, x.made, x.p[x.words+kernels.GoingAll], int64(x.p[x.words+kernels.GoingBytes]))
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

// widens adds the touches of the function of each element of all ranks' rows, of some rows from the first one on.
func (x *launched) widens(first, rows int64) {
	if x.Finish == nil {
		return
	}
	columns := int64(x.p[x.At.Given])
	use := func(kind touch.Kind, at uint64, o kernels.Operand) {
		begin, count := first*columns, rows*columns
		switch o.Lies {
		case kernels.ByColumn:
			begin, count = 0, columns
		case kernels.ByRow:
			begin, count = first, rows
		}
		typ := cmp.Or(o.Type, x.Type)
		x.add(touch.Touch{Kind: kind, At: driver.Ptr(at) + driver.Ptr(typ.Bytes(int(begin))),
			Bytes: typ.Bytes(int(count)), Type: typ})
	}
	use(touch.Read, x.p[x.At.Lands.FinishedX], x.Finish.X)
	for i, o := range x.Finish.Operands {
		use(touch.Read, x.p[x.At.Finish+i], o)
	}
	use(touch.Write, x.p[x.At.Lands.FinishedTo], kernels.Operand{Type: x.Finish.Type})
}

// rowResults are the addresses of what functions of rows make, in their order, and of the scales that the last leaves.
func (x *launched) rowResults() []uint64 {
	list, at := []uint64{x.p[x.At.Lands.Made]}, x.At.Lands.Beside+len(x.Made.Operands)
	for _, then := range x.Made.Then {
		list = append(list, x.p[at])
		at += 1 + len(then.Operands)
	}
	return append(list, x.p[min(at, len(x.p)-1)])
}
