package prove

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// divisible refuses constants of the schedule that one of the mesh sizes does not divide.
// New makes the same checks of symbols.
func divisible(p *hostir.Program, ranks []int) error {
	for _, check := range p.Checks {
		extent, err := strconv.ParseInt(string(check.Extent), 10, 64)
		with, text := int64(1), string(check.Extent)
		if err == nil && check.With != "" {
			with, err = strconv.ParseInt(string(check.With), 10, 64)
			text += " times " + string(check.With)
		}
		if err != nil {
			continue
		}
		fits := func(d int) bool { return check.Holds(extent, with, int64(d), 0) }
		at := slices.IndexFunc(ranks, func(d int) bool { return !fits(d) })
		if at < 0 {
			continue
		}
		hint := "use a multiple of it"
		if some := numbers(slices.DeleteFunc(slices.Clone(ranks), func(d int) bool { return !fits(d) })); some != "" {
			hint = "prove for -ranks " + some
		}
		by := check.Divisor(int64(ranks[at]), 0)
		msg := fmt.Sprintf("%s is no multiple of %d", text, by)
		if parts := by / int64(ranks[at]); parts > 1 {
			msg += fmt.Sprintf(", %d parts for each of %d ranks", parts, ranks[at])
		}
		return &schedule.FieldError{Path: constant(p.Schedule, check.Extent), Msg: msg, Hint: hint}
	}
	return nil
}

// constant is the path of the first axis of that extent that has a split, or else of the first axis of that extent.
func constant(s schedule.Schedule, extent schedule.Extent) string {
	path := ""
	for i, t := range s.Tensors {
		for j, a := range t.Axes {
			at := fmt.Sprintf("Tensors[%d].Axes[%d].Extent", i, j)
			if a.Extent == extent && len(a.Outer) > 0 {
				return at
			}
			if a.Extent == extent && path == "" {
				path = at
			}
		}
	}
	return path
}

// numbers is "2,4,8".
func numbers(list []int) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, ",")
}
