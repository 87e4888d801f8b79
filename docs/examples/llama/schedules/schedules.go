// Package schedules declares the programs of the decoder that the catalog lacks.
package schedules

//go:generate go run ovgen/cmd/ovgen gen -o ../generated .

import (
	"slices"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Prefill is a layer of many rows: catalog.LlamaLayer but for the rotary embedding, since the kernels of attention turn
// queries and keys as they read them, which is two launches fewer.
var Prefill = s.Schedule{Tensors: unturned(catalog.LlamaLayer.Tensors), Ops: plain(catalog.LlamaLayer.Ops)}

// PrefillNCCL is Prefill with NCCL's all-gathers and reduce-scatters.
var PrefillNCCL = s.Schedule{Tensors: Prefill.Tensors, Ops: Prefill.Ops, Moves: catalog.LlamaLayerNCCL.Moves}

// Decode is Prefill of few rows, which are whole on each rank: the heads and the MLP are cut, and each of
// the two row-parallel products ends in an all-reduce by one kernel, which adds the residual as well. It
// takes any number of rows, from one on.
var Decode = s.Schedule{
	Tensors: whole(Prefill.Tensors, "A", "C"),
	Ops:     Prefill.Ops,
	Moves:   []s.Move{{Of: "R", Way: s.Shot{}}, {Of: "C", Way: s.Shot{}}},
}

// DecodeNCCL is Decode with NCCL's all-reduce.
var DecodeNCCL = s.Schedule{
	Tensors: Decode.Tensors,
	Ops:     Decode.Ops,
	Moves:   []s.Move{{Of: "R", Way: s.NCCL{}}, {Of: "C", Way: s.NCCL{}}},
}

// unturned is the tensors without the angles.
func unturned(tensors []s.Tensor) []s.Tensor {
	return slices.DeleteFunc(slices.Clone(tensors), func(t s.Tensor) bool { return t.Name == "Angles" })
}

// plain is the operations without what reads the angles.
func plain(ops []s.Op) []s.Op {
	ops = slices.Clone(ops)
	for i, o := range ops {
		ops[i].Then = slices.DeleteFunc(slices.Clone(o.Then), func(f s.Func) bool { return f.Do == s.ApplyRotary })
	}
	return ops
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
