package old

import (
	"maps"
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// multiples asks of the shape that extents are the multiples that the schedule states.
func multiples(d *draft) error {
	for _, e := range slices.Sorted(maps.Keys(d.schedule.Multiples)) {
		m, _ := schedule.ParseMultiple(d.schedule.Multiples[e]) // Validate has read it
		check := hostir.Divide{Extent: e, By: schedule.Extent(strconv.FormatInt(m.Times, 10))}
		if m.D {
			check.By, check.Times = schedule.D, m.Times
		}
		if m.D && m.Times == 1 {
			check.Times = 0 // as the checks of placements have it
		}
		if m.W {
			check.Heads = schedule.W
		}
		if !slices.Contains(d.program.Checks, check) {
			d.program.Checks = append(d.program.Checks, check)
		}
	}
	return nil
}
