package sim

import "ovgen/runtime/driver"

// word is a 32-bit word that signals: a reader of its value knows all that its writer knew.
type word struct {
	clock  clock // of the last writer
	waited bool  // somebody waits for it, so it is a semaphore
	full   bool  // posted and not waited for yet
	forced bool  // set by a memset or a copy, not by a post
	last   Op
	reset  access // the last write of 0, by the waiter
}

// wordAt finds the state of a word of device memory, nil if there is none.
func (w *World) wordAt(c *Context, p driver.Ptr) (*word, *mapping) {
	if w.cfg.NoRaces {
		return nil, nil
	}
	m := c.at(p)
	if m == nil || m.block == nil {
		return nil, nil
	}
	return m.block.shadow.word(int64(p - m.base)), m
}

func (s *shadow) word(at int64) *word {
	if s.words == nil {
		s.words = map[int64]*word{}
	}
	x := s.words[at]
	if x == nil {
		x = &word{}
		s.words[at] = x
	}
	return x
}

// acquire is a wait that saw its value: the operation now knows all that the poster knew.
func (w *World) acquire(o *op, p driver.Ptr) {
	x, _ := w.wordAt(o.ctx, p)
	if x == nil {
		return
	}
	w.access(o, p, 4, accessWord)
	x.waited, x.full = true, false
	o.clock.join(x.clock)
}

// release is a write to a word that held old. A post must be ordered after the
// reset of the wait before it.
func (w *World) release(o *op, p driver.Ptr, value, old uint32) {
	x, m := w.wordAt(o.ctx, p)
	if x == nil {
		return
	}
	w.access(o, p, 4, accessWrite|accessWord)
	now := access{epoch: o.clock.epoch(o.strand), kind: accessWrite, by: o.who()}
	if value != 0 && !x.forced {
		full := x.waited && (x.full || old == value) || value == 1 && old == 1
		if !full && x.reset.kind != 0 && !o.clock.knows(x.reset.epoch) {
			x.last, full = x.reset.by, true // it came late enough, by luck
		}
		if full {
			at := int64(p - m.base)
			w.add(Race{
				First: x.last, Second: now.by, FirstWrites: true, SecondWrites: true, LostPost: true,
				Owner: m.block.owner, Allocation: m.block.number, From: at, To: at + 4,
			})
		}
	}
	if value == 0 {
		x.reset = now
	}
	x.full, x.forced, x.last = value != 0, false, now.by
	x.clock.set(*o.clock)
	o.clock.tick(o.strand)
}

// mostForced is the greatest number of words of a memset to 1 that are taken for words that signal.
const mostForced = 1 << 16

// releaseRange is a memset or copy over words, such as a memset of an abort: it signals too, and replaces posts.
func (w *World) releaseRange(o *op, p driver.Ptr, n int64) {
	if w.cfg.NoRaces || o.ctx.span(p, n) == nil {
		return
	}
	for end := p + driver.Ptr(n); p < end; {
		m := o.ctx.at(p)
		if m.block == nil {
			return
		}
		upto := min(end, m.end())
		w.force(o, &m.block.shadow, int64(p-m.base), int64(upto-m.base))
		p = upto
	}
	o.clock.tick(o.strand)
}

// force marks the words of a range as set.
func (w *World) force(o *op, s *shadow, lo, hi int64) {
	set := func(x *word) {
		x.full, x.forced, x.last, x.reset = false, true, o.who(), access{}
		x.clock.join(*o.clock)
	}
	if o.kind == setMemory && o.value == 1 && hi-lo <= 4*mostForced {
		for at := lo; at < hi; at += 4 {
			set(s.word(at))
		}
		return
	}
	for at, x := range s.words {
		if at >= lo && at < hi {
			set(x)
		}
	}
}
