package old

import "ovgen/schedule"

var gatherShots = []lowering{
	intoCallers(gatherShotOf(gather, gatherShot)),
	gatherShotOf(gatherBare, bareGatherShot),
	gatherShotOf(gatherLink, linkedGatherShot),
}

func gatherShotOf(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, _ schedule.GatherShot) error {
		d.with.carriage = carriage{signals: true, fused: true, byBlocks: true}
		return write(d)
	})
}
