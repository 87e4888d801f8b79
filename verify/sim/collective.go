package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"golang.org/x/sys/unix"

	"ovgen/runtime/driver"
)

// Steps of a collective after its begin. It reads the rank's data at one moment, makes the result when all ranks have
// brought their data, and writes the result in two halves.
const (
	bring = 1 + iota
	collect
	putUpper
	putLower
	collectiveSteps
)

// collectiveReady reports whether the next step of a collective can be taken.
func (w *World) collectiveReady(o *op) bool {
	m := o.comm
	ready := o.ended()
	switch {
	case !o.started:
		return m.running == nil
	case o.step == bring: // the file is free again
		ready = ready || o.turn < 2 || m.came(m.readers[o.turn%2], rowLeft, o.turn-1)
	case o.step == collect:
		ready = ready || !m.lost && m.came(from(o.together), rowEntered, o.turn+1)
	case o.step == putLower && m.meets(o): // the last one
		ready = ready || m.came(o.together.To, rowEntered, o.turn+1)
	default:
		ready = true
	}
	if !ready && w.real {
		w.polling = true
	}
	return ready
}

// everyRank stands for all ranks of a communicator.
const everyRank = -1

// from is the rank whose data a rank needs for a collective, and to is the rank that needs the data of this one.
func from(d driver.CollectiveDesc) int { return partner(d, d.From) }
func to(d driver.CollectiveDesc) int   { return partner(d, d.To) }

func partner(d driver.CollectiveDesc, rank int) int {
	if d.Kind == driver.Exchange {
		return rank
	}
	return everyRank
}

// meets reports whether an exchange waits for the rank that gets from it: NCCL may do so, or keep the data until
// that rank asks for it. The seed decides.
func (m *communicator) meets(o *op) bool {
	return o.together.Kind == driver.Exchange &&
		rand.New(rand.NewPCG(m.ctx.world.cfg.Seed^o.turn, uint64(m.rank))).IntN(2) == 0
}

// came reports whether a word is at least n in a rank's row, or in every row.
func (m *communicator) came(rank, word int, n uint64) bool {
	if rank == everyRank {
		return m.board.all(m.ranks, word, n)
	}
	return m.board.word(rank, word).Load() >= n
}

func (w *World) beginCollective(o *op) {
	m := o.comm
	m.running, o.turn, o.steps = o, m.begun, collectiveSteps
	m.begun++
	sent, got := o.together.Sizes(m.ranks)
	if !w.cfg.NoRaces {
		o.before.set(*o.clock)
		o.before[o.strand]-- // nobody learns from this that the collective has ended
	}
	w.access(o, o.src, sent, 0)
	w.access(o, o.dst, got, accessWrite)
}

// kinds of collectives, by their number in a signature.
var kinds = []driver.CollectiveKind{"nothing", driver.AllGather, driver.ReduceScatter, driver.AllReduce,
	driver.AllToAll, driver.Exchange}

// signature is a rank's call, as a word. NCCL sets up captured collectives on all ranks together, so a collective of a
// graph has another signature than one that is enqueued directly.
func (o *op) signature() uint64 { return o.signed(o.together.Bytes) }

// theirs is the signature of a rank that this one gets data from.
func (o *op) theirs() uint64 { return o.signed(o.together.Bytes + o.together.More) }

// signed is a call of parts of so many bytes.
func (o *op) signed(bytes int64) uint64 {
	d, captured := o.together, uint64(0)
	if o.parent != nil {
		captured = ofGraph
	}
	return captured | uint64(slices.Index(kinds, d.Kind))<<56 | uint64(d.Type)<<48 | uint64(bytes)
}

// ofGraph is set in the signature of a collective in a graph.
const ofGraph = 1 << 63

// collectiveStep takes a step after the first; it is false where a rank has gone.
func (w *World) collectiveStep(o *op) bool {
	m := o.comm
	sent, got := o.together.Sizes(m.ranks)
	recv := o.ctx.bytes(o.dst, got)
	src := o.ctx.bytes(o.src, sent)
	if recv == nil || src == nil {
		w.fault(o, "%s of %d bytes from %#x to %#x", o.together.Kind, o.together.Bytes, uint64(o.src), uint64(o.dst))
		return true
	}
	switch {
	case o.step == bring && !o.ended():
		w.bring(o, src)
	case o.step == collect && !o.ended():
		w.collect(o, int(got))
		return !m.lost
	case o.step == putUpper || o.step == putLower:
		half := len(recv) / 2
		to, from := recv[:half], 0
		if o.step == putLower {
			to, from = recv[half:], half
		}
		if o.scratch == nil { // aborted: the result is garbage
			for i := range to {
				to[i] = 0xa5
			}
		} else {
			copy(to, o.scratch[from:])
		}
		w.words++
	}
	return true
}

