package old

import "ovgen/schedule"

var broadcasts = []lowering{
	by(gather, func(d *draft, w schedule.Broadcast) error {
		d.with.compute = w.Streams
		d.with.carriage = carried(w.By, schedule.CopyEngine)
		return gatherBroadcast(d)
	}),
}
