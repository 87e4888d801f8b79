package lower

import "ovgen/schedule"

var columnGets = []lowering{
	ownStage(getColumns(exchangeColumns, func(d *draft) error { return d.transferBy(partOfEach) })),
	ownStage(getColumns(gatherColumns, func(d *draft) error { return d.transferBy(partOfEach) })),
	ownStage(getColumns(gatherInputs, func(d *draft) error { return d.transferBy(partOfEach) })),
	ownStage(getColumns(gatherRow, func(d *draft) error { return d.transferBy(partOfEach) })),
	getColumns(columnLink, linked),
}

// getColumns copies parts of columns by a writer.
func getColumns(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, w schedule.GetColumns) error {
		d.edge.Carrier = carriedBy(w.By, schedule.CopyEngine)
		return write(d)
	})
}
