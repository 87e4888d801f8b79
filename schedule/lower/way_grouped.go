package lower

import "ovgen/schedule"

var groups = []lowering{
	by(gather, func(d *draft, w schedule.Grouped) error {
		d.carry(w.By, schedule.CopyEngine)
		return gatherGrouped(d)
	}, "By"),
}
