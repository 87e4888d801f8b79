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
	to      driver.Ptr // behind the last byte
}

func (s stretch) overlaps(o stretch) bool { return s.from < o.to && o.from < s.to }

// String is "C at [0x1000, 0x1400)".
func (s stretch) String() string { return fmt.Sprintf("%s at [%#x, %#x)", s.name, s.from, s.to) }

// disjoint refuses memory that a run writes under one name and uses under another: two
// buffers of the caller, one of them written, or one of the caller and an arena. What is
// proven of a program takes different names for different memory.
func (p *Plan) disjoint(to *target) error {
	var errs []error
	var seen []stretch
	for i, f := range p.bindable {
		bytes := to.chunks.size(f, p.Rank())
		if bytes == 0 {
			continue
		}
		at := to.memory[i].at
		one := stretch{f.name, f.written, at, at + driver.Ptr(bytes)}
		for _, other := range seen {
			if (one.written || other.written) && one.overlaps(other) {
				errs = append(errs, overlap(other, one))
			}
		}
		seen = append(seen, one)
		for r := range p.Size() {
			base := p.group.Arena().Base(r)
			if arena := (stretch{from: base, to: base + driver.Ptr(p.group.Arena().Bytes())}); one.overlaps(arena) {
				arena.name = fmt.Sprintf("the arena of rank %d", r)
				errs = append(errs, fmt.Errorf("%s overlaps %s, which the plans of the group own (bind memory of its own)",
					one, arena))
			}
		}
	}
	return errors.Join(errs...)
}

// overlap names two buffers of the caller that share memory, and the one that runs write.
func overlap(a, b stretch) error {
	written := a.name
	switch {
	case a.written && b.written:
		written = "both"
	case b.written:
		written = b.name
	}
	return fmt.Errorf("%s overlaps %s, and runs write %s (bind each to memory of its own, or use a schedule that works in place)",
		b, a, written)
}
