package catalog

import s "ovgen/schedule"

// AllGatherLinearRingGet is a forwarding ring by pulls, as in nvFuser's test of pull
// request 5429: each step posts to the next rank that its shard is there, multiplies it on
// the same stream and lets the next stream pull the shard of the rank before; nothing waits for
// sends or receives in the loop. Every shard takes as many hops as it has ranks to pass, 7
// us of latency each on NVLink; choose a ring only where ranks are not all joined to each
// other, as over PCIe.
var AllGatherLinearRingGet = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.Ring{WithStep: true}}},
}

// AllGatherLinearRingPut is the ring by pushes, Transformer Engine's all-gather: each rank
// pushes on the shard that arrived in the step before, into the next rank's gathered tensor,
// while it multiplies that shard, over the buffers of this step and the last.
var AllGatherLinearRingPut = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.PushRing{}}},
}

// AllGatherLinearRingBackward is AllGatherLinearRingPut the other way round: shards
// arrive in the order r+1, r+2, ... Choose it where another ring runs forward.
var AllGatherLinearRingBackward = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.PushRing{Direction: s.Backward}}},
}

// AllGatherLinearRingBoth sends one half of each shard forward and the other backward
// round the ring. Both directions of each link are used by one gather, which halves its
// time where links go to neighbours only (XLA's bidirectional collective matmul); with
// a switch between all ranks it gains nothing.
var AllGatherLinearRingBoth = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.PushRing{Direction: s.Both}}},
}
