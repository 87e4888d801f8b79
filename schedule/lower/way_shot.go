package lower

import "ovgen/schedule"

var shots = []lowering{
	twoShots(reduceAll),
	inPlace(twoShots(allBare)),
	asStage(reduceAll, schedule.Shot{}),
	shotOf(allBare, oneShot),
	asStage(reduce, schedule.Shot{}),
	shotOf(reduceBalanced, scatterOneShot),
	inPlace(shotOf(reduceBare, scatterShot)),
	shotOf(reduceUneven, scatterShot),
	twoShots(gradientAll),
	shotOf(gradientAll, oneShot),
	shotOf(gradientOwn, gradientShot),
	shotOf(reduceLink, linkedShot),
	shotOf(allLink, linkedShot),
}

func shotOf(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, w schedule.Shot) error {
		d.edge.Carrier = signalledBy(w.Signals, schedule.OneKernel)
		// Uneven and balanced parts have other sizes on other ranks.
		d.edge.Carrier.ByBlocks = m != reduceUneven && m != reduceBalanced
		return write(d)
	})
}

func twoShots(m moves) lowering {
	return by(m, func(d *draft, w schedule.TwoShot) error {
		d.edge.Carrier = carriedBy(w.By, schedule.OneKernel)
		d.edge.Carrier.ByBlocks = true
		return twoShot(d)
	})
}
