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

// Memcpy2DAsync enqueues a copy of rows.
func (c *Context) Memcpy2DAsync(x driver.Memcpy2D, s driver.Stream) error {
	const call = "cuMemcpy2DAsync"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	reach := func(pitch int64) int64 { return (x.Height-1)*pitch + x.Width }
	wrong := func(p driver.Ptr, pitch int64) bool {
		return pitch < x.Width || pitch > driver.MaxPitch && x.Height > 1 || c.bytes(p, reach(pitch)) == nil
	}
	if x.Width <= 0 || x.Height <= 0 || x.Height > 1<<40/x.Width || wrong(x.Dst, x.DstPitch) ||
		wrong(x.Src, x.SrcPitch) {
		return fail(call, invalidValue)
	}
	_, err := c.enqueue(call, s, &task{kind: copyRows, rows: x, dst: x.Dst, src: x.Src, bytes: x.Width * x.Height}, 1)
	return err
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

// beginCopy cuts a copy into pieces. Each is read at one moment and
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

// beginRows begins a copy of rows. All are read at one moment and written at another.
func (w *World) beginRows(o *op) {
	o.steps = 3
	for i := range o.rows.Height {
		w.access(o, o.src+driver.Ptr(i*o.rows.SrcPitch), o.rows.Width, 0)
		to := o.dst + driver.Ptr(i*o.rows.DstPitch)
		w.access(o, to, o.rows.Width, accessWrite)
		w.releaseRange(o, to, o.rows.Width)
	}
	o.scratch = take(&w.bytes, int(o.bytes))
}

// copyRows reads all rows at the first step and writes them at the second.
func (w *World) copyRows(o *op) {
	x := &o.rows
	for i := range x.Height {
		kept := o.scratch[i*x.Width:][:x.Width]
		at := o.src + driver.Ptr(i*x.SrcPitch)
		if o.step == 2 {
			at = o.dst + driver.Ptr(i*x.DstPitch)
		}
		b := o.ctx.bytes(at, x.Width)
		switch {
		case b == nil:
			w.fault(o, "copy %d rows of %d bytes from %#x to %#x", x.Height, x.Width, uint64(o.src), uint64(o.dst))
			return
		case o.step == 1:
			copy(kept, b)
		default:
			copy(b, kept)
			w.words++
		}
	}
}

// mostStored is the number of words that a memset stores one after another, each after the earlier writes of its
// stream. A longer memset is of data, or of an abort; nobody relies on its order.
const mostStored = 4096

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
	if len(list) > mostStored { // a copy takes a tenth of the time
		list[0] = o.value
		for n := 1; n < len(list); n *= 2 {
			copy(list[n:], list[:n])
		}
		w.words++
		return
	}
	for ; len(list) > 0 && uintptr(unsafe.Pointer(&list[0]))%8 != 0; list = list[1:] {
		atomic.StoreUint32(&list[0], o.value)
	}
	for ; len(list) > 1; list = list[2:] { // a store of two words takes as long as a store of one
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
