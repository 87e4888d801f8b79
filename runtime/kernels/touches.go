package kernels

import (
	"slices"
	"unsafe"

	"ovgen/runtime/driver"
)

// launched are the parameters of one launch, and its touches so far.
type launched struct {
	layout
	p  []uint64
	to []driver.Touch
	// number of the block that is being listed, from 1; 0: blocks are not listed apart.
	number int
	apart  int64 // bytes from where a gather puts a tensor to where it puts the next
}

// touches lists the touches of a launch of a kernel, in order; typ is the element type of a
// sum.
func (l layout) touches(typ driver.Type) func(unsafe.Pointer, []driver.Touch) []driver.Touch {
	return func(params unsafe.Pointer, to []driver.Touch) []driver.Touch {
		x := launched{layout: l, p: unsafe.Slice((*uint64)(params), l.size), to: to}
		switch l.Kind {
		case Wait:
			for _, w := range x.words(preWait) {
				x.add(driver.Touch{Kind: driver.TouchWait, At: driver.Ptr(w), Bytes: 4, Value: 1})
				x.add(driver.Touch{Kind: driver.TouchWrite, At: driver.Ptr(w), Bytes: 4})
			}
			x.note()
			return x.to
		case Post:
			x.each(driver.TouchPost, 1, postPost)
			return x.to
		}
		switch {
		case l.Scatters():
			x.scatter(typ)
			return x.to
		case l.Multiplies():
			x.tiles(typ)
			return x.to
		}
		if l.Lands() {
			x.packets(typ)
			return x.to
		}
		if l.Makes() {
			x.makes(typ)
			return x.to
		}
		if l.ByBlocks {
			x.blocks(typ)
			return x.to
		}
		x.apart = 0
		if x.Gathers() {
			x.apart = int64(x.p[x.bytes])
		}
		x.before()
		x.work(typ)
		x.after()
		return x.to
	}
}

// blocks lists the touches of each block, one after the other.
func (x *launched) blocks(typ driver.Type) {
	blocks := int64(x.p[x.block])
	all := slices.Clone(x.p)
	for b := range blocks {
		x.p, x.number = slices.Clone(all), int(b)+1
		for _, l := range x.lists {
			for i := l.at; i < l.at+l.most; i++ {
				if x.p[i] != 0 {
					x.p[i] += uint64(4 * b * int64(all[x.away]))
				}
			}
		}
		x.part(typ, b, blocks)
		x.before()
		x.work(typ)
		x.after()
	}
}

// part moves the work to the part of one block.
func (x *launched) part(typ driver.Type, block, blocks int64) {
	size := int64(1)
	if x.Sums() {
		size = typ.Size()
	}
	x.apart = int64(x.p[x.bytes]) * size
	from, bytes := part(x.apart, block, blocks)
	x.p[x.bytes] = uint64(bytes / size)
	x.p[x.dst] += uint64(from)
	if x.Copies() {
		x.p[x.src] += uint64(from)
		return
	}
	for t := range x.Terms {
		x.p[x.terms+t] += uint64(from)
	}
}

// unit is the bytes that blocks share out: a line of memory.
const unit = 128

// part is the offset and the length of a block's part of some bytes.
func part(bytes, block, blocks int64) (from, count int64) {
	each := ((bytes+blocks-1)/blocks + unit - 1) / unit * unit
	from = min(block*each, bytes)
	return from, min(each, bytes-from)
}

func (x *launched) add(t driver.Touch) {
	t.Block = x.number
	x.to = append(x.to, t)
}

// words are the addresses at one place.
func (x *launched) words(place int) []uint64 {
	list := x.lists[place]
	n := list.most
	if x.layout.Kernel.words()[place] == EachPeer {
		n = int(x.p[x.count])
	}
	return x.p[list.at : list.at+n]
}

// each adds the words of one place.
func (x *launched) each(kind driver.TouchKind, value uint32, place int) {
	for _, w := range x.words(place) {
		if w != 0 { // the first launch has none
			x.add(driver.Touch{Kind: kind, At: driver.Ptr(w), Bytes: 4, Value: value})
		}
	}
}

// note adds the step word, which a wait that has ended writes; by blocks, the first one's.
func (x *launched) note() {
	if x.number > 1 {
		return
	}
	if at := x.p[x.step]; at != 0 {
		x.add(driver.Touch{Kind: driver.TouchWrite, At: driver.Ptr(at), Bytes: 4, Value: uint32(x.p[x.value])})
	}
}

// reset adds the end of a wait, where there is one: its words are taken back to 0, and the step is noted.
func (x *launched) reset(place int) {
	if len(x.words(place)) > 0 {
		x.each(driver.TouchWrite, 0, place)
		x.note()
	}
}

// counted adds the word in which blocks count themselves, as they start and as they finish.
func (x *launched) counted() {
	if x.Signals() && !x.ByBlocks && x.p[x.block] != 0 {
		x.add(driver.Touch{Kind: driver.TouchWrite, At: driver.Ptr(x.p[x.block]), Bytes: 4})
	}
}

func (x *launched) before() {
	x.counted()
	x.each(driver.TouchPost, 1, prePost)
	x.each(driver.TouchWait, 1, preWait)
}

func (x *launched) work(typ driver.Type) {
	bytes := int64(x.p[x.bytes])
	if x.Copies() {
		x.add(driver.Touch{Kind: driver.TouchRead, At: driver.Ptr(x.p[x.src]), Bytes: bytes})
		x.add(driver.Touch{Kind: driver.TouchWrite, At: driver.Ptr(x.p[x.dst]), Bytes: bytes})
		return
	}
	n := x.Terms
	if x.Varies {
		n = int(x.p[x.n])
	}
	terms, to := x.p[x.terms:x.terms+n], driver.Ptr(x.p[x.dst])
	if x.Gathers() {
		for t, from := range terms {
			x.add(driver.Touch{Kind: driver.TouchRead, At: driver.Ptr(from), Bytes: bytes})
			x.add(driver.Touch{Kind: driver.TouchWrite, At: to + driver.Ptr(int64(t)*x.apart), Bytes: bytes})
		}
		return
	}
	made := x.To(typ)
	for _, term := range terms {
		x.add(driver.Touch{Kind: driver.TouchRead, At: driver.Ptr(term), Bytes: bytes * typ.Size(), Type: typ})
	}
	rows := x.Rows
	if bytes == 0 { // then no row is read
		rows = 0
	}
	for i := range rows {
		x.add(driver.Touch{Kind: driver.TouchRead, At: driver.Ptr(x.p[x.rows+i]),
			Bytes: int64(x.p[x.wide]) * typ.Size(), Type: typ})
	}
	x.add(driver.Touch{Kind: driver.TouchWrite, At: to, Bytes: bytes * made.Size(), Type: made})
}

func (x *launched) after() {
	x.counted()
	x.reset(preWait)
	x.each(driver.TouchPost, 1, postPost)
	x.each(driver.TouchWait, 1, postWait)
	x.reset(postWait)
}
