package kernels

import (
	"math/bits"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// toAll sends what a kernel makes of this rank's rows to all ranks: no tensor is sent as it is.
type toAll struct{}

// SendsRows reports whether the kernel sends what it makes of this rank's rows to all ranks, and no tensor as it is.
func (k Kernel) SendsRows() bool { return k.Kind.row().sends == toAll{} }

// Places of the words that a kernel of rows has for each result that goes to all ranks: the bytes from the first
// landing to the result's, of a rank's part of it, from one half to the other, and from a part to the words beside
// packets; the bytes of a row and of this rank's rows; and the address where those of all ranks lie in their order.
const (
	GoingAway = iota
	GoingPart
	GoingHalf
	GoingBeside
	GoingRow
	GoingBytes
	GoingAll
	GoingWords
)

func (toAll) lay(l *Layout, next func(words int) int) {
	l.At.Lands = Landing{To: next(l.Terms), Rank: next(1), Going: next(GoingWords * bits.OnesCount(l.Spread))}
	if l.Finish != nil {
		l.At.Lands.FinishedTo, l.At.Lands.FinishedElements, l.At.Lands.FinishedX = next(1), next(1), next(1)
		l.finish(next)
	}
	l.beside(next)
}

func (toAll) fill(k *kernel, q *plan.Queue, w plan.PacketWords, results int) {
	p := k.params
	for r, at := range w.To {
		if r == q.Rank() {
			p[k.At.Lands.To+r] = uint64(w.From)
		} else if at != 0 {
			p[k.At.Lands.To+r] = uint64(at) - uint64(int64(q.Rank())*w.Part)
		}
	}
	for i := range results {
		x := plan.PacketSpread{Part: w.Part, Half: w.Half, Flags: w.Flags}
		if i > 0 {
			x = w.Spread[i-1]
		}
		to := p[k.At.Lands.Going+i*GoingWords:]
		to[GoingAway], to[GoingPart], to[GoingHalf] = uint64(x.Away), uint64(x.Part), uint64(x.Half)
		to[GoingBeside] = uint64(x.Flags)
	}
}

// Going is a result of a function of this rank's rows that goes to all ranks: its bytes, where packets of it land, and
// where the results of all ranks lie in their order. One without a landing stays on its rank. Finished is where a
// function of each element of these puts what it makes.
type Going struct {
	Landing       *plan.Packets
	All, Finished driver.Ptr
	Bytes         int64
}

// PacketRows makes rows of bytes of x, of this rank's, as Making says, and sends the results to all ranks.
func (s Summing) PacketRows(q *plan.Queue, on *plan.Stream, x driver.Ptr, bytes int64, results ...Going) {
	landings := make([]*plan.Packets, 0, 8)
	for i, r := range results {
		if r.Landing != nil {
			s.spread, landings = s.spread|1<<i, append(landings, r.Landing)
		}
	}
	k := s.set.send(q, on, s.kernel(q, PacketRows, nil, false), landings...)
	if k == nil {
		return
	}
	rows := bytes / max(int64(k.params[k.At.Given])*s.set.element.Size(), 1)
	to := k.params[k.At.Lands.Going:]
	for _, r := range results {
		if r.Landing != nil {
			to[GoingRow], to[GoingBytes] = uint64(r.Bytes/max(rows, 1)), uint64(r.Bytes)
			to[GoingAll] = uint64(r.All)
			to = to[GoingWords:]
		}
		if r.Finished != 0 && k.Finish != nil {
			k.params[k.At.Lands.FinishedTo], k.params[k.At.Lands.FinishedX] = uint64(r.Finished), uint64(r.All)
			k.params[k.At.Lands.FinishedElements] = uint64(bytes / s.set.element.Size())
		}
	}
	k.params[k.At.Dst], k.params[k.At.Bytes] = uint64(x), uint64(bytes/s.set.element.Size())
	if k.Varies {
		k.params[k.At.N] = uint64(q.Size())
	}
	k.work(q, on, bytes)
}

// whole is the least number of rows that are whole units of each result: four packets of what a function makes, and one
// of scales.
func (toAll) whole(k *kernel) int64 {
	rows, left := int64(1), k.Spread
	for i := 0; left != 0; i, left = i+1, left&(left-1) {
		unit := int64(16)
		if left&(left-1) == 0 && k.Scaled() {
			unit = 4
		}
		for rows*int64(k.params[k.At.Lands.Going+i*GoingWords+GoingRow])%unit != 0 {
			rows *= 2
		}
	}
	return rows
}

// Scaled reports whether the last result that a kernel of rows sends are the scales that its function leaves.
func (k Kernel) Scaled() bool {
	results, last := 1, k.Made
	for i := range k.Made.Then {
		results, last = results+1, &k.Made.Then[i]
	}
	return last.Scales != 0 && k.Spread>>results == 1
}

// each is one: blocks are sized by rows.
func (toAll) each(Kernel) int64 { return 1 }

// rowGrid returns the number of blocks that send rows of the given bytes each, and the largest number of rows of a
// block. A block's part begins at a multiple of 16 bytes, since packets go by four, and has at least a few kilobytes,
// since a block of fewer would not pay. It has a multiple of whole rows, which is a power of 2.
func rowGrid(rows, bytes, whole int64) (blocks int, each int64) {
	const least = 4096
	for whole*bytes%16 != 0 {
		whole *= 2
	}
	each = max((rows+plan.MostPacketBlocks-1)/plan.MostPacketBlocks, (least+bytes-1)/bytes)
	each = (each + whole - 1) / whole * whole
	return int((rows + each - 1) / each), each
}
