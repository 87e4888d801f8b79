package lower

import "ovgen/schedule"

var shots = []lowering{
	inPlace(twoShotOf(allBare)),
	twoShotOf(allGradient),
	shotOf(reduceRows),
	shotOf(reduceBalanced),
	inPlace(shotOf(reduceBare)),
	shotOf(reduceCounted),
	shotOf(reduceGradient),
	shotOf(allRows),
	shotOf(allBare),
	shotOf(allGradient),
	twoShotOf(allRows),
}

func shotOf(n need) lowering {
	return by(n, func(d *draft, w schedule.Shot) error {
		d.edge.Carrier = signalledBy(w.Signals, schedule.OneKernel)
		// Uneven and balanced parts have other sizes on other ranks.
		d.edge.Carrier.ByBlocks = !d.uneven(d.edge.Of)
		return linkedShot(d)
	})
}

func twoShotOf(n need) lowering {
	return by(n, func(d *draft, w schedule.TwoShot) error {
		d.edge.Carrier = carriedBy(w.By, schedule.OneKernel)
		d.edge.Carrier.ByBlocks = len(d.legs()) == 1 // kernels of other moves cut the same memory into other parts
		return linkedTwoShot(d)
	})
}
