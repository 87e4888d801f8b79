package cost

import (
	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// carry does the work of a running kernel.
func (st *stream) carry(o ops.Op, done func()) {
	switch {
	case o.Kind == ops.Signal && hostir.Takes(o.Kernel):
		st.flags(o.Words, done)
	case o.Kind == ops.Signal:
		st.signal(o.Words, done)
	case o.Kind == ops.Copy, o.Kind == ops.Sum, o.Kind == ops.Apply:
		st.move(o, done)
	default:
		done()
	}
}

// fillLink is the number of blocks that fill a link.
const fillLink = 16

// move is a copy or a sum by a kernel: each block moves an equal share, as fast as memory or the links allow, and then
// leaves its multiprocessor, unless the launch has more to move.
func (st *stream) move(o ops.Op, done func()) {
	s, l := st.s, st.running
	left, stays := l.blocks, st.worksAgain(o)
	l.share = func(n int) {
		parts := 1
		part := func() {
			if parts--; parts > 0 {
				return
			}
			if !stays {
				l.held -= n
			}
			if left -= n; left == 0 {
				l.share = nil
				done()
			}
			if !stays {
				st.rank.pool.give(n)
			}
		}
		fraction := float64(n) / float64(l.blocks)
		var local float64
		for _, u := range o.Uses {
			if u.At.Rank == st.rank.number {
				local += float64(u.Bytes)
				continue
			}
			from, to := u.At.Rank, st.rank.number
			if u.Write {
				from, to = to, from
			}
			parts++
			s.links.add(&transfer{from: from, to: to, left: float64(u.Bytes) * fraction,
				limit: s.m.KernelLink * min(1, float64(n)/fillLink), done: part})
		}
		s.after(s.l.Visible+local*fraction/s.m.Memory, part)
	}
	l.share(l.held)
}

// copyEngine is a copy that takes no multiprocessor.
func (st *stream) copyEngine(o ops.Op, done func()) {
	s, me := st.s, st.rank.number
	from, to, bytes := me, me, 0.0
	for _, u := range o.Uses {
		bytes = float64(u.Bytes)
		if u.Write {
			to = u.At.Rank
		} else {
			from = u.At.Rank
		}
	}
	curve := s.m.Get
	if from == me {
		curve = s.m.Put
	}
	alone, start := curve.At(bytes), curve[0].Y
	switch {
	case from == to:
		s.after(start+bytes/s.m.LocalCopy, done)
	case alone <= start:
		s.after(alone, done)
	default:
		s.after(start, func() {
			s.links.add(&transfer{from: from, to: to, left: bytes, limit: bytes / (alone - start), done: done})
		})
	}
}
