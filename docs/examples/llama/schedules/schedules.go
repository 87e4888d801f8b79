// Package schedules declares a layer of Llama for many rows and for few, and layers of other models.
package schedules

//go:generate go run ovgen/cmd/ovgen gen -o ../generated .

import (
	"slices"

	s "ovgen/schedule"
	"ovgen/schedule/catalog"
)

// Prefill is a layer of many rows. Between the layers each rank has a part of the rows, so gathers and reduce-scatters
// follow; they run at the same time as the products. It is catalog.LlamaLayer without the rotary embedding: the kernels
// of attention turn queries and keys as they read them, which saves two launches.
var Prefill = s.Schedule{
	Tensors: slices.DeleteFunc(slices.Clone(catalog.LlamaLayer.Tensors), func(t s.Tensor) bool {
		return t.Name == "Angles"
	}),
	Ops: []s.Op{
		s.Copy("X", "A", s.RMSNorm("Norm")),
		s.Linear("Query", "X", "Wq"), s.Linear("Key", "X", "Wk"), s.Linear("Value", "X", "Wv"),
		s.Call("O", "Attention", "mq,mk,mk->mq", "Query", "Key", "Value"),
		s.Linear("R", "O", "Wo", s.Add("A")),
		s.Copy("Y", "R", s.RMSNorm("Norm2")),
		s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("R")),
	},
}

// PrefillNCCL is Prefill with NCCL's all-gathers and reduce-scatters.
var PrefillNCCL = s.Schedule{Tensors: Prefill.Tensors, Ops: Prefill.Ops, Moves: catalog.LlamaLayerNCCL.Moves}

// Decode is a layer of few rows, of 8 launches where attention is one. Each rank has all rows; the heads and the MLP
// are cut. Each of the two row-parallel products ends in an all-reduce by one kernel, which adds the residual and makes
// the norm of the next product too. It takes any number of rows.
var Decode = few([]s.Tensor{wqkv}, []s.Op{s.Linear("QKV", "X", "Wqkv"), together}, packets...)

// DecodeNCCL is Decode with NCCL's all-reduce.
var DecodeNCCL = few([]s.Tensor{wqkv}, []s.Op{s.Linear("QKV", "X", "Wqkv"), together},
	s.Move{Of: "R", Way: s.NCCL{}}, s.Move{Of: "C", Way: s.NCCL{}})

// Biased is Decode with biases of queries, keys and values, as Qwen2 has them.
var Biased = few([]s.Tensor{wqkv, {Name: "Bqkv", Axes: []s.Axis{s.Dim(s.N2, s.DIDx(s.D))}}},
	[]s.Op{s.Linear("QKV", "X", "Wqkv", s.Bias("Bqkv")), together}, packets...)

// Normed is Decode with a norm of each head of queries and of keys, W columns wide, as Qwen3 has them. Their products
// are apart: values have no norm.
var Normed = few(normedHeads, apart(s.RMSNorm), packets...)

// normedHeads are the weights of such products and norms.
var normedHeads = []s.Tensor{
	{Name: "Wq", Axes: []s.Axis{s.Dim(s.N, s.DIDx(s.D)), s.Dim(s.K)}},
	{Name: "Wk", Axes: []s.Axis{s.Dim(s.N2, s.DIDx(s.D)), s.Dim(s.K)}},
	{Name: "Wv", Axes: []s.Axis{s.Dim(s.N2, s.DIDx(s.D)), s.Dim(s.K)}},
	{Name: "NormQ", Axes: []s.Axis{s.Dim(s.W)}},
	{Name: "NormK", Axes: []s.Axis{s.Dim(s.W)}},
}

// apart are these products, by the norm of their heads, and attention to what they make.
func apart(norm func(weight string) s.Func) []s.Op {
	return []s.Op{
		s.Linear("Query", "X", "Wq", norm("NormQ").PerHead(s.W)),
		s.Linear("Key", "X", "Wk", norm("NormK").PerHead(s.W)),
		s.Linear("Value", "X", "Wv"),
		s.Call("O", "Attention", "mq,mk,mk->mq", "Query", "Key", "Value"),
	}
}

