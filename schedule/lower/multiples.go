package lower

import (
	"maps"
	"slices"
	"strconv"

	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

// multiples asks of the shape that extents are the multiples that the schedule states.
func multiples(p *hostir.Program) error {
	for _, e := range slices.Sorted(maps.Keys(p.Schedule.Multiples)) {
		m, _ := schedule.ParseMultiple(p.Schedule.Multiples[e]) // Validate has read it
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
		if !slices.Contains(p.Checks, check) {
			p.Checks = append(p.Checks, check)
		}
	}
	return nil
}
