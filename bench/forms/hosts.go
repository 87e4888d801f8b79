package forms

import (
	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Rows in batches, balanced rows and rows by counts, which hosts exchange.
var (
	HostsBatches       = onHosts(catalog.AllGatherLinearBatches)
	HostsBatchSums     = onHosts(catalog.LinearReduceScatterBatches)
	HostsBatchMLP      = onHosts(catalog.TensorParallelMLPBatches)
	HostsBalanced      = onHosts(catalog.AllGatherLinearBalanced)
	HostsBalancedSums  = onHosts(catalog.LinearReduceScatterBalanced)
	HostsCounted       = onHosts(catalog.AllGatherV)
	HostsCountedSums   = onHosts(catalog.ReduceScatterV)
	HostsDataParallel  = onHosts(catalog.DataParallelLayer)
	HostsAllGatherVFP8 = onHosts(catalog.AllGatherVQuantised)
)

// Layers and gathers of eight and four bits for ranks on several hosts, where rails move codes and their scales.
var (
	HostsGatherFP8       = onHosts(catalog.AllGatherLinearFP8)
	HostsGatherQuantised = onHosts(catalog.AllGatherLinearQuantised)
	HostsGatherBlocks    = onHosts(catalog.AllGatherLinearBlocksFP8)
	HostsScatterFP8      = onHosts(catalog.LinearReduceScatterFP8)
	HostsReduceFP8       = onHosts(catalog.LinearAllReduceFP8)
	HostsMLPFP8          = onHosts(catalog.GatedMLPFP8)
	HostsQuantised       = onHosts(catalog.AllGatherQuantised)
	HostsFP4             = onHosts(catalog.AllGatherFP4)
)

// onHosts is a schedule for ranks on several hosts, by rails.
func onHosts(x s.Schedule) s.Schedule {
	x.Mesh, x.Moves = s.Hosts(), nil
	return x
}
