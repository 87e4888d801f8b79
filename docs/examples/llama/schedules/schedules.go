// Package schedules declares a layer of Llama for many rows and for few.
package schedules

//go:generate go run ovgen/cmd/ovgen gen -o ../generated .

import (
	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Prefill is a layer of many rows. Between the layers each rank has a part of the rows, so gathers and reduce-scatters
// follow; they run at the same time as the products. It is catalog.LlamaLayer without the rotary embedding: the kernels
// of attention turn queries and keys as they read them, which saves two launches.
var Prefill = layer(s.Dim(s.M, s.DIDx(s.D)))

// PrefillNCCL is Prefill with NCCL's all-gathers and reduce-scatters.
var PrefillNCCL = layer(s.Dim(s.M, s.DIDx(s.D)), catalog.LlamaLayerNCCL.Moves...)

// Decode is a layer of few rows. Each rank has all rows; the heads and the MLP are cut. Each of the two row-parallel
// products ends in an all-reduce by one kernel, which adds the residual as well. It takes any number of rows.
var Decode = layer(s.Dim(s.M), s.Move{Of: "R", Way: s.Shot{}}, s.Move{Of: "C", Way: s.Shot{}})

// DecodeNCCL is Decode with NCCL's all-reduce.
var DecodeNCCL = layer(s.Dim(s.M), s.Move{Of: "R", Way: s.NCCL{}}, s.Move{Of: "C", Way: s.NCCL{}})

// layer declares a layer. rows places the rows of the residual, A and C.
func layer(rows s.Axis, moves ...s.Move) s.Schedule {
	return s.Schedule{
		Tensors: []s.Tensor{
			{Name: "A", Axes: []s.Axis{rows, s.Dim(s.K)}},
			{Name: "Norm", Axes: []s.Axis{s.Dim(s.K)}},
			{Name: "Wq", Axes: []s.Axis{s.Dim(s.N, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "Wk", Axes: []s.Axis{s.Dim(s.N2, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "Wv", Axes: []s.Axis{s.Dim(s.N2, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "Wo", Axes: []s.Axis{s.Dim(s.K), s.Dim(s.N, s.DIDx(s.D))}},
			{Name: "Norm2", Axes: []s.Axis{s.Dim(s.K)}},
			{Name: "Gate", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "Up", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "Down", Axes: []s.Axis{s.Dim(s.K), s.Dim(s.F, s.DIDx(s.D))}},
			{Name: "C", Axes: []s.Axis{rows, s.Dim(s.K)}},
		},
		Ops: []s.Op{
			s.Copy("X", "A", s.RMSNorm("Norm")),
			s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"),
			s.Call("O", "Attention", "mq,mk,mk->mq", "Query", "Key", "Value"),
			s.Linear("R", "O", "Wo", s.Add("A")),
			s.Copy("Y", "R", s.RMSNorm("Norm2")),
			s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("R")),
		},
		Moves: moves,
	}
}
