package lower

import (
	"errors"
	"fmt"
	"slices"

	"ovgen/schedule"
)

var slotted = []lowering{
	by(reduce, func(d *draft, w schedule.Slots) error {
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		if err := d.prioritize(w.Streams, w.Equal); err != nil {
			return err
		}
		return reducePut(d)
	}),
	by(reduceColumns, func(d *draft, w schedule.Slots) error {
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return errors.Join(d.prioritize(w.Streams, w.Equal), reducePutColumns(d))
	}),
	by(reduceBalanced, func(d *draft, w schedule.Slots) error {
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return errors.Join(d.prioritize(w.Streams, w.Equal), reducePut(d))
	}),
	by(reduceBatch, func(d *draft, w schedule.Slots) error {
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return errors.Join(d.prioritize(w.Streams, w.Equal), reduceBatches(d))
	}),
	by(reduceAll, func(d *draft, w schedule.SlotsToAll) error {
		d.with.parts, d.edge.Carrier = w.Parts, carriedBy(w.By, schedule.CopyEngine)
		if err := d.prioritize(w.Streams, w.Equal); err != nil {
			return err
		}
		return allReduceShift(d)
	}),
	linkedSlots(reduceLink),
	linkedSlots(allLink),
}

func linkedSlots(m moves) lowering {
	return by(m, func(d *draft, w schedule.LayerSlots) error {
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		i := slices.IndexFunc(d.chain.stages, func(s stage) bool { return s.sums == d.edge.Of })
		d.chain.stages[i].parts, d.chain.stages[i].partsAt = w.Parts, d.at()+".Parts"
		return d.prioritize(w.Streams, w.Equal)
	})
}

// prioritize sets the streams of products whose results travel, and whether their priorities
// fall. Streams that steps take in turn have equal priorities.
func (d *draft) prioritize(streams int, equal bool) error {
	switch {
	case equal && streams > 0:
		return d.refusal("Equal", "leave it out, or Streams", "streams that steps take in turn have one priority")
	case equal && d.chain != nil && d.chunks > 0:
		return d.refusal("Equal", "leave it out", "the products of batches have one priority")
	}
	before := d.with
	d.with.compute, d.with.falling = streams, !equal && streams == 0 && (d.chain == nil || d.chunks == 0)
	if d.slotted && (before.compute != streams || before.falling != d.with.falling) {
		if d.original.Way(d.edge.Of) == nil { // another one was written
			d.edge.Path = fmt.Sprintf("Moves[%d].Way", slices.IndexFunc(d.original.Moves, func(m schedule.Move) bool {
				_, slots := m.Way.(schedule.LayerSlots)
				return slots
			}))
		}
		field := "Streams"
		if before.compute == streams {
			field = "Equal"
		}
		return d.refusal(field, "write the same for each of its sums", "all stages of a chain have the same streams")
	}
	d.slotted = true
	return nil
}
