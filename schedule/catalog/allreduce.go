package catalog

import (
	"slices"

	s "ovgen/schedule"
)

// LinearAllReduce multiplies A and a weight [N, K] that are both cut along K, and
// leaves every rank the whole sum: a row-parallel layer without sequence parallelism.
// It is LinearReduceScatter, then an all-gather of the sums, in two parts: the first
// half of each rank's rows is summed and gathered while the second is multiplied and
// put. Each sum is made once, by its owner, so all ranks have equal bits. Choose it for
// outputs of tens of megabytes; Megatron runs a ring all-reduce after the product
// here, with nothing overlapped.
var LinearAllReduce = s.Schedule{
	Tensors: linearReduced,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.Slots{Parts: 2}}},
}

// LinearAllReduceOneShot is LinearAllReduce for small outputs: each rank multiplies, and
// one kernel waits for the peers, reads all partial results over the link, adds them in the
// order of ranks, so that all ranks get equal bits, and posts that it is done. Every rank
// reads D-1 whole outputs: choose it up to about two megabytes of them. vLLM, SGLang and
// TensorRT-LLM decode with it.
var LinearAllReduceOneShot = s.Schedule{
	Tensors: linearReduced,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.Shot{}}},
}

// LinearAllReducePackets is LinearAllReduceOneShot whose ranks send their partial results as packets, as
// AllReducePackets does. Choose it up to two megabytes of output.
var LinearAllReducePackets = s.Schedule{
	Tensors: linearReduced,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.PushShot{}}},
}

// LinearAllReduceFewRows is LinearAllReducePackets for decoding: up to 64 rows are multiplied by a kernel of the
// package, which adds up in one order, so that a row has the same bits beside any number of rows. On an H200 it beats
// the library for up to 8 rows, and for more of small weights.
var LinearAllReduceFewRows = s.Schedule{
	Tensors: linearReduced,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.PushShot{}}},
	FewRows: 64,
}

// LinearAllReduceFewRowsAhead is LinearAllReduceFewRows whose kernels read the weight ahead of the end of the launch
// before them, on GPUs of compute capability 9.0 or later: nobody may write it while runs are under way.
var LinearAllReduceFewRowsAhead = s.Schedule{
	Tensors: constant("B", linearReduced),
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.PushShot{}}},
	FewRows: 64,
}

// constant lets a weight be read ahead.
func constant(weight string, tensors []s.Tensor) []s.Tensor {
	tensors = slices.Clone(tensors)
	for i := range tensors {
		tensors[i].Constant = tensors[i].Name == weight
	}
	return tensors
}

// LinearAllReducePush is LinearAllReducePackets for larger outputs, whose partial results are sent as they are, as
// AllReducePush does. On two H200s it is level with LinearAllReduceOneShot.
var LinearAllReducePush = s.Schedule{
	Tensors: linearReduced,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.PushShot{Words: true}}},
}

// LinearAllReduceTwoShot is LinearAllReduceOneShot with each rank adding its own rows
// only and reading the other sums from the ranks that made them: two exchanges of 1/D
// of the output with each peer in place of one of all of it. Choose it from about two
// megabytes up to where copies overlapped with products win (64 on four H200s).
var LinearAllReduceTwoShot = s.Schedule{
	Tensors: linearReduced,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.TwoShot{}}},
}

// LinearAllReduceTwoShotPackets is LinearAllReducePackets whose partial results go to their owners only, who send the
// sums to all, as AllReduceTwoShotPackets does: for three ranks or more.
var LinearAllReduceTwoShotPackets = s.Schedule{
	Tensors: linearReduced,
	Ops:     product,
	Moves:   []s.Move{{Of: "C", Way: s.PushTwoShot{}}},
}

var product = []s.Op{s.Linear("C", "A", "B")}

var linearReduced = []s.Tensor{
	{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
	{Name: "B", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
	{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
}
