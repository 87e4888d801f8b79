package forms

import (
	"slices"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Layers of rows in batches, of balanced rows and of rows by counts.
var (
	BatchBlock       = spreadRows(catalog.BlockBehindAttention, plain, s.DIDx(s.D))
	BatchBlockPush   = ways(BatchBlock, s.Stores{}, s.Push{}, s.Stores{})
	BatchBlockRing   = ways(BatchBlock, s.Staged{}, s.Ring{}, s.Slots{})
	BatchBlockNCCL   = ways(BatchBlock, s.NCCL{}, s.NCCL{}, s.NCCL{})
	BatchBlockShots  = ways(BatchBlock, s.Shot{}, s.GatherShot{}, s.Shot{})
	BalancedBlock    = spreadRows(catalog.BlockBehindAttention, s.Balanced(s.D))
	BalancedBlockAll = ways(BalancedBlock, s.Slots{}, s.Push{}, s.Stores{})
	CountedBlock     = spreadRows(catalog.BlockBehindAttention, s.Split{Kind: s.DeviceX, Count: s.D, Uneven: true})
	CountedBlockAll  = ways(CountedBlock, s.RingSum{}, s.Push{}, s.Shot{})
)

// The same over hosts, and columns there.
var (
	HostsBatchBlock    = onHosts(BatchBlock)
	HostsBalancedBlock = onHosts(BalancedBlock)
	HostsCountedBlock  = onHosts(CountedBlock)
	HostsLogits        = onHosts(catalog.Logits)
)

// Weights that come beside the product ahead of theirs.
var (
	WeightsNCCL    = weights(s.NCCL{})
	WeightsShot    = weights(s.GatherShot{})
	WeightsPackets = weights(s.PushGather{})
)

var plain = s.Split{Kind: s.Plain, Count: s.Number(4)}

// spreadRows has splits in place of equal parts of rows.
func spreadRows(x s.Schedule, splits ...s.Split) s.Schedule {
	x.Moves, x.Tensors = nil, slices.Clone(x.Tensors)
	for i := range x.Tensors {
		x.Tensors[i].Axes = slices.Clone(x.Tensors[i].Axes)
		if rows := &x.Tensors[i].Axes[0]; rows.Extent == s.M && len(rows.Outer) > 0 {
			rows.Outer = splits
		}
	}
	return x
}

// ways are those of a block's first sum, its gather and its last sum.
func ways(x s.Schedule, sum, gather, last s.Way) s.Schedule {
	x.Moves = block(sum, gather, last).Moves
	return x
}

// weights brings those of WeightsPushed by another way.
func weights(way s.Way) s.Schedule {
	x := WeightsPushed
	x.Moves = []s.Move{{Of: "B", Way: way}, {Of: "B2", Way: way}}
	return x
}
