package sim

// clock is a vector clock: for each strand, the last of its operations that is known to have completed. A strand is a
// thread of execution: a stream, or a chain of nodes in a graph. Strand 0 stands for all hosts together.
type clock []uint32

// epoch is one operation of a strand.
type epoch struct {
	strand int32
	tick   uint32
}

func (c *clock) grow(n int) {
	for len(*c) < n {
		*c = append(*c, 0)
	}
}

// join adds other's knowledge.
func (c *clock) join(other clock) {
	c.grow(len(other))
	for i, t := range other {
		(*c)[i] = max((*c)[i], t)
	}
}

func (c *clock) set(other clock) { *c = append((*c)[:0], other...) }

// tick advances the time of a strand.
func (c *clock) tick(strand int) {
	c.grow(strand + 1)
	(*c)[strand]++
}

func (c clock) epoch(strand int) epoch { return epoch{int32(strand), c[strand]} }

// knows reports whether the access of e is ordered before the clock's owner.
func (c clock) knows(e epoch) bool {
	return int(e.strand) < len(c) && c[e.strand] >= e.tick
}

// learn tells the hosts that work has completed.
func (w *World) learn(done clock) {
	if w.cfg.NoRaces {
		return
	}
	for i, t := range done {
		if !w.host.knows(epoch{int32(i), t}) && t > 0 {
			w.host.join(done)
			w.known = nil
			return
		}
	}
}

// hostClock is the hosts' knowledge now. It is never changed afterwards.
func (w *World) hostClock() *clock {
	if w.cfg.NoRaces {
		return nil
	}
	if w.known == nil {
		w.known = &clock{}
		w.known.set(w.host)
	}
	return w.known
}
