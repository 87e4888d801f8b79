package kernels

import (
	"slices"

	"ovgen/runtime/driver"
)

// landed is what one block of a kernel of packets touches of one landing and of the tensors that it sends and makes.
type landed struct {
	*launched
	typ         driver.Type
	block       int64
	from, bytes int64  // the block's part of a tensor
	own         uint64 // address of the own landing, and of this rank's part of each rank's
	to          []uint64
	turn        uint64
	others      []int // the peers, in the order of ranks
}

// packets adds the touches of each block. A block sends its part to each peer, which posts it, awaits the parts that
// land, and adds them up or copies them; one that spreads the sum then does so with that.
func (x *launched) packets(typ driver.Type) {
	p, l := x.p, x.layout.lands
	all, blocks := int64(p[x.bytes]), int64(p[x.block])
	if x.Computes() {
		all *= typ.Size()
	}
	ranks, rank := int(p[x.n]), int(p[l.rank])
	for b := range blocks {
		x.number = int(b) + 1
		one := landed{launched: x, typ: typ, block: b, own: p[l.from], to: p[l.to : l.to+ranks], turn: p[l.turn]}
		one.from, one.bytes = part(all, b, blocks)
		if x.Makes() {
			each := int64(p[l.rows]*p[x.given]) * typ.Size()
			one.from = min(b*each, all)
			one.bytes = min(each, all-one.from)
		}
		for r := range ranks {
			if r != rank {
				one.others = append(one.others, r)
			}
		}
		dst := p[x.dst]
		if x.Spreads() {
			dst += uint64(int64(rank) * all)
		}
		parts := p[x.layout.terms : x.layout.terms+ranks]
		one.exchanged(parts)
		if !x.Computes() {
			one.put(one.ranks(), parts[rank], p[x.dst], all)
			continue
		}
		one.added(parts[rank], dst)
		if x.Makes() {
			x.makesRows(typ, one.from, one.bytes)
		}
		if x.Spreads() {
			one.to = slices.Clone(one.to)
			for _, r := range one.others {
				one.to[r] += p[l.spread]
			}
			one.own, one.turn = one.own+p[l.spread], one.turn+p[l.spread]
			one.exchanged(slices.Repeat([]uint64{dst}, ranks))
			one.put(one.others, 0, p[x.dst], all)
		}
	}
}

// makesRows adds the touches of a block that makes a function of its rows of the sum.
func (x *launched) makesRows(typ driver.Type, from, bytes int64) {
	row := int64(x.p[x.given]) * typ.Size()
	touch := func(kind driver.TouchKind, at uint64, from, bytes int64) {
		x.add(driver.Touch{Kind: kind, At: driver.Ptr(at) + driver.Ptr(from), Bytes: bytes, Type: typ})
	}
	touch(driver.TouchRead, x.p[x.dst], from, bytes)
	for i, o := range x.Made.Operands[1:] {
		at := x.p[x.lands.beside+i]
		switch o.Lies {
		case InPlace:
			touch(driver.TouchRead, at, from, bytes)
		case ByColumn:
			touch(driver.TouchRead, at, 0, row)
		case ByRow:
			touch(driver.TouchRead, at, from/row*typ.Size(), bytes/row*typ.Size())
		}
	}
	touch(driver.TouchWrite, x.p[x.lands.made], from, bytes)
}

// exchanged is the block's part of a tensor for each peer, its posts, and its waits.
func (x *landed) exchanged(tensors []uint64) {
	p, rank := x.p, int(x.p[x.lands.rank])
	word := uint64(x.from) // in a part: a packet is its own flag
	if x.Kind == Push {
		word = p[x.lands.word] + uint64(x.block)*p[x.lands.next]
	}
	flag := func(value uint32) driver.Touch {
		return driver.Touch{Bytes: 4, Value: value, Flag: x.Kind != Push}
	}
	first, _ := slices.BinarySearch(x.others, rank)
	peers := slices.Concat(x.others[first:], x.others[:first]) // from the next rank on
	for _, r := range peers {
		x.data(driver.TouchRead, tensors[r])
		x.packet(driver.TouchWrite, x.to[r]+uint64(x.from), driver.Touch{Bytes: x.bytes, Type: x.typ})
	}
	for _, r := range peers {
		x.packet(driver.TouchPost, x.to[r]+word, flag(1))
	}
	for _, r := range x.others {
		x.packet(driver.TouchWait, x.part(r)+word, flag(1))
	}
	for _, r := range x.others {
		x.packet(driver.TouchWrite, x.part(r)+word, flag(0))
	}
	if len(x.others) > 0 {
		x.note()
	}
}

// added is the sum of what landed, of the own part, and of a tensor.
func (x *landed) added(own, dst uint64) {
	for _, r := range x.ranks() {
		x.taken(r, own)
	}
	if x.Added {
		x.data(driver.TouchRead, x.p[x.lands.added])
	}
	x.data(driver.TouchWrite, dst)
}

// put is the parts of ranks that landed, or the own one, one after another.
func (x *landed) put(ranks []int, own, dst uint64, bytes int64) {
	for _, r := range ranks {
		x.taken(r, own)
		x.data(driver.TouchWrite, dst+uint64(int64(r)*bytes))
	}
}

// ranks are all.
func (x *landed) ranks() (list []int) {
	for r := range len(x.to) {
		list = append(list, r)
	}
	return list
}

// taken is a rank's part: of what landed, or the own one.
func (x *landed) taken(rank int, own uint64) {
	if rank == int(x.p[x.lands.rank]) {
		x.data(driver.TouchRead, own)
		return
	}
	x.packet(driver.TouchRead, x.part(rank)+uint64(x.from), driver.Touch{Bytes: x.bytes, Type: x.typ})
}

// part is a rank's part of the own landing.
func (x *landed) part(rank int) uint64 { return x.own + uint64(rank)*x.p[x.lands.part] }

func (x *landed) data(kind driver.TouchKind, at uint64) {
	x.add(driver.Touch{Kind: kind, At: driver.Ptr(at + uint64(x.from)), Bytes: x.bytes, Type: x.typ})
}

func (x *landed) packet(kind driver.TouchKind, at uint64, t driver.Touch) {
	t.Kind, t.At, t.Packets = kind, driver.Ptr(at), x.Kind != Push
	t.Turn, t.Half = driver.Ptr(x.turn+4*uint64(x.block)), int64(x.p[x.lands.half])
	x.add(t)
}
