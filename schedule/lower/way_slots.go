package lower

import "ovgen/schedule"

var slotted = []lowering{
	by(reduce, func(d *draft, w schedule.Slots) error {
		d.with.carriage = carried(w.By, schedule.CopyEngine)
		if err := d.prioritize(w.Streams, w.Equal); err != nil {
			return err
		}
		return reducePut(d)
	}),
	by(reduceAll, func(d *draft, w schedule.SlotsToAll) error {
		d.with.parts, d.with.carriage = w.Parts, carried(w.By, schedule.CopyEngine)
		if err := d.prioritize(w.Streams, w.Equal); err != nil {
			return err
		}
		return allReduceShift(d)
	}),
	by(reduceLayer, func(d *draft, w schedule.LayerSlots) error {
		d.with.leaving = carried(w.By, schedule.CopyEngine)
		if err := d.prioritize(w.Streams, w.Equal); err != nil {
			return err
		}
		return mlp(d)
	}),
}

// prioritize sets the streams of products whose results travel, and whether their priorities
// fall. Streams that steps take in turn have equal priorities.
func (d *draft) prioritize(streams int, equal bool) error {
	switch {
	case equal && streams > 0:
		return d.refusal("Equal", "leave it out, or Streams", "streams that steps take in turn have one priority")
	case equal && d.comm.moves == batches:
		return d.refusal("Equal", "leave it out", "the products of batches have one priority")
	}
	d.with.compute, d.with.falling = streams, !equal && streams == 0 && d.comm.moves != batches
	return nil
}
