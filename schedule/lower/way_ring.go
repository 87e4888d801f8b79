package lower

import "ovgen/schedule"

var rings = []lowering{
	by(gather, func(d *draft, w schedule.Ring) error {
		d.with.direction, d.with.compute, d.with.withStep = w.Direction, w.Streams, w.WithStep
		d.carry(w.By, schedule.CopyEngine)
		return gatherRing(d)
	}, "Direction", "Streams", "WithStep", "By"),
	by(gather, func(d *draft, w schedule.PushRing) error {
		d.with.direction, d.with.compute = w.Direction, w.Streams
		d.carry(w.By, schedule.CopyEngine)
		return gatherRingPut(d)
	}, "Direction", "Streams", "By"),
}
