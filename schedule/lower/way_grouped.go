package lower

import "ovgen/schedule"

var groups = []lowering{
	by(gather, func(d *draft, w schedule.Grouped) error {
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return gatherGrouped(d)
	}),
}