// bring leaves the rank's data where the other ranks find it.
func (w *World) bring(o *op, src []byte) {
	m, n := o.comm, o.turn
	f := m.files[n%2]
	if f == nil || len(f.mem) < len(src) {
		f.close()
		var err error
		if f, err = createShared(int64(max(len(src), 1))); err != nil {
			w.fault(o, "share %d bytes: %v", len(src), err)
			return
		}
		m.files[n%2] = f
	}
	copy(f.mem, src)
	m.readers[n%2] = to(o.together)
	m.board.sent(m.rank, n, sentSignature).Store(o.signature())
	m.board.sent(m.rank, n, sentTo).Store(uint64(o.together.To))
	m.board.sent(m.rank, n, sentFile).Store(f.place())
	m.board.sent(m.rank, n, sentID).Store(f.id)
	send, recv := o.lies()
	m.board.sent(m.rank, n, sentSend).Store(send)
	m.board.sent(m.rank, n, sentRecv).Store(recv)
	if !w.cfg.NoRaces {
		m.clocks[n%2][m.rank].set(o.before)
	}
	m.board.word(m.rank, rowEntered).Store(n + 1)
}

// collect makes the rank's result from the data of all ranks.
func (w *World) collect(o *op, got int) {
	m, n, d := o.comm, o.turn, o.together
	out, part := make([]byte, 0, got), int(d.Bytes+d.More)
	var sum, more []float32
	for i := range m.ranks {
		r := i
		if d.Kind.Sums() { // in any order that is the same on all ranks
			r = (i + int(n)) % m.ranks
		}
		if d.Kind == driver.Exchange && r != d.From {
			continue
		}
		if have, want := m.board.sent(r, n, sentSignature).Load(), o.theirs(); have != want {
			w.fault(o, "collective %d of the communicator: rank %d calls %s, rank %d %s", n+1, m.rank, called(want), r,
				called(have))
			return
		}
		if err := m.apart(o, r); err != nil {
			w.fault(o, "collective %d of the communicator: %v", n+1, err)
			return
		}
		if goes := int(m.board.sent(r, n, sentTo).Load()); d.Kind == driver.Exchange && goes != m.rank {
			w.fault(o, "collective %d of the communicator: rank %d gets from rank %d, which sends to rank %d", n+1,
				m.rank, r, goes)
			return
		}
		sent := int64(part)
		if d.Kind != driver.Exchange {
			sent, _ = d.Sizes(m.ranks)
		}
		from, err := openShared(m.board.sent(r, n, sentFile).Load(), m.board.sent(r, n, sentID).Load(), max(sent, 1))
		if err != nil {
			m.lost = true
			return
		}
		mine := from[:part]
		if d.Kind == driver.ReduceScatter || d.Kind == driver.AllToAll {
			mine = from[m.rank*part:][:part]
		}
		if d.Kind.Sums() {
			if sum == nil {
				sum, more = make([]float32, part/int(d.Type.Size())), make([]float32, part/int(d.Type.Size()))
				widen(d.Type, sum, mine)
			} else {
				widen(d.Type, more, mine)
				add(sum, more)
			}
		} else {
			out = append(out, mine...)
		}
		_ = unix.Munmap(from)
		if !w.cfg.NoRaces {
			o.clock.join(m.clocks[n%2][r])
		}
	}
	if sum != nil {
		out = out[:got]
		narrow(d.Type, out, sum)
	}
	o.scratch = out
	if d.Kind == driver.Exchange { // the peer may send again
		m.board.word(m.rank, rowLeft).Store(n + 1)
	}
}

// add adds one list to another.
func add(sum, more []float32) {
	for i, x := range more {
		sum[i] += x
	}
}

// called prints a signature for people.
func called(s uint64) string {
	text := fmt.Sprintf("%s of %d bytes of %s", kinds[s&^ofGraph>>56], s&(1<<48-1), driver.Type(s>>48&255))
	if s&ofGraph != 0 {
		text += " in a graph"
	}
	return text
}

// endCollective lets the communicator's next collective begin.
func (w *World) endCollective(o *op) {
	m := o.comm
	if m.running == o {
		m.running = nil
		m.board.word(m.rank, rowLeft).Store(o.turn + 1)
	}
	if o.at == nil {
		m.queued--
	}
	w.changed.Broadcast()
}
