package plan

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ovgen/runtime/driver"
)

// MaxExtent is the largest extent of a shape: it keeps the bytes of every tensor within an int64.
const MaxExtent = 1 << 30

// Check reports everything that keeps the given number of ranks from running a shape of the given type, whose extents
// come in the order of Program.Extents.
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
		errs = append(errs, fmt.Errorf("%d ranks: the kernels serve at most %d (generate the package with "+
			"-ranks 1..%d)", ranks, p.MaxRanks, ranks))
	}
	if len(errs) == 0 {
		if err := checkElements(ranks, max(p.Axes, 2), append(slices.Clone(extents), p.Constants...)...); err != nil {
			errs = append(errs, err)
		}
	}
	errs = append(errs, p.divided(ranks, extents)...)
	if !slices.Contains(p.Types, t) {
		var names []string
		for _, t := range p.Types {
			names = append(names, strings.ToUpper(t.String()))
		}
		errs = append(errs, fmt.Errorf("type %v is not one of %s", t, strings.Join(names, ", ")))
	}
	return errors.Join(errs...)
}

// value returns the extent of that name, or for D the number of ranks, or the number that the name is.
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
