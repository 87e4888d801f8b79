package old

import "ovgen/schedule"

var gets = []lowering{
	inPlace(get(gatherBare, gatherCopy)),
	get(exchange, allToAllCopy),
	get(rotation, permuteCopy),
	get(broadcast, broadcastCopy),
	get(gatherSum, gradientShift),
	get(gatherLink, linked),
	get(gatherWeight, weightGather),
	get(gatherBatch, gatherBatches),
}

// get copies by a writer.
func get(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, w schedule.Get) error {
		if w != (schedule.Get{By: w.By}) || w.By == schedule.OneKernel { // Get had no other options
			return d.refusal("Parts", "leave it out", "no product takes a part of it")
		}
		d.with.carriage = carried(w.By, schedule.CopyEngine)
		return write(d)
	})
}
