package lower

import "ovgen/schedule"

var broadcasts = []lowering{
	by(gather, func(d *draft, w schedule.Broadcast) error {
		d.with.compute = w.Streams
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return gatherBroadcast(d)
	}),
}
