package kernels

import (
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
	// FinishedTo, FinishedElements and FinishedX are, of a kernel of rows with a function of each element of all ranks'
	// rows, the address of its result, the number of elements of a rank's rows, and the address of all rows.
	FinishedTo, FinishedElements, FinishedX int
	// Going is the first of GoingWords words of each result of a kernel of rows that goes to all ranks. To is then the
	// address of each rank's first landing, and nothing is at From.
	Going int
}

// sending is how kernels of packets lay out what they send.
type sending interface {
	// lay lays out the parameters behind the number of ranks.
	lay(l *Layout, next func(words int) int)
	// fill fills in the addresses where packets land, of so many landings.
	fill(k *kernel, q *plan.Queue, w plan.PacketWords, landings int)
	// whole is the least number of rows that blocks share out, where the kernel makes rows.
	whole(k *kernel) int64
	// each is the number of parts of a group that a lane works on.
	each(k Kernel) int64
}

// beside lays out the tensors that a kernel of packets adds, and its function of rows.
func (l *Layout) beside(next func(words int) int) {
	l.At.Lands.Added = next(l.Added)
	if l.Makes() {
		l.At.Lands.Rows, l.At.Lands.Made = next(1), next(1)
		l.At.Lands.Beside, l.At.Given = next(l.Made.beside()), next(l.numbers())
	}
}

// Lands reports whether the kernel sends packets and takes the packets that land.
func (k Kernel) Lands() bool { return k.Kind.row().sends != nil }

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
	k.Kind.row().sends.fill(k, q, w, len(landings))
	return k
}

// packetGrid returns the number of blocks, and of threads in each block, that send the given bytes; each block sends a
// part of whole lines. On H200s, units of 16 bytes a thread and few threads are the fastest until the number of blocks
// is the largest allowed. A kernel that ends with a function has registers for no more threads.
func packetGrid(bytes int64, ends bool) (blocks, threads int) {
	if threads = 256; bytes > 16*int64(threads*plan.MostPacketBlocks) && !ends {
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
