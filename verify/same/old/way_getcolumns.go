package old

import "ovgen/schedule"

var columnGets = []lowering{
	getColumns(exchangeColumns, columnExchange),
	getColumns(gatherColumns, columnGather),
	getColumns(gatherInputs, inputsGather),
	getColumns(gatherRow, rowGather),
	getColumns(columnLink, linked),
}

// getColumns copies parts of columns by a writer.
func getColumns(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, w schedule.GetColumns) error {
		if w != (schedule.GetColumns{By: w.By}) || // nor had GetColumns
			w.By != "" && w.By != schedule.CopyEngine && w.By != schedule.KernelSignals {
			return d.refusal("Parts", "leave it out", "no product takes a part of it")
		}
		d.with.carriage = carried(w.By, schedule.CopyEngine)
		return write(d)
	})
}
