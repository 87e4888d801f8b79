package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var gatherShots = []lowering{
	intoCallers(by(gatherRows, func(d *draft, _ schedule.GatherShot) error {
		d.edge.Carrier = hostir.Carrier{Signals: true, Fused: true, ByBlocks: true}
		return linkedGatherShot(d)
	})),
	by(gatherBare, func(d *draft, _ schedule.GatherShot) error {
		d.edge.Carrier = hostir.Carrier{Signals: true, Fused: true, ByBlocks: true}
		return linkedGatherShot(d)
	}),
}
