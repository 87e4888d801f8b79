package lower

import "ovgen/schedule"

var pushes = []lowering{
	fusable(by(gather, func(d *draft, w schedule.Push) error {
		d.with.parts, d.with.compute = w.Parts, w.Streams
		d.carry(w.By, schedule.CopyEngine)
		return gatherPut(d)
	}, "Parts", "Streams", "By")),
}
