package lower

import "ovgen/schedule"

// puts and gets are what an entry reads whose protocol is not the default one's alone.
var (
	puts = list(schedule.Put)
	gets = list(schedule.Get)
)

// reducePipelines multiply what each rank has of the contracted dimension and sum.
var reducePipelines = []entry{
	{point{reduce, schedule.PointToPoint, schedule.Shift}, reads{protocols: puts, priorities: anyPriority, steps: fusable, compute: true}, reducePut},
	{point{reduce, schedule.PointToPoint, schedule.Shift}, reads{protocols: gets, compute: true}, reduceGet},
	{point{reduce, schedule.PointToPoint, schedule.Shift}, reads{protocols: puts, reductions: list(schedule.InSlot), own: list(schedule.First), priorities: anyPriority, steps: fusable,
		compute: true}, reduceInSlot},
	{point{reduce, schedule.OneShot, schedule.Shift}, reads{protocols: puts, steps: fusable}, scatterOneShot},
	{point{reduce, schedule.PointToPoint, schedule.Ring}, reads{protocols: gets, reductions: list(schedule.InProduct)}, reduceRing},
	{point{reduce, schedule.PointToPoint, schedule.Ring}, reads{protocols: gets, reductions: list(schedule.InKernel), compute: true}, reduceRingKernel},
	{point{reduceAll, schedule.PointToPoint, schedule.Shift}, reads{protocols: puts, priorities: anyPriority, parts: true, compute: true}, allReduceShift},
	{point{reduceAll, schedule.OneShot, schedule.Shift}, reads{steps: fusable}, oneShot},
	{point{reduceAll, schedule.TwoShot, schedule.Shift}, reads{steps: fusable}, twoShot},
	{point{allBare, schedule.OneShot, schedule.Shift}, reads{steps: fusable}, oneShot},
	{point{allBare, schedule.TwoShot, schedule.Shift}, reads{steps: fusable, inPlace: true}, twoShot},
	{point{reduceBare, schedule.PointToPoint, schedule.Shift}, reads{protocols: puts, inPlace: true}, scatterSum},
	{point{reduceBare, schedule.OneShot, schedule.Shift}, reads{protocols: puts, steps: fusable, inPlace: true}, scatterShot},
	{point{reduceUneven, schedule.OneShot, schedule.Shift}, reads{protocols: puts, steps: fusable}, scatterShot},
}

// copyPipelines place A otherwise.
var copyPipelines = []entry{
	{point{gatherBare, schedule.PointToPoint, schedule.Shift}, reads{inPlace: true}, gatherCopy},
	{point{gatherBare, schedule.Padded, schedule.Shift}, reads{}, gatherPadded},
	{point{exchange, schedule.PointToPoint, schedule.Shift}, reads{}, allToAllCopy},
	{point{rotation, schedule.PointToPoint, schedule.Shift}, reads{}, permuteCopy},
	{point{broadcast, schedule.Broadcast, schedule.Shift}, reads{}, broadcastCopy},
}

// layerPipelines are those of backward passes and of whole layers.
var layerPipelines = []entry{
	{point{gatherSum, schedule.PointToPoint, schedule.Shift}, reads{}, gradientShift},
	{point{gatherReduce, schedule.PointToPoint, schedule.Shift}, reads{protocols: puts, priorities: anyPriority, compute: true}, mlp},
	{point{batches, schedule.Collective, schedule.Shift}, reads{protocols: puts, priorities: anyPriority, compute: true}, mlp},
}
