package kernels

import (
	"unsafe"

	"ovgen/runtime/driver"
)

// launched are the parameters of one launch, and its touches so far.
type launched struct {
	layout
	p  []uint64
	to []driver.Touch
}

// touches lists the touches of a launch of a kernel, in order; typ is the element type of a
// sum.
func (l layout) touches(typ driver.Type) func(unsafe.Pointer, []driver.Touch) []driver.Touch {
	return func(params unsafe.Pointer, to []driver.Touch) []driver.Touch {
		x := launched{l, unsafe.Slice((*uint64)(params), l.size), to}
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
		x.before()
		x.work(typ)
		x.after()
		return x.to
	}
}

func (x *launched) add(t driver.Touch) { x.to = append(x.to, t) }

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

// note adds the step word, which a wait that has ended writes.
func (x *launched) note() {
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
	if x.Signals() && x.p[x.block] != 0 {
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
	bytes *= typ.Size()
	n := x.Terms
	if x.Varies {
		n = int(x.p[x.n])
	}
	for _, term := range x.p[x.terms : x.terms+n] {
		x.add(driver.Touch{Kind: driver.TouchRead, At: driver.Ptr(term), Bytes: bytes, Type: typ})
	}
	if x.Row {
		x.add(driver.Touch{Kind: driver.TouchRead, At: driver.Ptr(x.p[x.row]), Bytes: int64(x.p[x.row+1]) * typ.Size(),
			Type: typ})
	}
	x.add(driver.Touch{Kind: driver.TouchWrite, At: driver.Ptr(x.p[x.dst]), Bytes: bytes, Type: typ})
}

func (x *launched) after() {
	x.counted()
	x.reset(preWait)
	x.each(driver.TouchPost, 1, postPost)
	x.each(driver.TouchWait, 1, postWait)
	x.reset(postWait)
}
