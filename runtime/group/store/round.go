package store

import (
	"slices"
	"strings"
	"time"
)

// round is the Gather that is under way.
type round struct {
	keys    []string
	blobs   [][]byte
	came    []int
	bound   time.Duration // from the first rank that comes
	timeout <-chan time.Time
}

// member takes part in a Gather.
func (s *server) member(e event) {
	m := e.from
	switch {
	case m.rank < 0 || s.members[m.rank] != m:
		return
	case e.kind == tell: // also after the end of the job: the message may be about it
		for _, other := range slices.Clone(s.members) {
			if other != nil && other != m {
				s.push(other, newFrame(told).number(m.rank).bytes(e.blob))
			}
		}
		return
	case s.dead != nil:
		s.push(m, s.dead)
		return
	case !s.open:
		s.drop(m)
		return
	case e.kind == giveUp:
		if s.round.keys == nil {
			s.round.start(s.Size, e.key)
		}
		s.round.came = slices.DeleteFunc(s.round.came, func(r int) bool { return r == m.rank })
		s.fail("gave up: "+string(e.blob), []int{m.rank})
		return
	}
	r := &s.round
	if r.keys == nil {
		r.start(s.Size, e.key)
		r.bound = time.Duration(s.bound.Load())
		r.timeout = time.After(r.bound)
	}
	if slices.Contains(r.came, m.rank) {
		s.drop(m)
		return
	}
	r.keys[m.rank], r.blobs[m.rank] = e.key, e.blob
	r.came = append(r.came, m.rank)
	if len(r.came) == s.Size {
		s.broadcast(r.answer())
		*r = round{}
	}
}

func (r *round) start(size int, key string) {
	r.keys, r.blobs = make([]string, size), make([][]byte, size)
	r.keys[0] = key // until rank 0 comes, so that a failure can quote a key
}

// answer has every rank's blob or, where the keys differ, every rank's key.
func (r *round) answer() frame {
	if len(distinct(doing(r.keys))) > 1 {
		return newFrame(mismatch).texts(r.keys)
	}
	f := newFrame(result).number(len(r.blobs))
	for _, b := range r.blobs {
		f = f.bytes(b)
	}
	return f
}

// doing returns the keys without the details that each rank may add.
func doing(keys []string) []string {
	list := make([]string, len(keys))
	for i, k := range keys {
		list[i], _, _ = strings.Cut(k, detail)
	}
	return list
}

// detail separates the compared part of a key from the part that only errors quote.
const detail = "; "

// fail ends the job because some ranks did not come to a Gather.
func (s *server) fail(why string, who []int) {
	r := &s.round
	key := r.keys[0]
	if len(r.came) > 0 {
		key = r.keys[r.came[0]]
	}
	slices.Sort(r.came)
	s.end(newFrame(missing).text(key).numbers(r.came).numbers(who).text(why))
	*r = round{}
}

// absentees returns the ranks that have not come to the Gather under way.
func (s *server) absentees() []int {
	var list []int
	for r := range s.Size {
		if !slices.Contains(s.round.came, r) {
			list = append(list, r)
		}
	}
	return list
}
