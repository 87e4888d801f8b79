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
