package sim

import (
	"sync/atomic"
	"unsafe"

	"ovgen/runtime/driver"
)

// MemcpyHtoD copies from the host by the legacy stream and waits for it.
func (c *Context) MemcpyHtoD(dst driver.Ptr, src []byte) error {
	return c.copyNow("cuMemcpyHtoD", task{kind: copyIn, dst: dst, host: src, bytes: int64(len(src))}, dst)
}

// MemcpyDtoH copies to the host by the legacy stream and waits for it.
func (c *Context) MemcpyDtoH(dst []byte, src driver.Ptr) error {
	return c.copyNow("cuMemcpyDtoH", task{kind: copyOut, src: src, host: dst, bytes: int64(len(dst))}, src)
}

func (c *Context) copyNow(call string, t task, device driver.Ptr) error {
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	if t.bytes == 0 {
		return nil
	}
	if c.bytes(device, t.bytes) == nil {
		return fail(call, invalidValue)
	}
	o, err := c.enqueue(call, 0, &t, 1)
	if err != nil {
		return err
	}
	return c.drain(call, o.stream, o.number)
}

// MemcpyDtoDAsync enqueues a copy.
func (c *Context) MemcpyDtoDAsync(dst, src driver.Ptr, bytes int64, s driver.Stream) error {
	return c.copyLater("cuMemcpyDtoDAsync", task{kind: copyMemory, dst: dst, src: src, bytes: bytes}, s)
}

// MemcpyDtoHAsync enqueues a copy to registered host memory.
func (c *Context) MemcpyDtoHAsync(dst unsafe.Pointer, src driver.Ptr, bytes int64, s driver.Stream) error {
	return c.copyLater("cuMemcpyDtoHAsync", task{kind: copyOut, dst: driver.Ptr(uintptr(dst)), src: src, bytes: bytes},
		s)
}

func (c *Context) copyLater(call string, t task, s driver.Stream) error {
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	if t.bytes < 0 || c.bytes(t.dst, t.bytes) == nil || c.bytes(t.src, t.bytes) == nil {
		return fail(call, invalidValue)
	}
	_, err := c.enqueue(call, s, &t, 1)
	return err
}

// MemsetD32Async enqueues a fill.
func (c *Context) MemsetD32Async(dst driver.Ptr, value uint32, words int64, s driver.Stream) error {
	const call = "cuMemsetD32Async"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	if words < 0 || words > 1<<40 || dst%4 != 0 || c.bytes(dst, 4*words) == nil {
		return fail(call, invalidValue)
	}
	_, err := c.enqueue(call, s, &task{kind: setMemory, dst: dst, value: value, bytes: 4 * words}, 1)
	return err
}

// beginCopy cuts a copy into pieces, each of which is read at one moment and
// written at another.
func (w *World) beginCopy(o *op) {
	pieces := 1
	if !w.real && o.bytes >= 64 {
		pieces += w.random.IntN(3)
	}
	o.steps = 1 + 2*pieces
	words := accessKind(0)
	if o.kind == copyOut {
		words = accessWord // an aligned word is read whole
	}
	if o.kind != copyIn {
		w.access(o, o.src, o.bytes, words)
	}
	if o.kind == copyIn || o.kind == copyMemory {
		w.access(o, o.dst, o.bytes, accessWrite)
		w.releaseRange(o, o.dst, o.bytes)
	}
	if o.kind != copyMemory || w.real {
		return
	}
	o.scratch = take(&w.bytes, int(o.piece()))
}

// piece is the size of all pieces but the last.
func (o *op) piece() int64 {
	n := int64(o.steps-1) / 2
	return (o.bytes + n - 1) / n
}

// copyPiece reads a piece at odd steps and writes it at even ones.
func (w *World) copyPiece(o *op) {
	size := o.piece()
	from := min(int64(o.step-1)/2*size, o.bytes)
	n := min(size, o.bytes-from)
	dst, src := o.host, o.host
	if o.host != nil {
		dst, src = o.host[from:][:n], o.host[from:][:n]
	}
	if o.kind == copyIn || o.host == nil {
		dst = o.ctx.bytes(o.dst+driver.Ptr(from), n)
	}
	if o.kind == copyOut || o.host == nil {
		src = o.ctx.bytes(o.src+driver.Ptr(from), n)
	}
	if dst == nil || src == nil {
		w.fault(o, "copy %d bytes from %#x to %#x", o.bytes, uint64(o.src), uint64(o.dst))
		return
	}
	read := o.step%2 == 1
	switch {
	case o.scratch == nil && !read:
		copy(dst, src)
		w.words++
	case o.scratch == nil:
	case read:
		copy(o.scratch, src)
	default:
		copy(dst, o.scratch[:n])
		w.words++
	}
}

func (w *World) fill(o *op) {
	if o.bytes == 0 {
		return
	}
	b := o.ctx.bytes(o.dst, o.bytes)
	if b == nil {
		w.fault(o, "memset %d bytes at %#x", o.bytes, uint64(o.dst))
		return
	}
	list := words(b)
	for ; len(list) > 0 && uintptr(unsafe.Pointer(&list[0]))%8 != 0; list = list[1:] {
		atomic.StoreUint32(&list[0], o.value)
	}
	for ; len(list) > 1; list = list[2:] { // a store of two words takes as long as one of one
		atomic.StoreUint64((*uint64)(unsafe.Pointer(&list[0])), uint64(o.value)<<32|uint64(o.value))
	}
	for i := range list {
		atomic.StoreUint32(&list[i], o.value)
	}
	w.words++
}

// words of aligned memory.
func words(b []byte) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(&b[0])), len(b)/4)
}
