package explore

import (
	"slices"

	"ovgen/schedule/hostir"
	"ovgen/verify/ops"
)

// Turn is memory that runs use in turn: it has Halves places of Bytes bytes, and run n uses place n modulo Halves. It
// belongs to the plan alone: nothing is written there between runs, and peers may write there outside of the owner's
// runs.
type Turn struct {
	Halves int
	Bytes  int64
	// Packets says that packets land in it, and Flags is the semaphore of their flags; empty for the flags themselves.
	Packets bool
	Flags   string
}

// turns adds the buffers in which packets land, and the words of their flags.
func (s *System) turns(p *hostir.Program, shape ops.Case) error {
	for flags, b := range p.Landings() {
		n, err := b.Elements.Eval(shape.Env(p))
		if err != nil {
			return err
		}
		if s.Turns == nil {
			s.Turns = map[string]Turn{}
		}
		bytes, err := b.Bytes(n, shape.ElementBits)
		if err != nil {
			return err
		}
		s.Turns[b.Name] = Turn{b.Lands.Halves, bytes, !b.Lands.Words, flags}
		s.Turns[flags] = Turn{Halves: b.Lands.Halves, Bytes: s.Words[flags]}
	}
	return nil
}

// half is the place that a run uses, of memory that runs use in turn.
func (s *System) half(at ops.Loc, run int) ops.Loc {
	if t, ok := s.Turns[at.Buffer]; ok {
		at.Offset += int64(run%t.Halves) * t.Bytes
	}
	return at
}

// turned is an operation at the places that a run uses.
func (s *System) turned(o *ops.Op, run int) *ops.Op {
	if len(s.Turns) == 0 {
		return o
	}
	c := *o
	c.Words, c.Uses = slices.Clone(o.Words), slices.Clone(o.Uses)
	for i := range c.Words {
		c.Words[i].At = s.half(c.Words[i].At, run)
	}
	for i := range c.Uses {
		c.Uses[i].At = s.half(c.Uses[i].At, run)
	}
	return &c
}

// checkPackets reports launches that send packets and use memory that no packet has announced. At a peer such a launch
// may touch only the place of the packets that it sends. For each place where packets land here it has one wait, one
// read and one take, or none of the three.
func (m *machine) checkPackets() {
	for r, list := range m.Ranks {
		for i := 0; i < len(list); {
			first, size := list[i], 1
			for i+size < len(list) && list[i+size].Step == first.Step && list[i+size].Stream == first.Stream {
				size++
			}
			if hostir.Takes(first.Kernel) {
				m.packets(r, list[i:i+size])
			}
			i += size
		}
	}
}

// packets checks one launch. For each place where packets land here it counts waits, reads and takes.
func (m *machine) packets(rank int, launch []ops.Op) {
	type uses struct{ waits, reads, takes int }
	seen := map[ops.Loc]*uses{}
	at := func(l ops.Loc) *uses {
		if seen[l] == nil {
			seen[l] = &uses{}
		}
		return seen[l]
	}
	for i := range launch {
		o := &launch[i]
		for _, w := range o.Words {
			if !w.Write {
				at(ops.Loc{Rank: rank, Buffer: w.At.Buffer, Offset: w.At.Offset / 4 % int64(len(m.Ranks))}).waits++
			}
		}
		for _, u := range o.Uses {
			t := m.Turns[u.At.Buffer]
			from := ops.Loc{Rank: rank, Buffer: t.Flags, Offset: u.At.Offset * int64(len(m.Ranks)) / max(t.Bytes, 1)}
			own := t.Packets && u.Bytes*int64(len(m.Ranks)) == t.Bytes
			switch {
			case u.At.Rank != rank && !(own && u.Write && from.Offset == int64(rank)):
				m.report(Told, "rank %d uses more of rank %d than its own part of what lands there: %s", rank,
					u.At.Rank, o)
			case u.At.Rank != rank || !t.Packets:
			case !u.Write && at(from).waits > 0 && own:
				at(from).reads++
			case u.Write && o.Kind == ops.Take && at(from).reads > 0 && own:
				at(from).takes++
			default:
				m.report(Told, "rank %d reads or writes what no packet has told it of: %s", rank, o)
			}
		}
	}
	for from, n := range seen {
		if n.reads > 0 && *n != (uses{1, 1, 1}) {
			m.report(Told, "rank %d: of packets of rank %d one launch has %d waits, %d reads and %d takes", rank,
				from.Offset, n.waits, n.reads, n.takes)
		}
	}
}
