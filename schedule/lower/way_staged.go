package lower

import "ovgen/schedule"

// staged is the usual number of staging buffers: while one is read the next is written.
const staged = 2

var stagings = []lowering{
	by(reduce, func(d *draft, w schedule.Staged) error {
		d.with.compute = w.Buffers
		if w.Buffers == 0 {
			d.with.compute = staged
		}
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return reduceGet(d)
	}),
}
