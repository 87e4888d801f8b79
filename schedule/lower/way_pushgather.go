package lower

import "ovgen/schedule"

var pushGathers = []lowering{
	intoCallers(asStage(gather, schedule.PushGather{})),
	asStage(gatherBare, schedule.PushGather{}),
	pushGatherOf(gatherLink, linkedPushGather),
}

func pushGatherOf(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, _ schedule.PushGather) error {
		return write(d)
	})
}
