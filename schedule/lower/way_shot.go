package lower

import "ovgen/schedule"

var shots = []lowering{
	twoShots(reduceAll),
	inPlace(twoShots(allBare)),
	shotOf(reduceAll, oneShot),
	shotOf(allBare, oneShot),
	shotOf(reduce, scatterOneShot),
	inPlace(shotOf(reduceBare, scatterShot)),
	shotOf(reduceUneven, scatterShot),
}

func shotOf(m moves, write func(*draft) error) lowering {
	return fusable(by(m, func(d *draft, w schedule.Shot) error {
		d.signal(w.Signals, schedule.OneKernel)
		return write(d)
	}, "Signals"))
}

func twoShots(m moves) lowering {
	return fusable(by(m, func(d *draft, w schedule.TwoShot) error {
		d.carry(w.By, schedule.OneKernel)
		return twoShot(d)
	}, "By"))
}