// DecodeFP8, BiasedFP8 and NormedFP8 are these layers by weights of eight bits.
var (
	DecodeFP8 = eight(Decode)
	BiasedFP8 = eight(Biased)
	NormedFP8 = eight(Normed)
)

// Candidates brings the best tokens of all ranks to all.
var Candidates = catalog.AllGatherPackets

// wqkv has the rank's rows of the weights of queries, keys and values, one after the other: one product makes all.
var wqkv = s.Tensor{Name: "Wqkv", Axes: []s.Axis{s.Dim(s.N2, s.DIDx(s.D)), s.Dim(s.K)}}

// together is attention to what that product makes.
var together = s.Call("O", "Attention", "mp->mq", "QKV")

// packets are all-reduces by one kernel each, of whole rows.
var packets = []s.Move{{Of: "R", Way: s.PushShot{Rows: true}}, {Of: "C", Way: s.PushShot{Rows: true}}}

// few declares a layer of few rows. It takes the rows A and their norm X, and makes C and the norm Z, which is the next
// layer's X. GateUp has the rank's rows of both weights, one after the other. Kernels make the products of up to 64
// rows, and read their weights ahead.
func few(heads []s.Tensor, attention []s.Op, moves ...s.Move) s.Schedule {
	rows := []s.Axis{s.Dim(s.M), s.Dim(s.K)}
	layer := s.Schedule{
		Tensors: slices.Concat([]s.Tensor{{Name: "A", Axes: rows}, {Name: "X", Axes: rows}}, heads, []s.Tensor{
			{Name: "O", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N, s.DIDx(s.D))}},
			{Name: "Wo", Axes: []s.Axis{s.Dim(s.K), s.Dim(s.N, s.DIDx(s.D))}},
			{Name: "Norm2", Axes: []s.Axis{s.Dim(s.K)}},
			{Name: "GateUp", Axes: []s.Axis{s.Dim(s.N3, s.DIDx(s.D)), s.Dim(s.K)}},
			{Name: "G", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.F, s.DIDx(s.D))}},
			{Name: "Down", Axes: []s.Axis{s.Dim(s.K), s.Dim(s.F, s.DIDx(s.D))}},
			{Name: "Next", Axes: []s.Axis{s.Dim(s.K)}},
			{Name: "C", Axes: rows}, {Name: "Z", Axes: rows},
		}),
		Ops: append(attention,
			s.Linear("Y", "O", "Wo", s.Add("A"), s.RMSNorm("Norm2")).Keeping("R", 1),
			s.Linear("U", "Y", "GateUp"), s.Call("G", "SwiGLU", "mp->mf", "U"),
			s.Linear("Z", "G", "Down", s.Add("R"), s.RMSNorm("Next")).Keeping("C", 1)),
		Moves: moves, FewRows: 64,
	}
	return weights(layer, func(t *s.Tensor) { t.Constant = true })
}

// weights changes the weights of a layer's products.
func weights(layer s.Schedule, change func(t *s.Tensor)) s.Schedule {
	layer.Tensors = slices.Clone(layer.Tensors)
	for i, t := range layer.Tensors {
		if slices.ContainsFunc(layer.Ops, func(o s.Op) bool { return len(o.In) == 2 && o.In[1] == t.Name }) {
			change(&layer.Tensors[i])
		}
	}
	return layer
}

// eight gives the weights of a layer's products eight bits, and a scale for each of their rows. What the products read
// and make beside them has 16. Kernels make all of them.
func eight(layer s.Schedule) s.Schedule {
	var scales []s.Tensor
	layer = weights(layer, func(t *s.Tensor) {
		t.Type, t.Scale = s.E4M3, "Scale"+t.Name
		scales = append(scales, s.Tensor{Name: t.Scale, Axes: t.Axes[:1:1], Type: s.FP32})
	})
	layer.Tensors, layer.FewRows = append(layer.Tensors, scales...), 0
	return layer
}
