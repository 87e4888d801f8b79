package mutate

import (
	"fmt"
	"strings"

	"ovgen/verify/explore"
)

// Opinion is a checker's verdict on a case.
type Opinion struct {
	Safe bool
	Text string // the violation, in one line
}

// Checker has an opinion on a case.
type Checker func(Case) (Opinion, error)

// modes lists the modes in which a case has to be safe.
var modes = [][]explore.Mode{
	{explore.Eager, explore.Eager},
	{explore.Captured, explore.Captured},
	{explore.Eager, explore.Captured},
	{explore.Captured, explore.Eager},
	{explore.InOrder, explore.InOrder},
}

// Explore is the explorer's opinion: every mode, two runs, and one operation at a time.
func Explore(c Case) (Opinion, error) {
	all, err := c.system()
	if err != nil {
		return Opinion{}, err
	}
	for _, m := range modes {
		switch v := all.With(c.Lists, m...).Look(); {
		case len(v.Violations) > 0:
			x := v.Violations[0]
			return Opinion{Text: fmt.Sprintf("%s (%s): %s", x.Property, m[0], x.Text)}, nil
		case !v.Complete:
			return Opinion{Text: "too many orders to look at all"}, nil
		}
	}
	return Opinion{Safe: true}, nil
}

// Class of a mutant.
type Class string

// Classes.
const (
	Caught   Class = "caught"
	Safe     Class = "safe"
	Warned   Class = "warned"
	Survivor Class = "survivor"
)

// Judged is a mutant with its verdict.
type Judged struct {
	Mutant
	Class Class
	// Why: the property that is broken; the paths that still order the pairs of the mistake; the
	// overlap that is lost; or the two opinions that differ.
	Why []string
}

// Judge classifies a mutant by the opinions of prover and explorer.
func Judge(m Mutant, prover Checker) (Judged, error) {
	j := Judged{Mutant: m, Class: Safe}
	for _, c := range m.Cases {
		proved, err := prover(c)
		if err != nil {
			return j, fmt.Errorf("prove %s: %w", m.Name(), err)
		}
		explored, err := Explore(c)
		if err != nil {
			return j, fmt.Errorf("explore %s: %w", m.Name(), err)
		}
		switch {
		case proved.Safe != explored.Safe:
			j.Class = Survivor
			j.Why = []string{fmt.Sprintf("D = %d: prover: %s; explorer: %s", c.Shape.Ranks, proved, explored)}
			return j, nil
		case !proved.Safe:
			j.Class = Caught
			j.Why = []string{fmt.Sprintf("D = %d: %s", c.Shape.Ranks, proved.Text)}
		case j.Class != Caught:
			if err := j.explain(c); err != nil {
				return j, err
			}
		}
	}
	return j, nil
}

// String is "safe", or the violation.
func (o Opinion) String() string {
	if o.Safe {
		return "safe"
	}
	return o.Text
}

// explain says why a safe case is safe, or which overlap it loses.
func (j *Judged) explain(c Case) error {
	for i, m := range modes[:2] {
		right, err := c.orders[i]()
		if err != nil {
			return err
		}
		mutant, err := order(c, m)
		if err != nil {
			return err
		}
		if lost := right.LostOverlap(mutant); len(lost) > 0 {
			j.Class = Warned
			j.Why = []string{fmt.Sprintf("D = %d: no longer side by side: %s", c.Shape.Ranks, some(lost))}
			return nil
		}
		if j.Class == Warned {
			continue
		}
		if len(j.Why) > 0 {
			continue
		}
		for _, path := range right.StillOrdered(mutant) {
			j.Why = append(j.Why, fmt.Sprintf("D = %d, %s: still ordered: %s", c.Shape.Ranks, m[0], path))
		}
	}
	if len(j.Why) == 0 {
		j.Why = []string{fmt.Sprintf("D = %d: every pair is ordered as before", c.Shape.Ranks)}
	}
	return nil
}

// order is the order of a case's operations.
func order(c Case, m []explore.Mode) (*explore.Order, error) {
	sys, err := c.system()
	if err != nil {
		return nil, err
	}
	o, _ := explore.Ordered(sys.With(c.Lists, m...))
	return o, nil
}

// some is the first two items of a list, and the number of the others.
func some(list []string) string {
	if n := len(list) - 2; n > 0 {
		return strings.Join(list[:2], "; ") + fmt.Sprintf("; and %d more pairs", n)
	}
	return strings.Join(list, "; ")
}
