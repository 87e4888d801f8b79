// Package hosts has the schedules that bench/gpu.sh hosts measures: products over hosts whose tensors cross the network
// in more and more parts. Only make gpu-build generates their packages.
package hosts

import (
	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// All-gather and product, by the parts of a shard.
var (
	GatherHosts1 = catalog.AllGatherLinearHosts
	GatherHosts2 = inParts(GatherHosts1, "A", 2)
	GatherHosts4 = inParts(GatherHosts1, "A", 4)
	GatherHosts8 = inParts(GatherHosts1, "A", 8)
)

// Product and reduce-scatter, by the parts of a rank's rows.
var (
	SumHosts1 = catalog.LinearReduceScatterHosts
	SumHosts2 = inParts(SumHosts1, "C", 2)
	SumHosts4 = inParts(SumHosts1, "C", 4)
	SumHosts8 = inParts(SumHosts1, "C", 8)
)

func inParts(c s.Schedule, of string, n int) s.Schedule {
	c.Moves = []s.Move{{Of: of, Way: s.Rails{Parts: n}}}
	return c
}
