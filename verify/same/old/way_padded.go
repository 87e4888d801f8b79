package old

import "ovgen/schedule"

var paddings = []lowering{
	by(gatherBare, func(d *draft, w schedule.Padded) error {
		d.with.carriage = carried(w.By, schedule.CopyEngine)
		return gatherPadded(d)
	}),
}
