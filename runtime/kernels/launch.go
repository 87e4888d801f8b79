package kernels

import (
	"fmt"
	"unsafe"

	"ovgen/runtime/driver"
	"ovgen/runtime/plan"
)

// Set has the kernels that one plan launches.
type Set struct {
	Summing
	element driver.Type
	kernels []*kernel
}

// kernel is a kernel of a Set, with the parameters of the launch that is being enqueued.
type kernel struct {
	Layout
	handle *plan.Kernel
	params []uint64
	mapped []driver.TensorMapDesc // by the parameters of a product
}

// Declare declares the kernels to a builder of a plan; sums are of elements of type typ.
func (t *Table) Declare(b *plan.Builder, typ driver.Type) *Set {
	s := &Set{element: typ}
	s.set = s
	for _, k := range t.Kernels {
		l := t.layout(k)
		s.kernels = append(s.kernels, &kernel{Layout: l, handle: b.Kernel(k.Name(typ)),
			params: make([]uint64, l.At.Size), mapped: make([]driver.TensorMapDesc, k.maps())})
	}
	for _, k := range t.Kernels {
		if k.Multiplies() && len(t.Alike(k)) > 1 {
			b.Tiles(k.Base())
		}
	}
	return s
}

// Wait makes the stream wait for the posts of the given peers, or of all peers if none is given.
func (s *Set) Wait(q *plan.Queue, on *plan.Stream, sem *plan.Semaphore, peers ...int) {
	words, step, value := q.WaitWords(on, sem, peers...)
	k := s.kernel(q, Wait, nil, false)
	if k == nil {
		return
	}
	k.put(PreWait, words)
	k.params[k.At.Step], k.params[k.At.Value] = uint64(step), uint64(value)
	k.enqueue(q, on, 1, max(len(words), 1))
}

// Post sets a word at each of the given peers, or at all peers if none is given.
func (s *Set) Post(q *plan.Queue, on *plan.Stream, sem *plan.Semaphore, peers ...int) {
	words := q.PostWords(on, sem, peers...)
	k := s.kernel(q, Post, nil, false)
	if k == nil {
		return
	}
	k.put(PostPost, words)
	k.enqueue(q, on, 1, max(len(words), 1))
}

// Copy copies bytes from src to dst.
func (s *Set) Copy(q *plan.Queue, on *plan.Stream, dst, src driver.Ptr, bytes int64) {
	if q.Idle(on, bytes) {
		return
	}
	s.kernel(q, Copy, nil, false).copy(q, on, dst, src, bytes)
}

// Get waits, copies bytes from a peer's src to dst, and posts.
func (s *Set) Get(q *plan.Queue, on *plan.Stream, x plan.Signals, dst, src driver.Ptr, bytes int64) {
	s.signal(q, on, Get, x).copy(q, on, dst, src, bytes)
}

// Put waits, copies bytes from src to a peer's dst, and posts.
func (s *Set) Put(q *plan.Queue, on *plan.Stream, x plan.Signals, dst, src driver.Ptr, bytes int64) {
	s.signal(q, on, Put, x).copy(q, on, dst, src, bytes)
}

// Gather copies tensors of equal size in bytes to consecutive places from dst on. Before and after, it posts to every
// peer and waits for all peers.
func (s *Set) Gather(q *plan.Queue, on *plan.Stream, x plan.Signals, dst driver.Ptr, bytes int64,
	tensors ...driver.Ptr) {
	x.From, x.To = plan.EveryPeer, plan.EveryPeer
	s.signal(q, on, Gather, x).terms(q, on, 1, dst, bytes, tensors)
}

// fits reports whether the kernel was made for these signals.
func (k *kernel) fits(x *plan.Signals) bool {
	words := func(sem *plan.Semaphore, peer int) Words {
		switch {
		case sem == nil:
			return 0
		case peer == plan.EveryPeer:
			return EachPeer
		}
		return One
	}
	return k.ByBlocks == x.ByBlocks() && k.Words() == [4]Words{
		words(x.PrePost, plan.EveryPeer), words(x.PreWait, x.From),
		words(x.PostPost, x.To), words(x.PostWait, plan.EveryPeer)}
}

