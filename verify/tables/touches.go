package tables

import (
	"cmp"
	"slices"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/kernels"
	"ovgen/verify/touch"
)

// launched has the parameters of one launch, and its touches so far.
type launched struct {
	kernels.Row
	p  []uint64
	to []touch.Touch
	// number is the block that is being listed, from 1; 0: blocks are not listed separately.
	number int
	first  int64 // element of the sum with which a block's part begins
	apart  int64 // bytes between the places to which a gather copies two tensors in a row
}

// ofTable lists the touches of a kernel of a table.
func ofTable(row kernels.Row) touch.Func {
	return func(params unsafe.Pointer, to []touch.Touch) []touch.Touch {
		x := launched{Row: row, p: unsafe.Slice((*uint64)(params), row.At.Size), to: to}
		x.list()
		return x.to
	}
}

func (x *launched) list() {
	switch {
	case x.Kind == kernels.Wait:
		for _, w := range x.words(kernels.PreWait) {
			x.word(touch.Wait, w, 1)
			x.word(touch.Write, w, 0)
		}
		x.note()
	case x.Kind == kernels.Post:
		x.each(touch.Post, 1, kernels.PostPost)
	case x.Scatters():
		x.scatter()
	case x.Multiplies():
		x.tiles()
	case x.Lands():
		x.packets()
	case x.Makes():
		x.makes()
	case x.ByBlocks:
		x.blocks()
	default:
		if x.Gathers() {
			x.apart = int64(x.p[x.At.Bytes])
		}
		x.whole()
	}
}

// whole lists the work, with the touches before and after it.
func (x *launched) whole() {
	x.before()
	x.work()
	x.after()
}

// blocks lists the touches of each block, one after the other.
func (x *launched) blocks() {
	blocks := int64(x.p[x.At.Block])
	all := slices.Clone(x.p)
	for b := range blocks {
		x.p, x.number = slices.Clone(all), int(b)+1
		for _, l := range x.At.Lists {
			for i := l.At; i < l.At+l.Most; i++ {
				if x.p[i] != 0 {
					x.p[i] += uint64(4 * b * int64(all[x.At.Away]))
				}
			}
		}
		x.part(b, blocks)
		x.whole()
	}
}

// part moves the work to the part of one block.
func (x *launched) part(block, blocks int64) {
	size := int64(1)
	if x.Sums() {
		size = x.Type.Size()
	}
	x.apart = int64(x.p[x.At.Bytes]) * size
	from, bytes := kernels.Part(x.apart, block, blocks)
	x.p[x.At.Bytes] = uint64(bytes / size)
	x.p[x.At.Dst] += uint64(from)
	if x.Copies() {
		x.p[x.At.Src] += uint64(from)
		return
	}
	for t := range x.Terms {
		x.p[x.At.Terms+t] += uint64(from)
	}
	x.first = from / size
}

func (x *launched) add(t touch.Touch) {
	t.Block = x.number
	x.to = append(x.to, t)
}

// words are the addresses of the words at one place.
func (x *launched) words(place int) []uint64 {
	list := x.At.Lists[place]
	n := list.Most
	if x.Words()[place] == kernels.EachPeer {
		n = int(x.p[x.At.Count])
	}
	return x.p[list.At : list.At+n]
}

func (x *launched) word(kind touch.Kind, at uint64, value uint32) {
	x.add(touch.Touch{Kind: kind, At: driver.Ptr(at), Bytes: 4, Value: value})
}

// noted adds the step word, where the launch has one.
func (x *launched) noted() {
	if at := x.p[x.At.Step]; at != 0 {
		x.word(touch.Write, at, uint32(x.p[x.At.Value]))
	}
}

// each adds the words of one place.
func (x *launched) each(kind touch.Kind, value uint32, place int) {
	for _, w := range x.words(place) {
		if w != 0 { // the first launch has no words
			x.word(kind, w, value)
		}
	}
}

// note adds the step word, which a wait writes when it has ended; by blocks, only the first block writes it.
func (x *launched) note() {
	if x.number <= 1 {
		x.noted()
	}
}

// reset adds the end of a wait, where there is a wait: its words are reset to 0, and the step word is written.
func (x *launched) reset(place int) {
	if len(x.words(place)) > 0 {
		x.each(touch.Write, 0, place)
		x.note()
	}
}

// counted adds the word in which blocks count themselves, both when they start and when they finish.
func (x *launched) counted() {
	if x.Signals() && !x.ByBlocks && x.p[x.At.Block] != 0 {
		x.word(touch.Write, x.p[x.At.Block], 0)
	}
}

func (x *launched) before() {
	x.counted()
	x.each(touch.Post, 1, kernels.PrePost)
	x.each(touch.Wait, 1, kernels.PreWait)
}

func (x *launched) work() {
	bytes := int64(x.p[x.At.Bytes])
	if x.Copies() {
		x.add(touch.Touch{Kind: touch.Read, At: driver.Ptr(x.p[x.At.Src]), Bytes: bytes})
		x.add(touch.Touch{Kind: touch.Write, At: driver.Ptr(x.p[x.At.Dst]), Bytes: bytes})
		return
	}
	n := x.Terms
	if x.Varies {
		n = int(x.p[x.At.N])
	}
	terms, to := x.p[x.At.Terms:x.At.Terms+n], driver.Ptr(x.p[x.At.Dst])
	if x.Gathers() {
		for t, from := range terms {
			x.add(touch.Touch{Kind: touch.Read, At: driver.Ptr(from), Bytes: bytes})
			x.add(touch.Touch{Kind: touch.Write, At: to + driver.Ptr(int64(t)*x.apart), Bytes: bytes})
		}
		return
	}
	made := x.To(x.Type)
	for i, term := range terms {
		typ, elements := cmp.Or(x.Coded, x.Type), bytes
		if x.Coded != 0 && i >= n/2 { // scales
			typ, elements = driver.FP32, bytes/max(int64(x.p[x.At.Scaled]), 1)
		}
		x.add(touch.Touch{Kind: touch.Read, At: driver.Ptr(term), Bytes: elements * typ.Size(), Type: typ})
	}
	x.finish(x.first, bytes)
	x.add(touch.Touch{Kind: touch.Write, At: to, Bytes: bytes * made.Size(), Type: made})
}

func (x *launched) after() {
	x.counted()
	x.reset(kernels.PreWait)
	x.each(touch.Post, 1, kernels.PostPost)
	x.each(touch.Wait, 1, kernels.PostWait)
	x.reset(kernels.PostWait)
}
