package sim

import (
	"runtime"
	"time"
)

// lists are the scheduler's lists, filled anew at each step.
type lists struct {
	able    []*op         // the operations that may take their next step now
	next    time.Duration // when the first of the other operations is due; 0: none
	polling bool          // an operation waits for a word that somebody else may write
}

// run is the scheduler: one moment of one operation after the other. In a bubble each step begins with a sleep, which
// returns only when every goroutine of the bubble is blocked. So the choice depends only on the seed.
func (w *World) run() {
	defer close(w.ended)
	alarm := time.NewTimer(time.Hour)
	defer alarm.Stop()
	naps := 0
	for {
		w.pause()
		w.mu.Lock()
		if w.closed {
			w.mu.Unlock()
			return
		}
		if o := w.pick(); o != nil {
			w.advance(o)
			w.mu.Unlock()
			naps = 0
			continue
		}
		next, polling := w.next, w.polling
		w.mu.Unlock()
		if polling {
			naps = w.nap(naps)
			continue
		}
		w.sleep(alarm, next)
	}
}

// pause lets every rank go on until it blocks.
func (w *World) pause() {
	if !w.bubble {
		if w.real {
			runtime.Gosched()
		}
		return
	}
	step := w.cfg.Costs.Step
	time.Sleep(step/2 + time.Duration(w.random.Int64N(int64(step)+1)))
}

// sleep waits until something is enqueued, or until an operation is due.
func (w *World) sleep(alarm *time.Timer, next time.Duration) {
	if next == 0 {
		<-w.kick
		return
	}
	alarm.Reset(next - w.now())
	select {
	case <-w.kick:
	case <-alarm.C:
	}
}

// nap waits a little before words are read again, longer when nothing happens
// for a while.
func (w *World) nap(naps int) int {
	if w.bubble {
		time.Sleep(20 * time.Microsecond)
	} else {
		shortSleep(time.Duration(min(20+naps/4, 100)) * time.Microsecond)
	}
	w.mu.Lock()
	w.words++ // for kernels
	w.mu.Unlock()
	return naps + 1
}

// pick chooses the operation to go on, by seed, among the operations that may.
func (w *World) pick() *op {
	w.able, w.next, w.polling = w.able[:0], 0, false
	for _, c := range w.contexts {
		if c.closed || c.fault != nil {
			continue
		}
		for _, s := range c.order {
			if o := s.head(); o != nil && (o.started || c.reachable(s, o)) {
				w.offer(o)
			}
		}
	}
	total := 0
	for _, o := range w.able {
		total += o.rate()
	}
	if total == 0 {
		return nil
	}
	at := w.random.IntN(total)
	for _, o := range w.able {
		if at -= o.rate(); at < 0 {
			return o
		}
	}
	return nil
}

func (o *op) rate() int {
	if o.at != nil {
		return o.at.rate
	}
	return o.stream.rate
}

// offer adds an operation to the list if it may take its next step. For a graph that runs, it adds the nodes.
func (w *World) offer(o *op) {
	if o.kind == launchGraph && o.started && o.exec.left > 0 {
		for _, n := range o.exec.nodes {
			if n.missing == 0 && !n.op.done {
				w.offer(n.op)
			}
		}
		return
	}
	if !w.ready(o) {
		return
	}
	if o.due > 0 && o.due > w.now() {
		if w.next == 0 || o.due < w.next {
			w.next = o.due
		}
		return
	}
	w.able = append(w.able, o)
}

// ready reports whether the condition of an operation's next step holds.
func (w *World) ready(o *op) bool {
	switch o.kind {
	case waitEvent:
		return o.rec == nil || o.rec.done
	case batch:
		return w.batchReady(o)
	case launchKernel:
		return !o.started || w.kernelReady(o)
	case collective:
		return w.collectiveReady(o)
	case launchGraph:
		return o.started || o.turn == o.exec.turn
	}
	return true
}

// reachable reports whether an operation has reached the end of its hardware queue, which other streams may share.
func (c *Context) reachable(s *stream, o *op) bool {
	n := c.world.cfg.Queues
	if n == 0 {
		return true
	}
	for _, other := range c.order {
		if other == s || other.number%n != s.number%n {
			continue
		}
		h := other.head()
		if h != nil && (!h.started || h.kind == batch) && h.issue < o.issue {
			return false
		}
	}
	return true
}
