package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ovgen/runtime/driver"
)

// Divide is a requirement on a shape: Extent, or Extent times With where With is set, is a multiple of
// By, or of Times By where Times is above one, and of as many times the width of Heads.
type Divide struct {
	Extent string // one of Program.Extents, or a number
	By     string // one of Program.Extents, "D" for the ranks, or a number
	Times  int
	With   string // as Extent
	Heads  string // as Extent
}

// MaxExtent is the largest extent of a shape: it keeps the bytes of every tensor within an int64.
const MaxExtent = 1 << 30

// Check reports everything that keeps this many ranks from running a shape of that type, whose
// extents come in the order of Program.Extents.
func (p *Program) Check(ranks int, t driver.Type, extents ...int) error {
	if ranks < 1 {
		return fmt.Errorf("no ranks: %d", ranks)
	}
	var errs []error
	for i, e := range extents {
		if e < 1 || e > MaxExtent {
			errs = append(errs, fmt.Errorf("%s is %d: it must lie between 1 and %d", p.Extents[i], e, MaxExtent))
		}
	}
	if p.MaxRanks > 0 && ranks > p.MaxRanks {
		errs = append(errs, fmt.Errorf("%d ranks: the kernels serve at most %d", ranks, p.MaxRanks))
	}
	if len(errs) == 0 {
		if err := checkElements(ranks, append(slices.Clone(extents), p.Constants...)...); err != nil {
			errs = append(errs, err)
		}
	}
	for _, d := range p.Divides {
		if err := p.divides(d, ranks, extents); err != nil {
			errs = append(errs, err)
		}
	}
	if !slices.Contains(p.Types, t) {
		var names []string
		for _, t := range p.Types {
			names = append(names, strings.ToUpper(t.String()))
		}
		errs = append(errs, fmt.Errorf("type %v is not one of %s", t, strings.Join(names, ", ")))
	}
	return errors.Join(errs...)
}

// divides says what is wrong where a requirement does not hold.
func (p *Program) divides(d Divide, ranks int, extents []int) error {
	x, y, times := p.value(d.Extent, ranks, extents), 1, max(d.Times, 1)
	if d.With != "" {
		y = p.value(d.With, ranks, extents)
	}
	if d.Heads != "" {
		times *= p.value(d.Heads, ranks, extents)
	}
	by := times * p.value(d.By, ranks, extents)
	if by == 0 || x%by*(y%by)%by == 0 { // the product itself may be too large
		return nil
	}
	multiple := strconv.Itoa(by)
	switch {
	case d.By == "D" && times > 1:
		multiple = fmt.Sprintf("%d times the ranks, %s", times, multiple)
	case d.By == "D":
		multiple = "the ranks, " + multiple
	}
	if d.With != "" {
		return fmt.Errorf("%s times %s is %d times %d: it must be a multiple of %s", d.Extent, d.With, x, y, multiple)
	}
	if slices.Contains(p.Extents, d.Extent) {
		return fmt.Errorf("%s is %d: it must be a multiple of %s", d.Extent, x, multiple)
	}
	return fmt.Errorf("the extent %s is no multiple of %s", d.Extent, multiple)
}

// value is an extent by its name, the ranks, or a number.
func (p *Program) value(name string, ranks int, extents []int) int {
	if i := slices.Index(p.Extents, name); i >= 0 {
		return extents[i]
	}
	if name == "D" {
		return ranks
	}
	n, _ := strconv.Atoi(name) // a text that is no number counts as 0, which divides nothing
	return n
}

// Shape is a shape of the program as errors print it: "M 512, K 64, N 32, bf16".
func (p *Program) Shape(t driver.Type, extents ...int) string {
	var text strings.Builder
	for i, e := range extents {
		fmt.Fprintf(&text, "%s %d, ", p.Extents[i], e)
	}
	return text.String() + t.String()
}
