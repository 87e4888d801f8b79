package kernels

import (
	"errors"
	"slices"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// landing are places of the parameters of a kernel of packets, in 64-bit words.
type landing struct {
	to   int // addresses, by rank: this rank's part of that rank's landing
	from int // address of the own landing
	part int // bytes of a part of it
	half int // bytes from one half to the other
	turn int // address of the first block's word that says which half it is
	rank int
	word int // bytes from a part to its first block's word, where plain data lands, or to the words beside packets
	next int // bytes from a block's word to the next one's
	// added is the address of the tensor that is added to the sum.
	added int
	// rows are how many of the sum each block has, made is the address of what a function of rows makes of it, and
	// beside the first one's of those that it reads beside the sum.
	rows, made, beside int
}

// land lays out the parameters behind the terms.
func (l *layout) land(next func(words int) int) {
	l.lands = landing{to: next(l.Terms), from: next(1), part: next(1), half: next(1), turn: next(1), rank: next(1),
		word: next(1)}
	if l.Kind == Push {
		l.lands.next = next(1)
	}
	if l.Added {
		l.lands.added = next(1)
	}
	if l.Makes() {
		l.lands.rows, l.lands.made = next(1), next(1)
		l.lands.beside, l.given = next(len(l.Made.Operands)-1), next(l.numbers())
	}
}

// Lands reports whether the kernel sends packets and takes the packets that land.
func (k Kernel) Lands() bool { return k.Kind.Work() == Lands || k.Kind.Work() == LandsApart }

// Packets sends each rank its part, of bytes bytes, as packets, and sets dst to the sum of the own part and of the
// parts that land, in the order of ranks. parts are by rank; the own one stays.
func (s *Set) Packets(q *plan.Queue, on *plan.Stream, landing *plan.Packets, dst driver.Ptr, bytes int64,
	parts ...driver.Ptr) {
	WithAdded{set: s}.Packets(q, on, landing, dst, bytes, parts...)
}

// Push is Packets of plain data.
func (s *Set) Push(q *plan.Queue, on *plan.Stream, landing *plan.Packets, dst driver.Ptr, bytes int64,
	parts ...driver.Ptr) {
	WithAdded{set: s}.Push(q, on, landing, dst, bytes, parts...)
}

// WithAdded is a set whose sums of packets add a tensor, last, and make what a function of rows says.
type WithAdded struct {
	set   *Set
	adds  bool
	added driver.Ptr
	word  string // of the function; "": none
}

// Adding is the set with such a tensor, which is as large as the sum.
func (s *Set) Adding(tensor driver.Ptr) WithAdded {
	return WithAdded{set: s, adds: true, added: tensor}
}

// Making is WithAdded.Making without a tensor that is added.
func (s *Set) Making(m Making, dst driver.Ptr, operands ...driver.Ptr) WithAdded {
	return WithAdded{set: s}.Making(m, dst, operands...)
}

// Making is the set whose next sum of packets sets dst to what a function makes of it and of operands. Each block has
// whole rows of the sum.
func (w WithAdded) Making(m Making, dst driver.Ptr, operands ...driver.Ptr) WithAdded {
	w.word = m.word
	k := w.find(Packets)
	if k == nil || len(operands) != len(k.Made.Operands)-1 || m.count != k.numbers() || m.given[0] == 0 {
		w.word += " of other operands" // no kernel has this word
		return w
	}
	k.params[k.lands.made] = uint64(dst)
	for i, x := range operands {
		k.params[k.lands.beside+i] = uint64(x)
	}
	copy(k.params[k.layout.given:], m.given[:m.count])
	return w
}

// find is the kernel of a kind that adds as many tensors and makes the function; nil: the package has none.
func (w WithAdded) find(kind Kind) *kernel {
	return w.set.landing(kind, w.adds, w.word)
}

// Packets is Set.Packets with the tensor.
func (w WithAdded) Packets(q *plan.Queue, on *plan.Stream, landing *plan.Packets, dst driver.Ptr, bytes int64,
	parts ...driver.Ptr) {
	w.sum(q, on, Packets, landing, dst, bytes, parts)
}

// Push is Set.Push with the tensor.
func (w WithAdded) Push(q *plan.Queue, on *plan.Stream, landing *plan.Packets, dst driver.Ptr, bytes int64,
	parts ...driver.Ptr) {
	w.sum(q, on, Push, landing, dst, bytes, parts)
}

// sum launches the kernel.
func (w WithAdded) sum(q *plan.Queue, on *plan.Stream, kind Kind, landing *plan.Packets, dst driver.Ptr, bytes int64,
	parts []driver.Ptr) {
	k := w.set.send(q, on, w.find(kind), landing)
	if k == nil {
		return
	}
	if w.adds {
		k.params[k.lands.added] = uint64(w.added)
	}
	k.terms(q, on, w.set.element.Size(), dst, bytes, parts)
}

// PacketGather sends each rank its part, of bytes bytes, as packets, and puts the own part and the parts that land one
// after another from dst on, in the order of ranks.
func (s *Set) PacketGather(q *plan.Queue, on *plan.Stream, landing *plan.Packets, dst driver.Ptr, bytes int64,
	parts ...driver.Ptr) {
	if k := s.send(q, on, s.landing(PacketGather, false, ""), landing); k != nil {
		k.terms(q, on, 1, dst, bytes, parts)
	}
}

// landing is the kernel of a kind that adds a tensor or none, and makes the function of a word or none; nil: the
// package has none.
func (s *Set) landing(kind Kind, adds bool, word string) *kernel {
	for _, k := range s.kernels {
		if k.Kind == kind && k.Added == adds && (k.Makes() && k.Made.Word == word || !k.Makes() && word == "") {
			return k
		}
	}
	return nil
}

// send counts the step of a kernel of packets, and fills in where they land.
func (s *Set) send(q *plan.Queue, on *plan.Stream, k *kernel, landing *plan.Packets) *kernel {
	if k == nil {
		q.Fail(errors.New("launch a kernel that takes what lands: the package has none that adds and makes the same"))
		return nil
	}
	w := q.PacketWords(on, landing, string(k.Kind))
	p := k.params
	for r, at := range w.To {
		p[k.lands.to+r] = uint64(at)
	}
	p[k.lands.from], p[k.lands.part], p[k.lands.half] = uint64(w.From), uint64(w.Part), uint64(w.Half)
	p[k.lands.turn], p[k.lands.rank] = uint64(w.Turn), uint64(q.Rank())
	p[k.step], p[k.value] = uint64(w.Step), uint64(w.Value)
	p[k.lands.word] = uint64(w.Flags)
	if k.Kind == Push {
		p[k.lands.next] = 4
	}
	return k
}

// rowGrid returns how many blocks send rows of so many bytes each, and how many rows each block has at most. Its part
// begins at 16 bytes, since packets go by four, and a block of few bytes would not pay.
func rowGrid(rows, bytes int64) (blocks int, each int64) {
	const least = 4096
	whole := int64(1) // rows of whole 16 bytes
	for whole*bytes%16 != 0 {
		whole *= 2
	}
	each = max((rows+plan.MostPacketBlocks-1)/plan.MostPacketBlocks, (least+bytes-1)/bytes)
	each = (each + whole - 1) / whole * whole
	return int((rows + each - 1) / each), each
}

// packetGrid returns the number of blocks, and of threads in each, that send this many bytes; each block sends a part
// of whole lines. Units of 16 bytes a thread and few threads are the fastest on H200s, until the blocks are the most
// allowed.
func packetGrid(bytes int64) (blocks, threads int) {
	const each = 16
	for threads = 256; threads < 512 && bytes > each*int64(threads*plan.MostPacketBlocks); {
		threads *= 2
	}
	unit := each * int64(threads)
	most := min((bytes+unit-1)/unit, plan.MostPacketBlocks)
	_, whole := part(bytes, 0, max(most, 1))
	return int(max(1, (bytes+whole-1)/max(whole, 1))), threads
}

// packets adds the touches of each block. A block sends its part to each peer, which posts it, awaits the parts that
// land, and adds them up or copies them.
func (x *launched) packets(typ driver.Type) {
	p, l := x.p, x.layout.lands
	all, blocks, adds := int64(p[x.bytes]), int64(p[x.block]), x.Computes()
	if adds {
		all *= typ.Size()
	}
	ranks, rank := int(p[x.n]), int(p[l.rank])
	var peers, others []int // from the next rank on; in the order of ranks
	for i := 1; i < ranks; i++ {
		peers = append(peers, (rank+i)%ranks)
	}
	others = slices.Sorted(slices.Values(peers))
	for b := range blocks {
		x.number = int(b) + 1
		from, bytes := part(all, b, blocks)
		if x.Makes() {
			each := int64(p[l.rows]*p[x.given]) * typ.Size()
			from = min(b*each, all)
			bytes = min(each, all-from)
		}
		packet := func(kind driver.TouchKind, at uint64, t driver.Touch) {
			t.Kind, t.At, t.Packets = kind, driver.Ptr(at), x.Kind != Push
			t.Turn, t.Half = driver.Ptr(p[l.turn]+4*uint64(b)), int64(p[l.half])
			x.add(t)
		}
		lands, word := uint64(from), uint64(from) // in a part: a packet is its own flag
		if x.Kind == Push {
			word = p[l.word] + uint64(b)*p[l.next]
		}
		data := func(kind driver.TouchKind, at uint64) {
			x.add(driver.Touch{Kind: kind, At: driver.Ptr(at + uint64(from)), Bytes: bytes, Type: typ})
		}
		landed := driver.Touch{Bytes: bytes, Type: typ}
		flag := func(value uint32) driver.Touch {
			return driver.Touch{Bytes: 4, Value: value, Flag: x.Kind != Push}
		}
		own := func(rank int) uint64 { return p[l.from] + uint64(rank)*p[l.part] }
		for _, r := range peers {
			data(driver.TouchRead, p[x.layout.terms+r])
			packet(driver.TouchWrite, p[l.to+r]+lands, landed)
		}
		for _, r := range peers {
			packet(driver.TouchPost, p[l.to+r]+word, flag(1))
		}
		for _, r := range others {
			packet(driver.TouchWait, own(r)+word, flag(1))
		}
		for _, r := range others {
			packet(driver.TouchWrite, own(r)+word, flag(0))
		}
		if ranks > 1 {
			x.note()
		}
		for r := range ranks {
			if r == rank {
				data(driver.TouchRead, p[x.layout.terms+r])
			} else {
				packet(driver.TouchRead, own(r)+lands, landed)
			}
			if !adds {
				data(driver.TouchWrite, p[x.dst]+uint64(int64(r)*all))
			}
		}
		if x.Added {
			data(driver.TouchRead, p[l.added])
		}
		if adds {
			data(driver.TouchWrite, p[x.dst])
		}
		if x.Makes() {
			x.makesRows(typ, from, bytes)
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
