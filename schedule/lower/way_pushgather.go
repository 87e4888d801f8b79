package lower

import (
	"ovgen/schedule"
	"ovgen/schedule/hostir"
)

var pushGathers = []lowering{
	intoCallers(asStage(gather, schedule.PushGather{})),
	pushGatherOf(gatherBare, barePushGather),
	pushGatherOf(gatherLink, linkedPushGather),
}

func pushGatherOf(m moves, write func(*draft) error) lowering {
	return by(m, func(d *draft, _ schedule.PushGather) error {
		return write(d)
	})
}

// barePushGather sends this rank's shard to each peer as packets, and makes C of the shards that land.
func barePushGather(d *draft) error {
	if d.uneven("A") {
		return &schedule.FieldError{Path: d.at(), Msg: "one kernel sends shards of one size only",
			Hint: "use schedule.Get"}
	}
	if err := d.tensors(); err != nil {
		return err
	}
	d.cut("C", schedule.D)
	d.add(d.landShards("C"))
	return nil
}

// landShards brings every rank's A, in the order of ranks, to a buffer that they fill.
func (d *draft) landShards(to string) hostir.Step {
	d.program.Streams = []hostir.StreamSet{{Name: hostir.MainStream}}
	a := d.buffer("A").Tensor
	return hostir.GatherPackets(mainRef, hostir.Whole(to), d.landing(landed, arrived, false, elements(a), a.Axes...),
		hostir.Whole("A").EachRank())
}
