package lower

import "ovgen/schedule"

var pulls = []lowering{
	fusable(intoCallers(by(gather, pull, "Parts", "Streams", "WithStep", "By"))),
	inPlace(by(gatherBare, pulled(gatherCopy), "By")),
	by(exchange, pulled(allToAllCopy), "By"),
	by(rotation, pulled(permuteCopy), "By"),
	by(broadcast, pulled(broadcastCopy), "By"),
	by(gatherSum, pulled(gradientShift), "By"),
	by(gatherLayer, pulled(func(*draft) error { return nil }), "By"), // the second layer's way writes the program
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

// pull gathers an operand of products.
func pull(d *draft, w schedule.Pull) error {
	d.with.parts, d.with.compute, d.with.withStep = w.Parts, w.Streams, w.WithStep
	if d.carry(w.By, schedule.CopyEngine); d.with.fused && w.Parts > 1 {
		return d.noKernel("By")
	}
	return gatherShift(d)
}

// pulled writes what has no choice but its carrier.
func pulled(write func(*draft) error) func(*draft, schedule.Pull) error {
	return func(d *draft, w schedule.Pull) error {
		d.carry(w.By, schedule.CopyEngine)
		return write(d)
	}
}
