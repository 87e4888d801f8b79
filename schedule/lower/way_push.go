package lower

import "ovgen/schedule"

var pushes = []lowering{
	by(gather, func(d *draft, w schedule.Push) error {
		d.with.parts, d.with.compute = w.Parts, w.Streams
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return gatherPut(d)
	}),
}
