package lower

import "ovgen/schedule"

var puts = []lowering{
	inPlace(by(reduceBare, func(d *draft, w schedule.Put) error {
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return scatterSum(d)
	})),
}
