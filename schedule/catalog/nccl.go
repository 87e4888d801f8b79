package catalog

import s "ovgen/schedule"

// AllGatherLinearNCCL gathers all of A by NCCL, then multiplies it: the form that every framework
// has, with nothing overlapped. Choose it where ranks can't map each other's memory (two H200s, which
// can: .82 of the product alone at 16384 rows, where AllGatherLinear takes no longer than the product).
var AllGatherLinearNCCL = s.Schedule{
	Tensors: linearTensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.NCCL{}}},
}

// AllGatherLinearNCCL4 is AllGatherLinearNCCL in four chunks: each travels while the one
// before is multiplied, as in nvFuser's pipeline on a stream axis with its own backend. NCCL takes
// multiprocessors from the products, so little is won (two H200s, gated: .84 of the product alone at
// 16384 rows and .76 at 4096, where the serial form has .81 and .83).
var AllGatherLinearNCCL4 = s.Schedule{
	Tensors: collective("4").Tensors,
	Ops:     linear,
	Moves:   []s.Move{{Of: "A", Way: s.NCCL{}}},
}

// LinearReduceScatterNCCL multiplies, then adds the partial results up by NCCL in two parts, of
// which one is added up while the other is multiplied. NCCL adds in an order of its own and rounds
// on the way (two H200s, gated: .75 of the product alone at 16384 rows and .66 at 4096;
// LinearReduceScatter .91 and .89).
var LinearReduceScatterNCCL = s.Schedule{
	Tensors: linearScattered,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.NCCL{Parts: 2}}},
}

// LinearAllReduceNCCL multiplies, then adds the partial results up on all ranks by NCCL, in two
// parts as LinearReduceScatterNCCL does. All ranks get equal bits. On two H200s it is as fast as
// LinearAllReduce (gated: .70 of the product alone at 16384 rows and .65 at 4096; LinearAllReduce .68 and .65).
var LinearAllReduceNCCL = s.Schedule{
	Tensors: linearReduced,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.NCCL{Parts: 2}}},
}

// LlamaLayerNCCL is LlamaLayer as frameworks have it: NCCL gathers all rows before the products, and scatters the
// partial results behind them, with nothing overlapped. A kernel adds the residuals afterwards.
var LlamaLayerNCCL = s.Schedule{
	Tensors: LlamaLayer.Tensors,
	Ops:     LlamaLayer.Ops,
	Moves: []s.Move{{Of: "X", Way: s.NCCL{}}, {Of: "R", Way: s.NCCL{}}, {Of: "Y", Way: s.NCCL{}},
		{Of: "C", Way: s.NCCL{}}},
}

// AllReduceNCCL is the sum of all ranks' A on each of them, by NCCL.
var AllReduceNCCL = s.Schedule{
	Tensors: summed,
	Ops:     []s.Op{s.Sum("C", "A")},
	Moves:   []s.Move{{Of: "C", Way: s.NCCL{}}},
}

// AllGatherNCCL brings the rows of all ranks together on each of them, by NCCL.
var AllGatherNCCL = s.Schedule{
	Tensors: AllGather.Tensors,
	Ops:     AllGather.Ops,
	Moves:   []s.Move{{Of: "A", Way: s.NCCL{}}},
}

// AllToAllNCCL brings part p of each rank's A to rank p, by NCCL's grouped sends and receives.
var AllToAllNCCL = s.Schedule{
	Tensors: AllToAll.Tensors,
	Ops:     AllToAll.Ops,
	Moves:   []s.Move{{Of: "A", Way: s.NCCL{}}},
}
