package cost

import (
	"ovgen/verify/ops"
)

// NCCL is the collectives of NVIDIA's library on a machine.
type NCCL struct {
	// Times are the times of a collective, by the bytes that a rank brings in or sends out.
	Times map[string]Curve
	Host  float64 // time to enqueue one, and to ask whether it is done
	SMs   int     // the number that a collective takes
}

// meeting is a collective at which ranks meet.
type meeting struct {
	came  int
	start []func() // of the ranks that have come
}

// Network is a NIC for each GPU, over which NCCL does exchanges between hosts.
type Network struct {
	Rate    float64 // bytes that one direction of a NIC carries
	Latency float64 // of an exchange, without its bytes
	SMs     int     // the number that an exchange takes
}

// message is one end of an exchange between two ranks. It waits for the other end.
type message struct {
	sends   bool
	arrived func()
}

// travels is the least number of bytes that a rank has to bring in for a collective.
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

// exchanged counts the bytes that an exchange sends and gets.
func exchanged(o ops.Op) (sent, got float64) {
	for _, u := range o.Uses {
		if u.Write {
			got += float64(u.Bytes)
		} else {
			sent += float64(u.Bytes)
		}
	}
	return sent, got
}

// exchange runs an exchange. It holds its multiprocessors from its start until its bytes have arrived in both
// directions.
func (st *stream) exchange(i int, o ops.Op) {
	s, r := st.s, st.rank
	n, held := s.m.Network.SMs, 0
	r.pool.take(&claim{priority: st.priority, order: i, blocks: n, start: func(more int) {
		if held += more; held < n {
			return
		}
		began, left := s.now, 2
		arrived := func() {
			if left--; left == 0 {
				r.pool.give(n)
				st.finish(i, began)
			}
		}
		sent, got := exchanged(o)
		s.meet(r.number, o.To, sent, message{true, arrived})
		s.meet(o.From, r.number, got, message{false, arrived})
	}})
}

// meet brings one end of a message from one rank to another. When both ends have begun, the bytes go over the NICs.
func (s *simulation) meet(from, to int, bytes float64, end message) {
	way := [2]int{from, to}
	waiting := s.messages[way]
	if len(waiting) == 0 || waiting[0].sends == end.sends {
		s.messages[way] = append(waiting, end)
		return
	}
	other := waiting[0]
	s.messages[way] = waiting[1:]
	s.after(s.m.Network.Latency, func() {
		s.nics.add(&transfer{from: from, to: to, left: bytes, limit: s.m.Network.Rate, done: func() {
			end.arrived()
			other.arrived()
		}})
	})
}

// together runs a collective. It holds its multiprocessors from its start on, and ends at the same time on all ranks.
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
