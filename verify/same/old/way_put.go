package old

import "ovgen/schedule"

var puts = []lowering{
	inPlace(by(reduceBare, func(d *draft, w schedule.Put) error {
		d.with.carriage = carried(w.By, schedule.CopyEngine)
		return scatterSum(d)
	})),
}
