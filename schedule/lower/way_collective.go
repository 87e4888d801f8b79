package lower

import "ovgen/schedule"

var collectives = []lowering{
	by(gatherChunks, func(d *draft, w schedule.Collective) error {
		d.with.compute, d.with.withStep = w.Streams, w.WithStep
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return gatherCollective(d)
	}),
}
