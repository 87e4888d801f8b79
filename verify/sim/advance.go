package sim

import (
	"fmt"
	"time"
)

// advance takes an operation's next step: step 0 begins it, the last completes it.
func (w *World) advance(o *op) {
	if w.cfg.Trace != nil {
		w.cfg.Trace(Moment{Op: o.who(), Step: o.step, At: w.now()})
	}
	moved := true
	if o.started {
		moved = w.perform(o)
	} else {
		w.begin(o)
	}
	if o.ctx.fault != nil || o.ctx.closed { // it may have been closed while a matmul ran unlocked
		w.changed.Broadcast()
		return
	}
	if !moved {
		return
	}
	if o.step++; o.step == o.steps {
		w.finish(o)
		return
	}
	o.due = w.due(o)
}

// due is when an operation's next step comes: at a random point of the step's
// share of the operation's time, the last one at the end.
func (w *World) due(o *op) time.Duration {
	if o.length == 0 {
		return 0
	}
	if o.step == o.steps-1 {
		return o.began + o.length
	}
	part := (float64(o.step-1) + w.random.Float64()) / float64(o.steps-1)
	return o.began + time.Duration(part*float64(o.length))
}

// begin is step 0: the operation's place in the order is fixed and its accesses are
// checked.
func (w *World) begin(o *op) {
	o.started, o.began, o.steps = true, w.now(), 2
	w.follow(o)
	switch o.kind {
	case copyMemory, copyIn, copyOut:
		w.beginCopy(o)
	case copyRows:
		w.beginRows(o)
	case setMemory:
		w.access(o, o.dst, o.bytes, accessWrite|accessWord)
		w.releaseRange(o, o.dst, o.bytes)
	case batch:
		o.steps = 1 + len(o.items)
	case record, waitEvent, upload:
		o.steps = 1
	case matmul:
		w.beginMatmul(o)
	case launchKernel:
		w.beginKernel(o)
	case launchGraph:
		w.beginGraph(o)
	case collective:
		w.beginCollective(o)
	}
	o.length = w.cost(o)
}

// follow orders the operation after the work that its stream, the host or its predecessors
// in a graph have done.
func (w *World) follow(o *op) {
	if w.cfg.NoRaces {
		return
	}
	switch {
	case o.at != nil:
		o.clock.set(*o.parent.clock)
		for _, p := range o.at.before {
			o.clock.join(*p.op.clock)
		}
	case o.known != nil:
		o.clock.join(*o.known)
	}
	if o.kind == waitEvent && o.rec != nil {
		o.clock.join(o.rec.clock)
	}
	o.clock.tick(o.strand)
}

// copies says that the operation takes the time of its bytes on a link.
func (o *op) copies() bool {
	return o.kind == copyMemory || o.kind == copyIn || o.kind == copyOut || o.kind == copyRows || o.kind == collective
}

func (w *World) cost(o *op) (d time.Duration) {
	k := &w.cfg.Costs
	switch {
	case o.copies() && k.Copy > 0:
		d = time.Duration(float64(o.bytes) / k.Copy * float64(time.Second))
	case o.kind == matmul && k.Matmul > 0:
		operations := 2 * float64(o.desc.M) * float64(o.desc.N) * float64(o.desc.K)
		d = time.Duration(operations / k.Matmul * float64(time.Second))
	case o.kind == launchKernel:
		d = k.Kernel
	}
	if w.cfg.Delay != nil {
		d += w.cfg.Delay(o.who())
	}
	return d
}

// perform takes a step after the first; false means that the same step comes again.
func (w *World) perform(o *op) bool {
	switch o.kind {
	case copyMemory, copyIn, copyOut:
		w.copyPiece(o)
	case copyRows:
		w.copyRows(o)
	case setMemory:
		w.fill(o)
	case batch:
		w.batchItem(o)
	case matmul:
		w.matmulStep(o)
	case collective:
		return w.collectiveStep(o)
	case launchKernel:
		return w.resumeKernel(o)
	}
	return true
}

// finish completes an operation and releases its successors.
func (w *World) finish(o *op) {
	o.done = true
	switch o.kind {
	case record:
		o.rec.done, o.rec.at = true, w.now()
		if !w.cfg.NoRaces {
			o.rec.clock.set(*o.clock)
		}
	case launchGraph:
		w.finishGraph(o)
	case collective:
		w.endCollective(o)
	}
	w.drop(o)
	if o.at != nil {
		w.finishNode(o)
		return
	}
	s := o.stream
	s.pop()
	w.giveOp(o)
	s.ctx.forgetStream(s)
	w.changed.Broadcast()
}

// drop releases the resources of an operation.
func (w *World) drop(o *op) {
	give(&w.bytes, o.scratch)
	o.scratch = nil
	for i := range o.scales {
		give(&w.pools.floats, o.scales[i])
		o.scales[i] = nil
	}
	for i := range o.floats {
		give(&w.pools.floats, o.floats[i])
		o.floats[i] = nil
	}
	w.endKernel(o)
	if o.at == nil {
		w.releaseRecord(o.rec)
		for _, r := range o.binds {
			w.releaseRecord(r)
		}
		o.binds = o.binds[:0]
	}
	o.rec = nil
}

// fault makes a context unusable, as an error on a GPU does.
func (w *World) fault(o *op, format string, args ...any) {
	if o.ctx.fault == nil {
		o.ctx.fault = fmt.Errorf("%v: %s: %w", o.who(), fmt.Sprintf(format, args...), fail("device", illegalAddress))
	}
}
