package cost

import "ovgen/verify/ops"

// NCCL is the library's collectives on a machine.
type NCCL struct {
	// Times are those of a collective by the bytes that a rank has to bring in, or to send out.
	Times map[string]Curve
	Host  float64 // of enqueueing one, with the questions whether it is done
	SMs   int     // that one takes
}

// meeting is a collective that ranks come to.
type meeting struct {
	came  int
	start []func() // of the ranks that are there
}

// travels is the bytes that a rank has to bring in for a collective, at least.
func travels(o ops.Op, ranks int) float64 {
	var most int64
	for _, u := range o.Uses {
		most = max(most, u.Bytes)
	}
	bytes := float64(most) * float64(ranks-1) / float64(ranks)
	if o.Form == "all-reduce" {
		bytes *= 2 // out as parts, and back as sums
	}
	return bytes
}

// together runs a collective: it holds its multiprocessors from its own start on, and all ranks end
// it at once.
func (st *stream) together(i int, o ops.Op) {
	s, r := st.s, st.rank
	n := s.m.NCCL.SMs
	which := r.met
	r.met++
	for len(s.meetings) <= which {
		s.meetings = append(s.meetings, &meeting{})
	}
	at, held := s.meetings[which], 0
	r.pool.take(&claim{priority: st.priority, order: i, blocks: n, start: func(more int) {
		if held += more; held < n {
			return
		}
		began := s.now
		at.start = append(at.start, func() {
			s.after(s.m.NCCL.Times[o.Form].At(max(travels(o, s.ranks), 1)), func() {
				r.pool.give(n)
				st.finish(i, began)
			})
		})
		if at.came++; at.came == s.ranks {
			for _, f := range at.start {
				f()
			}
		}
	}})
}
