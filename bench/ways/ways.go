// Package ways has the schedules that bench/gpu.sh ways measures beside the catalogue's: other options of the ways of
// both layers of an MLP, at the points where a package is slower than the faster peer or than its goal. Only make
// gpu-build generates their packages.
package ways

import (
	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// All-gather and product.
var (
	GatherPull         = catalog.AllGatherLinear
	GatherPullOne      = by(GatherPull, "A", s.Pull{Streams: 1})
	GatherKernels      = by(GatherPull, "A", s.Pull{By: s.Kernels})
	GatherKernelsOne   = by(GatherPull, "A", s.Pull{By: s.Kernels, Streams: 1})
	GatherKernelsParts = by(GatherPull, "A", s.Pull{By: s.Kernels, Parts: 2})
	GatherOneKernel    = by(GatherPull, "A", s.Pull{By: s.OneKernel})
	GatherPushKernel   = by(GatherPull, "A", s.Push{By: s.OneKernel})
	GatherGrouped      = by(GatherPull, "A", s.Grouped{By: s.Kernels})
	GatherOnce         = by(GatherPull, "A", s.Pull{Once: true})
)

// Product and reduce-scatter.
var (
	SumSlots          = catalog.LinearReduceScatter
	SumSlotsOne       = by(SumSlots, "C", s.Slots{Streams: 1})
	SumSlotsKernels   = by(SumSlots, "C", s.Slots{Streams: 1, By: s.Kernels})
	SumSlotsOneKernel = by(SumSlots, "C", s.Slots{Streams: 1, By: s.OneKernel})
	SumStoresOne      = by(SumSlots, "C", s.Stores{Streams: 1})
)

func by(c s.Schedule, of string, way s.Way) s.Schedule {
	c.Moves = []s.Move{{Of: of, Way: way}}
	return c
}
