package tables

import (
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/touch"
)

// landed lists the touches of one block of a kernel of packets, in one landing and in the tensors that it sends and
// makes.
type landed struct {
	*launched
	block       int64
	from, bytes int64  // the block's part of a tensor
	own         uint64 // address of this rank's landing; in to, of this rank's part of each rank's landing
	to          []uint64
	turn        uint64
	part, half  uint64      // bytes of a rank's part of the landing, and of one half
	others      []int       // the peers, in the order of ranks
	typ         driver.Type // of the elements that it sends; 0: bytes of any
}

// packets adds the touches of each block. A block sends its part to each peer and posts it, awaits the parts that land,
// and adds them up or copies them. A block that spreads results sends the sum, applies its function, sends what that
// makes, and then awaits and copies the results that land.
func (x *launched) packets() {
	if x.SendsRows() {
		x.packetRows()
		return
	}
	p, l := x.p, x.At.Lands
	all, blocks := int64(p[x.At.Bytes]), int64(p[x.At.Block])
	if x.Computes() {
		all *= x.Type.Size()
	}
	ranks, rank := int(p[x.At.N]), int(p[l.Rank])
	for b := range blocks {
		x.number = int(b) + 1
		one := landed{launched: x, block: b, own: p[l.From], to: p[l.To : l.To+ranks], turn: p[l.Turn],
			part: p[l.Part], half: p[l.Half], typ: x.Type}
		one.from, one.bytes = kernels.Part(all, b, blocks)
		if x.Makes() {
			each := int64(p[l.Rows]*p[x.At.Given]) * x.Type.Size()
			one.from = min(b*each, all)
			one.bytes = min(each, all-one.from)
		}
		one.others = others(ranks, rank)
		parts := p[x.At.Terms : x.At.Terms+ranks]
		one.exchanged(parts)
		if !x.Computes() {
			one.put(one.ranks(), parts[rank], p[x.At.Dst], all)
			continue
		}
		one.added(parts[rank], p[x.At.Dst])
		if x.Spread > 0 {
			one.spread(rank, all)
		} else if x.Makes() {
			x.makesRows(one.from, one.bytes)
		}
	}
}

// others are all ranks but one.
func others(ranks, rank int) (list []int) {
	for r := range ranks {
		if r != rank {
			list = append(list, r)
		}
	}
	return list
}

// spread adds the touches of a block that spreads results, each of which has this rank's part at its address.
func (x *landed) spread(rank int, all int64) {
	results := x.results()
	early := int(x.Spread & 1) // the sum is sent before formulas are made
	for i := range early {
		x.landing(i).sent(slices.Repeat(results[:1], len(x.to)))
	}
	if x.Makes() {
		x.makesRows(x.from, x.bytes)
	}
	for i, at := range results[early:] {
		x.landing(early + i).sent(slices.Repeat([]uint64{at}, len(x.to)))
	}
	for i, at := range results {
		landing := x.landing(i)
		landing.awaited()
		landing.put(x.others, 0, at-uint64(int64(rank)*all), all)
	}
}

// landing is the block with the landing of a result that is spread.
func (x *landed) landing(i int) *landed {
	at, apart := *x, x.p[x.At.Lands.Spread+i]
	at.to = slices.Clone(x.to)
	for _, r := range x.others {
		at.to[r] += apart
	}
	at.own, at.turn = at.own+apart, at.turn+apart
	return &at
}

// results are the addresses of what goes to all ranks: of the sum, and of what formulas make of it.
func (x *landed) results() (going []uint64) {
	list := []uint64{x.p[x.At.Dst]}
	if x.Makes() {
		list = append(list, x.p[x.At.Lands.Made])
		at := x.At.Lands.Beside + len(x.Made.Operands)
		for _, then := range x.Made.Then {
			list = append(list, x.p[at])
			at += 1 + len(then.Operands)
		}
	}
	for i, at := range list {
		if x.Spread>>i&1 > 0 {
			going = append(going, at)
		}
	}
	return going
}

// exchanged adds the block's part of the tensor for each peer, its posts, and its waits.
func (x *landed) exchanged(tensors []uint64) {
	x.sent(tensors)
	x.awaited()
}

// flag is the place of the block's flag in a part, and a touch of it.
func (x *landed) flag(value uint32) (word uint64, t touch.Touch) {
	word = uint64(x.from) // a packet is its flag as well
	if x.SendsPlain() {
		word = x.p[x.At.Lands.Word] + uint64(x.block)*x.p[x.At.Lands.Next]
	}
	return word, touch.Touch{Bytes: 4, Value: value, Flag: !x.SendsPlain()}
}

// sent adds the block's part of the tensor for each peer, and its posts.
func (x *landed) sent(tensors []uint64) {
	first, _ := slices.BinarySearch(x.others, int(x.p[x.At.Lands.Rank]))
	peers := slices.Concat(x.others[first:], x.others[:first]) // from the next rank on
	for _, r := range peers {
		x.data(touch.Read, tensors[r])
		x.packet(touch.Write, x.to[r]+uint64(x.from), touch.Touch{Bytes: x.bytes, Type: x.typ})
	}
	for _, r := range peers {
		word, flag := x.flag(1)
		x.packet(touch.Post, x.to[r]+word, flag)
	}
}

// awaited adds the block's waits, and their resets.
func (x *landed) awaited() {
	for _, r := range x.others {
		word, flag := x.flag(1)
		x.packet(touch.Wait, x.partOf(r)+word, flag)
	}
	for _, r := range x.others {
		word, flag := x.flag(0)
		x.packet(touch.Write, x.partOf(r)+word, flag)
	}
	if len(x.others) > 0 {
		x.note()
	}
}

// added adds the touches of the sum of the parts that landed, of this rank's part, and of the tensors beside them.
func (x *landed) added(own, dst uint64) {
	for _, r := range x.ranks() {
		x.taken(r, own)
	}
	for i := range x.Added {
		x.data(touch.Read, x.p[x.At.Lands.Added+i])
	}
	size := x.Type.Size()
	x.finish(x.from/size, x.bytes/size)
	x.data(touch.Write, dst)
}

// put adds the touches by which the parts of ranks, landed or this rank's, are put one after another.
func (x *landed) put(ranks []int, own, dst uint64, bytes int64) {
	for _, r := range ranks {
		x.taken(r, own)
		x.data(touch.Write, dst+uint64(int64(r)*bytes))
	}
}

// ranks lists all ranks.
func (x *landed) ranks() (list []int) {
	for r := range len(x.to) {
		list = append(list, r)
	}
	return list
}

// taken adds the read of a rank's part: of the part that landed or, for this rank, of its own tensor.
func (x *landed) taken(rank int, own uint64) {
	if rank == int(x.p[x.At.Lands.Rank]) {
		x.data(touch.Read, own)
		return
	}
	x.packet(touch.Read, x.partOf(rank)+uint64(x.from), touch.Touch{Bytes: x.bytes, Type: x.typ})
}

// part is the address of a rank's part of this rank's landing.
func (x *landed) partOf(rank int) uint64 { return x.own + uint64(rank)*x.part }

func (x *landed) data(kind touch.Kind, at uint64) {
	x.add(touch.Touch{Kind: kind, At: driver.Ptr(at + uint64(x.from)), Bytes: x.bytes, Type: x.typ})
}

func (x *landed) packet(kind touch.Kind, at uint64, t touch.Touch) {
	t.Kind, t.At, t.Packets = kind, driver.Ptr(at), !x.SendsPlain()
	t.Turn, t.Half = driver.Ptr(x.turn+4*uint64(x.block)), int64(x.half)
	x.add(t)
}
