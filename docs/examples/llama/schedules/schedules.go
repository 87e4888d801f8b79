// Package schedules declares the programs of the decoder that the catalog lacks.
package schedules

//go:generate go run ovgen/cmd/ovgen gen -o ../generated .

import (
	"slices"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Decode is a layer of few rows, which are whole on each rank: the heads and the MLP are cut, and each of
// the two row-parallel products ends in an all-reduce by one kernel, which adds the residual as well. It
// takes any number of rows, from one on. catalog.LlamaLayer is the same layer for many rows.
var Decode = s.Schedule{
	Tensors: whole(catalog.LlamaLayer.Tensors, "A", "C"),
	Ops:     catalog.LlamaLayer.Ops,
	Moves:   []s.Move{{Of: "R", Way: s.Shot{}}, {Of: "C", Way: s.Shot{}}},
}

// DecodeNCCL is Decode with NCCL's all-reduce.
var DecodeNCCL = s.Schedule{
	Tensors: Decode.Tensors,
	Ops:     Decode.Ops,
	Moves:   []s.Move{{Of: "R", Way: s.NCCL{}}, {Of: "C", Way: s.NCCL{}}},
}

// whole is the tensors with all rows of the named ones on each rank.
func whole(tensors []s.Tensor, names ...string) []s.Tensor {
	tensors = slices.Clone(tensors)
	for i, t := range tensors {
		if slices.Contains(names, t.Name) {
			tensors[i].Axes = []s.Axis{s.Dim(s.M), s.Dim(s.K)}
		}
	}
	return tensors
}
