package old

import "ovgen/schedule"

var collectives = []lowering{
	by(gatherChunks, func(d *draft, w schedule.Collective) error {
		d.with.compute, d.with.withStep = w.Streams, w.WithStep
		d.with.carriage = carried(w.By, schedule.CopyEngine)
		return gatherCollective(d)
	}),
}
