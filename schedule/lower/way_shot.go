package lower

import "ovgen/schedule"

var shots = []lowering{
	asStage(reduceAll, schedule.TwoShot{}),
	inPlace(asStage(allBare, schedule.TwoShot{})),
	asStage(reduceAll, schedule.Shot{}),
	asStage(allBare, schedule.Shot{}),
	asStage(reduce, schedule.Shot{}),
	asStage(reduceBalanced, schedule.Shot{}),
	inPlace(asStage(reduceBare, schedule.Shot{})),
	asStage(reduceUneven, schedule.Shot{}),
	ownStage(twoShotOf(gradientAll, linkedTwoShot)),
	ownStage(shotOf(gradientAll, linkedShot)),
	ownStage(shotOf(gradientOwn, linkedShot)),
	shotOf(reduceLink, linkedShot),
	shotOf(allLink, linkedShot),
	twoShotOf(allLink, linkedTwoShot),
}

func shotOf(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, w schedule.Shot) error {
		d.edge.Carrier = signalledBy(w.Signals, schedule.OneKernel)
		// Uneven and balanced parts have other sizes on other ranks.
		d.edge.Carrier.ByBlocks = !d.uneven(d.edge.Of)
		return write(d)
	})
}

func twoShotOf(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, w schedule.TwoShot) error {
		d.edge.Carrier = carriedBy(w.By, schedule.OneKernel)
		d.edge.Carrier.ByBlocks = len(d.legs()) == 1 // kernels of other moves cut the same memory into other parts
		return write(d)
	})
}
