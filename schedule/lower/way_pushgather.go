package lower

import "ovgen/schedule"

var pushGathers = []lowering{
	intoCallers(by(gatherRows, func(d *draft, _ schedule.PushGather) error { return linkedPushGather(d) })),
	by(gatherBare, func(d *draft, _ schedule.PushGather) error { return linkedPushGather(d) }),
}
