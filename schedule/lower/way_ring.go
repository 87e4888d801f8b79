package lower

import "ovgen/schedule"

var rings = []lowering{
	by(gather, func(d *draft, w schedule.Ring) error {
		d.with.direction, d.with.compute, d.with.withStep = w.Direction, w.Streams, w.WithStep
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return gatherRing(d)
	}),
	by(gather, func(d *draft, w schedule.PushRing) error {
		d.with.direction, d.with.compute = w.Direction, w.Streams
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return gatherRingPut(d)
	}),
}
