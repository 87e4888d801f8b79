package lower

import "ovgen/schedule/hostir"

// invariant lets the library of products add in one order, whatever the number of rows. It refuses a schedule that asks
// for it and has no such product: tiles, sums and functions have one order as they are.
func invariant(p *hostir.Program) error {
	if !p.Schedule.Invariant {
		return nil
	}
	made := false
	p.Body = hostir.MapSteps(p.Body, func(s hostir.Step) []hostir.Node {
		if x, multiplies := s.Do.(hostir.Product); multiplies && s.By == "" {
			x.InOrder, made = true, true
			s.Do = x
		}
		return []hostir.Node{s}
	})
	if !made {
		return refused("Invariant", "leave it out",
			"the library makes no product here, and all else has one order without being asked")
	}
	return nil
}
