package lower

import "ovgen/schedule"

var gets = []lowering{
	inPlace(asStage(gatherBare, schedule.Get{})),
	ownStage(get(exchange, func(d *draft) error { return errorsOf(d.unbounded(), d.transferBy(partOfEach)) })),
	ownStage(get(rotation, func(d *draft) error { return d.transferBy(fromNeighbour) })),
	ownStage(get(broadcast, func(d *draft) error { return d.transferBy(fromRoot) })),
	ownStage(get(gatherSum, func(d *draft) error {
		d.arriveBy(summandsOfPeers)
		return nil
	})),
	intoCallers(get(gatherLink, linkedGet)),
	ownStage(get(gatherWeight, func(d *draft) error { return d.transferBy(partOfEach) })),
	asStage(gatherBatch, schedule.Get{}),
}

// get copies by a writer.
func get(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, w schedule.Get) error {
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return write(d)
	})
}

// linkedGet is linked for rows that are copied from their owners: at once where nothing of the stage takes them.
func linkedGet(d *draft) error {
	if d.gathersOnly() {
		d.allAtOnce()
	}
	return nil
}
