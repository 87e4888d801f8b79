package old

import "ovgen/schedule"

var groups = []lowering{
	by(gather, func(d *draft, w schedule.Grouped) error {
		d.with.carriage = carried(w.By, schedule.CopyEngine)
		return gatherGrouped(d)
	}),
}
