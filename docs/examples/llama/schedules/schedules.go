// Package schedules declares a layer of Llama for many rows and for few, and layers of other models.
package schedules

//go:generate go run ovgen/cmd/ovgen gen -o ../generated .

import (
	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Prefill is a layer of many rows. Between the layers each rank has a part of the rows, so gathers and reduce-scatters
// follow; they run at the same time as the products. It is catalog.LlamaLayer without the rotary embedding: the kernels
// of attention turn queries and keys as they read them, which saves two launches.
var Prefill = layer(s.Dim(s.M, s.DIDx(s.D)), nil)

// PrefillNCCL is Prefill with NCCL's all-gathers and reduce-scatters.
var PrefillNCCL = layer(s.Dim(s.M, s.DIDx(s.D)), nil, catalog.LlamaLayerNCCL.Moves...)

// Decode is a layer of few rows. Each rank has all rows; the heads and the MLP are cut. Each of the two row-parallel
// products ends in an all-reduce by one kernel, which adds the residual as well. It takes any number of rows.
var Decode = layer(s.Dim(s.M), nil, shots...)

// DecodeNCCL is Decode with NCCL's all-reduce.
var DecodeNCCL = layer(s.Dim(s.M), nil, s.Move{Of: "R", Way: s.NCCL{}}, s.Move{Of: "C", Way: s.NCCL{}})

// Biased is Decode with biases of queries, keys and values, as Qwen2 has them.
var Biased = layer(s.Dim(s.M), []extra{
	{"Query", s.Bias("Bq"), s.Tensor{Name: "Bq", Axes: []s.Axis{s.Dim(s.N, s.DIDx(s.D))}}},
	{"Key", s.Bias("Bk"), s.Tensor{Name: "Bk", Axes: []s.Axis{s.Dim(s.N2, s.DIDx(s.D))}}},
	{"Value", s.Bias("Bv"), s.Tensor{Name: "Bv", Axes: []s.Axis{s.Dim(s.N2, s.DIDx(s.D))}}},
}, shots...)

// Normed is Decode with a norm of each head of queries and of keys, W columns wide, as Qwen3 has them.
var Normed = layer(s.Dim(s.M), []extra{
	{"Query", s.RMSNorm("NormQ").PerHead(s.W), s.Tensor{Name: "NormQ", Axes: []s.Axis{s.Dim(s.W)}}},
	{"Key", s.RMSNorm("NormK").PerHead(s.W), s.Tensor{Name: "NormK", Axes: []s.Axis{s.Dim(s.W)}}},
}, shots...)

// shots are all-reduces by one kernel each.
var shots = []s.Move{{Of: "R", Way: s.Shot{}}, {Of: "C", Way: s.Shot{}}}

// extra is a function behind an operation of Llama's, ahead of those that are there, and its operand.
type extra struct {
	behind string // the operation's result
	does   s.Func
	of     s.Tensor
}

// layer declares a layer. rows places the rows of the residual, A and C.
func layer(rows s.Axis, more []extra, moves ...s.Move) s.Schedule {
	l := s.Schedule{
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
	for _, x := range more {
		l.Tensors = append(l.Tensors, x.of)
		for i, o := range l.Ops {
			if o.Out == x.behind {
				l.Ops[i].Then = append([]s.Func{x.does}, o.Then...)
			}
		}
	}
	return l
}
