package lower

import "ovgen/schedule"

var slotted = []lowering{
	fusable(by(reduce, slotsOf(reducePut), "Streams", "Equal", "By")),
	by(reduceAll, slotsOf(allReduceShift), "Parts", "Streams", "Equal", "By"),
	inPlace(by(reduceBare, slotsOf(scatterSum), "By")),
	by(reduceLayer, slotsOf(mlp), "Streams", "Equal"), // carried as the first layer's operand is
}

// slotsOf puts partial results into slots by a writer.
func slotsOf(write func(*draft) error) func(*draft, schedule.Slots) error {
	return func(d *draft, w schedule.Slots) error {
		d.with.parts = w.Parts
		if err := d.prioritize(w.Streams, w.Equal); err != nil {
			return err
		}
		if d.comm.legs()[0].moves != gatherLayer {
			d.carry(w.By, schedule.CopyEngine)
		}
		return write(d)
	}
}

// prioritize takes the streams of products whose results leave. Those that steps take in turn
// have no order of their own.
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