// signal counts the step of a kernel that signals around its work, and fills in its words.
func (s Summing) signal(q *plan.Queue, on *plan.Stream, kind Kind, x plan.Signals) *kernel {
	k := s.kernel(q, kind, &x, false)
	if k == nil {
		return nil
	}
	return k.signal(q, on, x)
}

// signal counts the step, and fills in the words.
func (k *kernel) signal(q *plan.Queue, on *plan.Stream, x plan.Signals) *kernel {
	w := q.StepWords(on, string(k.Kind), x)
	k.put(PrePost, w.PrePost)
	k.put(PreWait, w.PreWait)
	k.put(PostPost, w.PostPost)
	k.put(PostWait, w.PostWait)
	if k.Waits() {
		k.params[k.At.Step], k.params[k.At.Value] = uint64(w.Step), uint64(w.Value)
	}
	if k.ByBlocks {
		k.params[k.At.Away] = uint64(w.Stride)
	}
	if k.counts() {
		k.params[k.At.Block] = uint64(q.CountWord(on))
	}
	return k
}

// put fills in the words of one of the kernel's lists.
func (k *kernel) put(place int, words []driver.Ptr) {
	for i, w := range words {
		k.params[k.At.Lists[place].At+i] = uint64(w)
	}
	if k.Words()[place] == EachPeer {
		k.params[k.At.Count] = uint64(len(words))
	}
}

func (k *kernel) copy(q *plan.Queue, on *plan.Stream, dst, src driver.Ptr, bytes int64) {
	if k == nil {
		return
	}
	k.params[k.At.Dst], k.params[k.At.Src], k.params[k.At.Bytes] = uint64(dst), uint64(src), uint64(bytes)
	k.work(q, on, bytes)
}

// terms launches a sum or a gather; unit is the bytes of an element.
func (k *kernel) terms(q *plan.Queue, on *plan.Stream, unit int64, dst driver.Ptr, bytes int64, terms []driver.Ptr) {
	if k == nil {
		return
	}
	if n := len(terms); n > k.Terms || n < k.Terms && !k.Varies {
		q.Fail(fmt.Errorf("launch kernel %s of %d terms: it was made for %d", k.Base(), n, k.Terms))
		return
	}
	k.params[k.At.Dst], k.params[k.At.Bytes] = uint64(dst), uint64(bytes/unit)
	if k.Varies {
		k.params[k.At.N] = uint64(len(terms))
	}
	for i, x := range terms {
		k.params[k.At.Terms+i] = uint64(x)
	}
	k.work(q, on, bytes)
}

// work launches as many blocks as the bytes take at 16 bytes a thread, up to the most blocks of the kind. Where the
// kernel works by blocks, all ranks have as many: kernels at both ends of a semaphore work on equal parts.
func (k *kernel) work(q *plan.Queue, on *plan.Stream, bytes int64) {
	most := k.Kind.Blocks()
	if k.ByBlocks {
		most = plan.MostBlocks
	}
	blocks, threads := int(min(bytes/(16*threads)+1, most)), threads
	switch {
	case k.Lands() && k.Makes():
		row := k.params[k.At.Given] * (uint64(bytes) / max(k.params[k.At.Bytes], 1)) // bytes of a row
		var each int64
		blocks, each = rowGrid(bytes/int64(row), int64(row), k.Kind.row().sends.whole(k))
		k.params[k.At.Lands.Rows] = uint64(each)
		threads /= int(k.Each())
	case k.Lands():
		blocks, threads = packetGrid(bytes, k.Finish != nil)
	}
	if k.ByBlocks {
		k.params[k.At.Block] = uint64(blocks)
	}
	k.enqueue(q, on, blocks, threads)
}

// enqueue launches the kernel, in one dimension.
func (k *kernel) enqueue(q *plan.Queue, on *plan.Stream, grid, block int) {
	dim := func(x int) driver.Dim3 { return driver.Dim3{X: uint32(x), Y: 1, Z: 1} }
	q.Launch(on, k.handle, dim(grid), dim(block), unsafe.Pointer(&k.params[0]))
}
