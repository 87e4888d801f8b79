package sim

import (
	"fmt"
	"slices"
	"sort"

	"ovgen/runtime/driver"
)

// Race is a pair of accesses to the same memory that nothing orders, or a post
// that was lost.
type Race struct {
	First, Second Op
	// FirstWrites and SecondWrites say which of the two write.
	FirstWrites, SecondWrites bool
	Owner                     int   // rank of the memory
	Allocation                int   // of that rank, from 1
	From, To                  int64 // bytes of the allocation
	LostPost                  bool  // Second posts, and nothing orders it after the wait for the post before
}

// String is one line for a person.
func (r Race) String() string {
	where := fmt.Sprintf("bytes [%d,%d) of rank %d's allocation %d", r.From, r.To, r.Owner, r.Allocation)
	if r.LostPost {
		return fmt.Sprintf("lost post: %v posts to %s, unordered with %v there", r.Second, where, r.First)
	}
	verb := map[bool]string{true: "writes", false: "reads"}
	return fmt.Sprintf("race on %s: %v %s, %v %s, and nothing orders them",
		where, r.First, verb[r.FirstWrites], r.Second, verb[r.SecondWrites])
}

const mostRaces = 64

// Races lists the races found so far, one for each pair of streams and kinds of operations, at most 64.
func (w *World) Races() []Race {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.races)
}

// accessKind is a set of flags.
type accessKind uint8

const (
	accessWrite accessKind = 1 << iota
	// accessWord is a 32-bit access that is whole, like the accesses of stream memory operations: two such accesses
	// never race.
	accessWord
)

type access struct {
	epoch
	kind accessKind
	by   Op
}

// unordered reports whether later, which happens at now, conflicts with a.
func (a *access) unordered(later *access, now clock) bool {
	return (a.kind|later.kind)&accessWrite != 0 && a.kind&later.kind&accessWord == 0 && !now.knows(a.epoch)
}

// shadow is the record of a block's accesses: its segments cover it, cut wherever a range
// began or ended.
type shadow struct {
	segments []segment
	words    map[int64]*word
}

type segment struct {
	lo, hi  int64
	written bool
	write   access   // the last one
	reads   []access // since then, without reads that are ordered before a later read
}

// cut makes a segment begin at an offset and returns its index.
func (s *shadow) cut(at int64) int {
	i := sort.Search(len(s.segments), func(i int) bool { return s.segments[i].hi > at })
	if i == len(s.segments) || s.segments[i].lo == at {
		return i
	}
	left := s.segments[i]
	left.hi, left.reads = at, slices.Clone(left.reads)
	s.segments[i].lo = at
	s.segments = slices.Insert(s.segments, i, left)
	return i + 1
}

// access notes an operation's access to memory and compares it with earlier accesses.
func (w *World) access(o *op, p driver.Ptr, n int64, k accessKind) {
	if w.cfg.NoRaces || n <= 0 {
		return
	}
	if o.ctx.span(p, n) == nil {
		return // a step will report the fault
	}
	for end := p + driver.Ptr(n); p < end; {
		m := o.ctx.at(p)
		if m.block == nil {
			return // host memory
		}
		upto := min(end, m.end())
		w.touch(m.block, int64(p-m.base), int64(upto-m.base), access{o.clock.epoch(o.strand), k, o.who()}, *o.clock)
		p = upto
	}
}

// hostTouch is a host's write to all of an allocation.
func (w *World) hostTouch(c *Context, m *mapping, what string) {
	if w.cfg.NoRaces {
		return
	}
	w.host.tick(0)
	w.known = nil
	by := Op{Rank: c.ordinal, Stream: -1, Kind: what}
	w.touch(m.block, 0, m.bytes, access{w.host.epoch(0), accessWrite, by}, w.host)
}

func (w *World) touch(b *block, lo, hi int64, a access, now clock) {
	s := &b.shadow
	if s.segments == nil {
		s.segments = []segment{{lo: 0, hi: b.bytes}}
	}
	i := s.cut(lo)
	j := s.cut(hi)
	for at := i; at < j; at++ {
		g := &s.segments[at]
		if g.written && g.write.unordered(&a, now) {
			w.report(b, g, &g.write, &a)
		}
		for r := range g.reads {
			if g.reads[r].unordered(&a, now) {
				w.report(b, g, &g.reads[r], &a)
			}
		}
		if a.kind&accessWrite == 0 {
			g.reads = slices.DeleteFunc(g.reads, func(r access) bool { return r.kind == a.kind && now.knows(r.epoch) })
			g.reads = append(g.reads, a)
		}
	}
	if a.kind&accessWrite != 0 {
		s.segments[i] = segment{lo: lo, hi: hi, written: true, write: a, reads: s.segments[i].reads[:0]}
		s.segments = slices.Delete(s.segments, i+1, j)
	}
}

func (w *World) report(b *block, g *segment, first, second *access) {
	w.add(Race{
		First: first.by, Second: second.by, Owner: b.owner, Allocation: b.number, From: g.lo, To: g.hi,
		FirstWrites: first.kind&accessWrite != 0, SecondWrites: second.kind&accessWrite != 0,
	})
}

// add keeps a race unless a similar race is known. It extends a race that goes on in the next segment.
func (w *World) add(n Race) {
	for i := range w.races {
		r := &w.races[i]
		if r.Owner != n.Owner || r.Allocation != n.Allocation || r.LostPost != n.LostPost || !alike(r.First, n.First) ||
			!alike(r.Second, n.Second) {
			continue
		}
		if r.Second == n.Second && r.First == n.First && n.From == r.To {
			r.To = n.To
		}
		return
	}
	if len(w.races) < mostRaces {
		w.races = append(w.races, n)
	}
}

func alike(a, b Op) bool {
	return a.Rank == b.Rank && a.Stream == b.Stream && a.Kind == b.Kind && a.Node == b.Node
}
