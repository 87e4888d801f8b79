package lower

import "ovgen/schedule"

var pulls = []lowering{
	intoCallers(by(gather, func(d *draft, w schedule.Pull) error {
		d.with.parts, d.with.compute, d.with.withStep = w.Parts, w.Streams, w.WithStep
		if d.with.carriage = carried(w.By, schedule.CopyEngine); d.with.fused && w.Parts > 1 {
			return d.noKernel("By")
		}
		return gatherShift(d)
	})),
	by(gatherBalanced, func(d *draft, w schedule.Pull) error {
		d.with.compute, d.with.withStep = w.Streams, w.WithStep
		d.with.carriage = carried(w.By, schedule.CopyEngine)
		switch {
		case w.Parts > 1:
			return d.refusal("Parts", "leave it out", "no pass cuts balanced parts into more")
		case d.with.copies:
			return d.copiesByEngine()
		}
		return gatherShift(d)
	}),
}

// intoCallers marks a lowering that may gather into the caller's memory.
func intoCallers(l lowering) lowering {
	l.gathered = true
	return l
}

// inPlace marks a lowering that works in place.
func inPlace(l lowering) lowering {
	l.inPlace = true
	return l
}
