package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// Epsilon is the name of the number that norms add to the mean of squares.
const Epsilon = "Epsilon"

// DefaultEpsilon stands for a Shape's Epsilon of 0; Llama 3 and PyTorch use this number.
const DefaultEpsilon = 1e-5

// WithEpsilon is the norm with this number, such as 1e-6, added to the mean of squares in place of the Shape's.
func (f Func) WithEpsilon(epsilon float64) Func {
	f.Epsilon = epsilon
	return f
}

// mostNumbers is the greatest number of numbers of the Shape that a kernel takes beside the widths of its heads, and
// that a schedule has.
const mostNumbers = 4

// checkNumbers refuses more numbers of the Shape than a kernel takes.
func (s Schedule) checkNumbers(v *validation) {
	if names := s.Numbers(); len(names) > mostNumbers {
		v.add("Ops", fmt.Sprintf("use at most %d, and schedule.Num", mostNumbers),
			"formulas read %d numbers of the Shape: %s", len(names), strings.Join(names, ", "))
	}
}

// norm reports whether a function has an epsilon.
func (f Func) norm() bool { return slices.Contains(Params(Nodes(f.Is)), Epsilon) }

// Numbers are the names of the numbers that the Shape has beside its extents, which formulas of the schedule read.
func (s Schedule) Numbers() (names []string) {
	for _, o := range s.Ops {
		for _, f := range o.Then {
			for _, name := range Params(Nodes(s.Tree(f))) {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// HasEpsilon says that the Shape has an epsilon.
func (s Schedule) HasEpsilon() bool { return slices.Contains(s.Numbers(), Epsilon) }

// An epsilon is a number of fp32 between these two: the least normal number, and a number that no norm comes near.
const leastEpsilon, mostEpsilon = 0x1p-126, 1

// checkEpsilon refuses a number that fp32 can't hold, and a number for a function that reads none.
func (f Func) checkEpsilon(v *validation, path string) {
	switch {
	case f.Epsilon == 0:
	case !f.norm():
		v.add(path, "leave it out", "only norms add an epsilon, and %s is none", f.Name())
	case !(f.Epsilon >= leastEpsilon && f.Epsilon <= mostEpsilon): // NaN too
		v.add(path, "use a number such as 1e-6, or 0 for the Shape's",
			"no norm adds %g to the mean of squares", f.Epsilon)
	}
}
