package sim

import (
	"sync/atomic"

	"ovgen/runtime/driver"
)

// StreamBatchMemOp enqueues waits and writes, carried out item by item.
func (c *Context) StreamBatchMemOp(s driver.Stream, items []driver.MemOp) error {
	const call = "cuStreamBatchMemOp"
	if err := c.enter(call); err != nil {
		return err
	}
	defer c.leave()
	if len(items) == 0 {
		return fail(call, invalidValue)
	}
	for i := range items {
		if items[i].Kind > driver.Write || c.word(items[i].Address) == nil {
			return fail(call, invalidValue)
		}
	}
	_, err := c.enqueue(call, s, &task{kind: batch, items: items}, len(items))
	return err
}

// batchReady reports whether the next item of a batch can be carried out.
func (w *World) batchReady(o *op) bool {
	if !o.started {
		return true
	}
	item := &o.items[o.step-1]
	return item.Kind == driver.Write || w.holds(o, item.Address, item.Value)
}

// holds reports whether a word has the value that somebody waits for.
func (w *World) holds(o *op, p driver.Ptr, value uint32) bool {
	return w.look(o, p, func(x uint32) bool { return x == value })
}

// posted reports whether a word that a kernel awaits is no longer 0. A semaphore's word is 1 then, a packet has any
// value.
func (w *World) posted(o *op, p driver.Ptr) bool {
	return w.look(o, p, func(x uint32) bool { return x != 0 })
}

func (w *World) look(o *op, p driver.Ptr, there func(uint32) bool) bool {
	word := o.ctx.word(p)
	if word == nil || there(atomic.LoadUint32(word)) {
		return true // no word: its step reports the fault
	}
	if w.real || o.ctx.at(p).kind == hostPages {
		w.polling = true
	}
	return false
}

func (w *World) batchItem(o *op) {
	item := &o.items[o.step-1]
	word := o.ctx.word(item.Address)
	if word == nil {
		w.fault(o, "word at %#x", uint64(item.Address))
		return
	}
	if item.Kind == driver.WaitEqual {
		w.acquire(o, item.Address)
		return
	}
	w.release(o, item.Address, item.Value, atomic.LoadUint32(word))
	atomic.StoreUint32(word, item.Value)
	w.words++
}
