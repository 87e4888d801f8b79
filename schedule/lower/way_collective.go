package lower

import "ovgen/schedule"

var collectives = []lowering{
	by(gatherChunks, func(d *draft, w schedule.Collective) error {
		d.with.compute, d.with.withStep = w.Streams, w.WithStep
		d.carry(w.By, schedule.CopyEngine)
		return gatherCollective(d)
	}, "Streams", "WithStep", "By"),
}
