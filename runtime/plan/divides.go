package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Divide is a requirement on a shape. Extent, or Extent times With where With is set, must be a multiple of By, times
// Times where Times is above one, times Heads where Heads is set.
type Divide struct {
	Extent string // one of Program.Extents, or a number
	By     string // one of Program.Extents, "D" for the ranks, or a number
	Times  int
	With   string // like Extent
	Heads  string // like Extent
}

// divided returns an error for each requirement on a shape that does not hold; those on one extent make one.
func (p *Program) divided(ranks int, extents []int) (errs []error) {
	for i, d := range p.Divides {
		if p.plain(d) {
			if i == slices.IndexFunc(p.Divides, func(o Divide) bool { return p.plain(o) && o.Extent == d.Extent }) {
				errs = append(errs, p.divisible(d.Extent, ranks, extents))
			}
			continue
		}
		errs = append(errs, p.divides(d, ranks, extents))
	}
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// plain reports whether a requirement concerns a single extent of the shape.
func (p *Program) plain(d Divide) bool { return d.With == "" && slices.Contains(p.Extents, d.Extent) }

// divisible checks an extent against all requirements on it alone. Its error gives the number that must divide the
// extent, and the nearest multiples.
func (p *Program) divisible(extent string, ranks int, extents []int) error {
	x, all := p.value(extent, ranks, extents), 1
	var broken []Divide
	by := func(d Divide) int { return p.by(d, ranks, extents) }
	for _, d := range p.Divides {
		n := by(d)
		if !p.plain(d) || d.Extent != extent || n < 1 {
			continue
		}
		all = common(all, n)
		if x%n != 0 {
			broken = append(broken, d)
		}
	}
	if broken == nil {
		return nil
	}
	var of []string
	for i, d := range broken {
		implied := slices.ContainsFunc(broken, func(o Divide) bool { return by(o) > by(d) && by(o)%by(d) == 0 }) ||
			slices.ContainsFunc(broken[:i], func(o Divide) bool { return by(o) == by(d) })
		if !implied {
			of = append(of, d.multiple(by(d), ranks))
		}
	}
	return fmt.Errorf("%s is %d: it must be a multiple of %s%s", extent, x, strings.Join(of, ", and of "),
		nearest(x, all))
}

// common is the least common multiple of a and b, or a number above MaxExtent if a or b is above it.
func common(a, b int) int {
	if max(a, b) > MaxExtent {
		return MaxExtent + 1
	}
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// nearest names the nearest multiples below and above an extent that are valid extents.
func nearest(x, of int) string {
	below := x / of * of
	switch above := below + of; {
	case below < 1 && above > MaxExtent:
		return ""
	case below < 1:
		return fmt.Sprintf(" (the nearest is %d)", above)
	case above > MaxExtent:
		return fmt.Sprintf(" (the nearest is %d)", below)
	default:
		return fmt.Sprintf(" (the nearest are %d and %d)", below, above)
	}
}

// by is the number that must divide an extent by a requirement.
func (p *Program) by(d Divide, ranks int, extents []int) int {
	n := max(d.Times, 1)
	for _, factor := range []string{d.By, d.Heads} {
		if factor != "" {
			n *= p.value(factor, ranks, extents)
		}
	}
	return n
}

// multiple is the text of a requirement's number and its meaning.
func (d Divide) multiple(by, ranks int) string {
	switch {
	case d.By == "D" && by > ranks:
		return fmt.Sprintf("%d times the ranks, %d", by/ranks, by)
	case d.By == "D":
		return fmt.Sprintf("the ranks, %d", by)
	}
	return strconv.Itoa(by)
}

// divides is the error of a requirement on a product of extents, or on a constant.
func (p *Program) divides(d Divide, ranks int, extents []int) error {
	x, y := p.value(d.Extent, ranks, extents), 1
	if d.With != "" {
		y = p.value(d.With, ranks, extents)
	}
	by := p.by(d, ranks, extents)
	switch {
	case by == 0 || x%by*(y%by)%by == 0: // the product itself may be too large
		return nil
	case d.With != "":
		return fmt.Errorf("%s times %s is %d times %d: it must be a multiple of %s", d.Extent, d.With, x, y,
			d.multiple(by, ranks))
	}
	return fmt.Errorf("the extent %s is no multiple of %s", d.Extent, d.multiple(by, ranks))
}
