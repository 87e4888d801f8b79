package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var gatherShots = []lowering{
	intoCallers(asStage(gather, schedule.GatherShot{})),
	asStage(gatherBare, schedule.GatherShot{}),
	intoCallers(by(gatherLink, func(d *draft, _ schedule.GatherShot) error {
		d.edge.Carrier = hostir.Carrier{Signals: true, Fused: true, ByBlocks: true}
		return linkedGatherShot(d)
	})),
}
