package lower

import "ovgen/schedule"

var pushGathers = []lowering{
	intoCallers(asStage(gather, schedule.PushGather{})),
	asStage(gatherBare, schedule.PushGather{}),
	by(gatherLink, func(d *draft, _ schedule.PushGather) error { return linkedPushGather(d) }),
}
