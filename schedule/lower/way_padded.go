package lower

import "ovgen/schedule"

var paddings = []lowering{
	by(gatherBare, func(d *draft, w schedule.Padded) error {
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return gatherPadded(d)
	}),
}
