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
		check := divide(e, m)
		if !slices.Contains(p.Checks, check) {
			p.Checks = append(p.Checks, check)
		}
	}
	return nil
}

// divide is a stated multiple as a requirement on the shape.
func divide(e schedule.Extent, m schedule.Multiple) hostir.Divide {
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
	return check
}
