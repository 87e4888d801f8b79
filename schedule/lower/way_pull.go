package lower

import "ovgen/schedule"

var pulls = []lowering{
	intoCallers(pullOf(gather)),
	pullOf(gatherBalanced),
}

func pullOf(m moves) lowering {
	return by(m, func(d *draft, w schedule.Pull) error {
		d.with.parts, d.with.compute, d.with.withStep = w.Parts, w.Streams, w.WithStep
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		const hint = "leave it out, or Once"
		switch {
		case w.Parts > 1 && m == gatherBalanced:
			return d.refusal("Parts", "leave it out", "no pass cuts balanced parts into more")
		case w.Parts > 1 && d.edge.Carrier.Fused:
			return d.noKernel("By")
		case !w.Once:
			return gatherShift(d)
		case w.Parts > 1:
			return d.refusal("Parts", hint, "all rows are multiplied at once")
		case w.Streams > 0:
			return d.refusal("Streams", hint, "one product of all rows has the caller's stream")
		case w.WithStep:
			return d.refusal("WithStep", hint, "one product of all rows has the caller's stream")
		}
		return gatherOnce(d)
	})
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
