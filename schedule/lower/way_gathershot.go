package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var gatherShots = []lowering{
	intoCallers(asStage(gather, schedule.GatherShot{})),
	asStage(gatherBare, schedule.GatherShot{}),
	gatherShotOf(gatherLink, linkedGatherShot),
}

func gatherShotOf(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, _ schedule.GatherShot) error {
		d.edge.Carrier = hostir.Carrier{Signals: true, Fused: true, ByBlocks: true}
		return write(d)
	})
}
