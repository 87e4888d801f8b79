package lower

import "ovgen/schedule"

var sumRings = []lowering{
	by(reduce, func(d *draft, w schedule.RingSum) error {
		d.with.compute = w.Streams
		d.signal(w.Signals, schedule.MemOps)
		return reduceRingKernel(d)
	}, "Streams", "Signals"),
	by(reduce, func(d *draft, w schedule.RingAccumulate) error {
		d.carry(w.By, schedule.CopyEngine)
		return reduceRing(d)
	}, "By"),
}
