package lower

import "ovgen/schedule"

var gatherShots = []lowering{
	intoCallers(gatherShotOf(gather, gatherShot)),
	gatherShotOf(gatherBare, bareGatherShot),
}

func gatherShotOf(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, _ schedule.GatherShot) error {
		d.with.carriage, d.with.byBlocks = carriage{signals: true, fused: true}, true
		return write(d)
	})
}
