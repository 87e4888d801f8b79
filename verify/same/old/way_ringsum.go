package old

import "ovgen/schedule"

var sumRings = []lowering{
	by(reduce, func(d *draft, w schedule.RingSum) error {
		d.with.compute = w.Streams
		d.with.carriage = signalled(w.Signals, schedule.MemOps)
		return reduceRingKernel(d)
	}),
	by(reduce, func(d *draft, w schedule.RingAccumulate) error {
		d.with.carriage = carried(w.By, schedule.CopyEngine)
		return reduceRing(d)
	}),
}
