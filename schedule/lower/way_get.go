package lower

import "ovgen/schedule"

var gets = []lowering{
	inPlace(asStage(gatherBare, schedule.Get{})),
	get(exchange, allToAllCopy),
	get(rotation, permuteCopy),
	get(broadcast, broadcastCopy),
	get(gatherSum, gradientShift),
	get(gatherLink, linkedGet),
	pullLink,
	pushLink,
	get(gatherWeight, weightGather),
	get(gatherBatch, gatherBatches),
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
