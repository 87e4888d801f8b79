package kernels

import (
	"math/bits"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Landing are places of the parameters of a kernel of packets, in 64-bit words.
type Landing struct {
	To   int // addresses, by rank: this rank's part of that rank's landing
	From int // address of this rank's landing
	Part int // bytes of a part of the landing
	Half int // bytes from one half to the other
	Turn int // address of the first block's word, which says which half the run uses
	Rank int
	Word int // bytes from a part to its first block's word, where plain data lands, or to the words beside packets
	Next int // bytes from a block's word to the next block's word
	// Spread is the bytes from the landing to the first landing of results that are spread, on every rank.
	Spread int
	// Added is the address of the first tensor that is added to the sum.
	Added int
	// Rows is the number of rows of the sum that each block has. Made is the address of the result of a function of
	// rows of the sum, and Beside the address of the first operand that this function reads beside the sum.
	Rows, Made, Beside int
	// Finished is, of a kernel of rows with a function of each element of all ranks' rows, the address of the
	// function's result; behind it are the number of elements of a rank's rows, the address of all, and the function's
	// own parameters.
	Finished int
	// Going is the first of GoingWords words of each result of a kernel of rows that goes to all ranks. To is then the
	// address of each rank's first landing, and nothing is at From.
	Going int
}

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

// land lays out the parameters behind the terms.
func (l *Layout) land(next func(words int) int) {
	l.At.Lands = Landing{To: next(l.Terms)}
	if l.Kind == PacketRows {
		l.At.Lands.Rank, l.At.Lands.Going = next(1), next(GoingWords*bits.OnesCount(l.Spread))
		if l.Finish != nil {
			l.At.Lands.Finished = next(3)
			l.finish(next)
		}
	} else {
		l.At.Lands.From, l.At.Lands.Part, l.At.Lands.Half = next(1), next(1), next(1)
		l.At.Lands.Turn, l.At.Lands.Rank, l.At.Lands.Word = next(1), next(1), next(1)
		l.At.Lands.Spread = next(bits.OnesCount(l.Spread))
	}
	if l.Kind == Push {
		l.At.Lands.Next = next(1)
	}
	l.At.Lands.Added = next(l.Added)
	if l.Makes() {
		l.At.Lands.Rows, l.At.Lands.Made = next(1), next(1)
		l.At.Lands.Beside, l.At.Given = next(l.Made.addresses()-1), next(l.numbers())
	}
}

// Lands reports whether the kernel sends packets and takes the packets that land.
func (k Kernel) Lands() bool {
	switch k.Kind.Work() {
	case Lands, LandsApart, LandsTwice, LandsRows:
		return true
	}
	return false
}

// PacketGather sends each rank its part, of the given bytes, as packets. It puts this rank's part and the parts that
// land one after another from dst on, in the order of ranks.
func (s *Set) PacketGather(q *plan.Queue, on *plan.Stream, landing *plan.Packets, dst driver.Ptr, bytes int64,
	parts ...driver.Ptr) {
	if k := s.send(q, on, s.kernel(q, PacketGather, nil, false), landing); k != nil {
		k.terms(q, on, 1, dst, bytes, parts)
	}
}

// send counts the step of a kernel of packets, and fills in the addresses where packets land.
func (s *Set) send(q *plan.Queue, on *plan.Stream, k *kernel, landings ...*plan.Packets) *kernel {
	if k == nil {
		return nil
	}
	w := q.PacketWords(on, landings[0], string(k.Kind), landings[1:]...)
	p := k.params
	p[k.At.Lands.Rank], p[k.At.Step], p[k.At.Value] = uint64(q.Rank()), uint64(w.Step), uint64(w.Value)
	if k.Kind == PacketRows {
		k.going(q, &w, len(landings))
		return k
	}
	for r, at := range w.To {
		p[k.At.Lands.To+r] = uint64(at)
	}
	p[k.At.Lands.From], p[k.At.Lands.Part], p[k.At.Lands.Half] = uint64(w.From), uint64(w.Part), uint64(w.Half)
	p[k.At.Lands.Turn], p[k.At.Lands.Word] = uint64(w.Turn), uint64(w.Flags)
	if k.Kind == Push {
		p[k.At.Lands.Next] = 4
	}
	for i := range landings[1:] {
		p[k.At.Lands.Spread+i] = uint64(w.Spread[i].Away)
	}
	return k
}

// going fills in where the results of a kernel of rows land.
func (k *kernel) going(q *plan.Queue, w *plan.PacketWords, results int) {
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
			at := k.params[k.At.Lands.Finished:]
			at[0], at[1], at[2] = uint64(r.Finished), uint64(bytes/s.set.element.Size()), uint64(r.All)
		}
	}
	k.params[k.At.Dst], k.params[k.At.Bytes] = uint64(x), uint64(bytes/s.set.element.Size())
	if k.Varies {
		k.params[k.At.N] = uint64(q.Size())
	}
	k.work(q, on, bytes)
}

// whole is the least number of rows of which a kernel of rows sends whole units: four packets of what it makes, and one
// of scales.
func (k *kernel) whole() int64 {
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

// packetGrid returns the number of blocks, and of threads in each block, that send the given bytes; each block sends a
// part of whole lines. On H200s, units of 16 bytes a thread and few threads are the fastest until the number of blocks
// is the largest allowed.
func packetGrid(bytes int64) (blocks, threads int) {
	if threads = 256; bytes > 16*int64(threads*plan.MostPacketBlocks) {
		threads = 512
	}
	unit := 16 * int64(threads)
	most := min((bytes+unit-1)/unit, plan.MostPacketBlocks)
	_, whole := Part(bytes, 0, max(most, 1))
	return int(max(1, (bytes+whole-1)/max(whole, 1))), threads
}

// line is the granularity in bytes of the blocks' parts: a line of memory.
const line = 128

// Part is the offset and the length of a block's part of the given bytes.
func Part(bytes, block, blocks int64) (from, count int64) {
	each := ((bytes+blocks-1)/blocks + line - 1) / line * line
	from = min(block*each, bytes)
	return from, min(each, bytes-from)
}
