package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var pushShots = []lowering{by(reduceRows, pushShot), by(reduceBare, pushShot), by(allRows, pushShot),
	by(allBare, pushShot)}

func pushShot(d *draft, w schedule.PushShot) error {
	d.with.words = w.Words
	return linkedPushShot(d)
}

// landing declares memory in which a part of every rank's lands, with the given elements and axes: packets, which are
// their own flags, or plain data with words behind it.
func (d *draft) landing(name, flags string, words bool, chunk hostir.Expr, axes ...schedule.Axis) hostir.Buffer {
	d.memory(name, chunk, append([]schedule.Axis{schedule.Dim(schedule.D)}, axes...)...)
	d.buffer(name).Lands = hostir.Landing{Flags: flags, Halves: hostir.Halves, Words: words}
	d.semaphores(flags)
	return *d.buffer(name)
}
