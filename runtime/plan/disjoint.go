package plan

import (
	"errors"
	"fmt"

	"ovgen/runtime/driver"
)

// stretch is the memory of a buffer, by addresses.
type stretch struct {
	name    string
	written bool
	from    driver.Ptr
	to      driver.Ptr // after the last byte
}

// overlaps reports whether two stretches share memory; an empty stretch overlaps none.
func (s stretch) overlaps(o stretch) bool { return max(s.from, o.from) < min(s.to, o.to) }

// conflicts reports whether the two stretches share memory, and runs write at least one of them.
func (s stretch) conflicts(o stretch) bool { return (s.written || o.written) && s.overlaps(o) }

// String is "C at [0x1000, 0x1400)".
func (s stretch) String() string { return fmt.Sprintf("%s at [%#x, %#x)", s.name, s.from, s.to) }

// of is the memory that a Bind gives this rank's buffer; empty where the rank has no part of it.
func (to *target) of(i int, f *Buffer) stretch {
	at := to.memory[i].at
	return stretch{f.name, f.written, at, at + driver.Ptr(to.chunks.size(f, f.rank))}
}

// disjoint refuses memory that a run writes under one name and uses under another name: two buffers of the caller, one
// of them written, or a buffer of the caller and an arena. The proof of a program assumes that different names are
// different memory.
func (p *Plan) disjoint(to *target) error {
	var errs []error
	for i, f := range p.bindable {
		one := to.of(i, f)
		for j, g := range p.bindable[:i] {
			if other := to.of(j, g); one.conflicts(other) {
				errs = append(errs, overlap(other, one))
			}
		}
		for r := range p.Size() {
			base := p.group.Arena().Base(r)
			if arena := (stretch{from: base, to: base + driver.Ptr(p.group.Arena().Bytes())}); one.overlaps(arena) {
				arena.name = fmt.Sprintf("the arena of rank %d", r)
				errs = append(errs, fmt.Errorf(
					"%s overlaps %s, which the plans of the group own (bind memory of its own)",
					one, arena))
			}
		}
	}
	return errors.Join(errs...)
}

// apart refuses memory of this rank that is also a buffer of a peer, as mapped here, if runs write either buffer. It
// needs the peers' addresses, so a collective Bind calls it last.
func (p *Plan) apart(to *target) error {
	var errs []error
	for i, f := range p.bindable {
		one := to.of(i, f)
		for _, g := range p.bindable {
			if !g.shared || !f.written && !g.written {
				continue
			}
			for _, r := range p.peers {
				other := stretch{g.name, g.written, g.at[r], g.at[r] + driver.Ptr(g.size(r))}
				if other.from != 0 && one.overlaps(other) {
					other.name = fmt.Sprintf("%s of rank %d", g.name, r)
					errs = append(errs, overlap(other, one))
				}
			}
		}
	}
	return errors.Join(errs...)
}

// overlap is the error of two buffers of the caller that share memory. It names the buffer that runs write.
func overlap(a, b stretch) error {
	written := a.name
	switch {
	case a.written && b.written:
		written = "both"
	case b.written:
		written = b.name
	}
	return fmt.Errorf("%s overlaps %s, and runs write %s (bind each to memory of its own, or use a schedule that "+
		"works in place)",
		b, a, written)
}
