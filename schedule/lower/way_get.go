package lower

import "ovgen/schedule"

var gets = []lowering{
	inPlace(get(gatherBare, gatherCopy)),
	get(exchange, allToAllCopy),
	get(rotation, permuteCopy),
	get(broadcast, broadcastCopy),
	get(gatherSum, gradientShift),
	get(gatherLink, linked),
	pullLink,
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
