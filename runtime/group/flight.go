package group

import (
	"context"
	"slices"
	"sync"
	"time"

	"ovgen/runtime/driver"
)

// flights is the number of runs that the watch follows one by one.
const flights = 64

// flight is a run that may not have drained.
type flight struct {
	plan     int
	seq      uint64
	event    driver.Event
	ctx      context.Context // may be nil
	deadline time.Time       // zero where ctx has one
}

// runs is the group's one sequence of runs. The holder of issue owns the fields above mu. The abort never needs issue,
// since its holder may be blocked in an enqueue. No driver call is made under mu.
type runs struct {
	issue  chan struct{} // held from Begin to End
	shared bool          // a caller's graph holds order: every run waits for and records it
	side   driver.Stream // the first record of order is on it
	last   driver.Event  // the end of the last run enqueued by the host
	seq    uint64
	graph  captured                  // the capture that the last run went into
	events [flights + 1]driver.Event // one for each place of the ring, then one for the tail

	mu       sync.Mutex
	order    driver.Event    // the end of the last run, as captured graphs see it; set once
	captured []int           // the plans that have been captured, in the order of their first captures
	ring     [flights]flight // in order of seq
	head     int
	n        int
	tail     flight // the youngest of the flights for which the ring had no place
	hasTail  bool   // tail is in flight
}

// next is the event for the run that will be pushed next. When the ring is full, all runs after it share one event,
// which then belongs to the youngest of them.
func (s *runs) next() driver.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hasTail || s.n == flights {
		return s.events[flights]
	}
	return s.events[(s.head+s.n)%flights]
}

// push hands a run to the watch.
func (s *runs) push(f flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.event == s.events[flights] {
		s.tail, s.hasTail = f, true
		return
	}
	s.ring[(s.head+s.n)%flights] = f
	s.n++
}

// drained drops the runs up to seq.
func (s *runs) drained(seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.n > 0 && s.ring[s.head].seq <= seq {
		s.ring[s.head] = flight{}
		s.head = (s.head + 1) % flights
		s.n--
	}
	if s.hasTail && s.tail.seq <= seq {
		s.tail, s.hasTail = flight{}, false
	}
}

// front is the oldest run in flight.
func (s *runs) front() (flight, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n > 0 {
		return s.ring[s.head], true
	}
	return s.tail, s.hasTail
}

// replayed returns the plans that were captured, and the event that replays record.
func (s *runs) replayed() (plans []int, order driver.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.captured), s.order
}

// forget drops a plan that was captured: its graphs must not be launched any more.
func (s *runs) forget(plan int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.captured = slices.DeleteFunc(s.captured, func(id int) bool { return id == plan })
}

// cancelled returns the Done channel of the oldest run's context, and whether a run is in flight.
func (s *runs) cancelled() (<-chan struct{}, bool) {
	f, ok := s.front()
	if !ok || f.ctx == nil || f.ctx.Err() != nil { // it has ended already, and expired sees it
		return nil, ok
	}
	return f.ctx.Done(), true
}

// expired is the oldest run in flight whose context has ended or whose time is up.
func (s *runs) expired(now time.Time) (flight, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.n {
		if f := s.ring[(s.head+i)%flights]; f.late(now) {
			return f, true
		}
	}
	return s.tail, s.hasTail && s.tail.late(now)
}

func (f *flight) late(now time.Time) bool {
	if f.ctx != nil && f.ctx.Err() != nil {
		return true
	}
	return !f.deadline.IsZero() && now.After(f.deadline)
}
