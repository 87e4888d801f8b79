package catalog

import s "ovgen/schedule"

// AllGatherLinearHosts is AllGatherLinear for ranks on several hosts. Every shard crosses the network once,
// to the rank of its owner's number on each other host, which its peers there read. Choose it where one host is too
// small; the network keeps up with the products where the columns of C over all ranks are at least the number of hosts
// times FLOP/s of a GPU over bytes/s of its NIC (bf16, 400 Gb/s: 14 000 a host).
var AllGatherLinearHosts = s.Schedule{
	Mesh:    s.Hosts(),
	Tensors: linearTensors,
	Ops:     linear,
}

// LinearReduceScatterHosts is LinearReduceScatter for ranks on several hosts. Each host adds up its ranks' partial
// results for another host, and one sum a rank crosses the network; the own host is done with last, beside the
// network. Choose it behind AllGatherLinearHosts, where K over all ranks is as large as the columns there. Sums of
// hosts are rounded before they are added up, so runs on other numbers of hosts differ in bits. Where products are
// long and the network is not, schedule.Rails{Parts: 2} sends a part while the next is multiplied.
var LinearReduceScatterHosts = s.Schedule{
	Mesh:    s.Hosts(),
	Tensors: linearScattered,
	Ops:     product,
}

// LinearAllReduceHosts is LinearReduceScatterHosts, and then an all-gather of the ranks' rows of the sum, over the
// network and on each host. All ranks get equal bits.
var LinearAllReduceHosts = s.Schedule{
	Mesh:    s.Hosts(),
	Tensors: linearReduced,
	Ops:     product,
}

// AllReduceHosts is the sum of all ranks' A on each of them. A host's ranks sum first, and one sum a rank crosses the
// network; the ranks' rows of the sum are gathered likewise. An all-gather and a reduce-scatter over hosts are lowered
// too: AllGather and ReduceScatter with this Mesh.
var AllReduceHosts = s.Schedule{
	Mesh:    s.Hosts(),
	Tensors: summed,
	Ops:     []s.Op{s.Sum("C", "A")},
}
