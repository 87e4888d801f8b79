package lower

import "ovgen/schedule"

var stored = []lowering{
	by(reduce, func(d *draft, w schedule.Stores) error {
		if err := d.prioritize(w.Streams, w.Equal); err != nil {
			return err
		}
		d.edge.Carrier = signalledBy(w.Signals, schedule.OneKernel)
		return reduceInSlot(d)
	}),
}
