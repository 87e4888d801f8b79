package lower

import "ovgen/schedule"

var pushGathers = []lowering{
	intoCallers(asStage(gather, schedule.PushGather{})),
	asStage(gatherBare, schedule.PushGather{}),
	intoCallers(by(gatherLink, func(d *draft, _ schedule.PushGather) error { return linkedPushGather(d) })),
}
