package lower

import "ovgen/schedule"

var sumRings = []lowering{
	by(reduce, func(d *draft, w schedule.RingSum) error {
		d.with.compute = w.Streams
		d.edge.Carrier = signalledBy(w.Signals, schedule.MemOps)
		return reduceRingKernel(d)
	}),
	by(reduce, func(d *draft, w schedule.RingAccumulate) error {
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return reduceRing(d)
	}),
}
