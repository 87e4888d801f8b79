package catalog

import s "ovgen/schedule"

// LlamaLayer is a whole layer of Llama under tensor and sequence parallelism, in one host program and
// one graph: the norm of each rank's own rows and the gather of the normed rows; query, key and value
// of the rank's heads, with queries and keys turned by the angles of their positions; attention; the projection
// with its reduce-scatter and the residual; and the gated MLP likewise. Heads are W columns wide;
// Angles has W/2 cosines and then as many sines for each row. Attention is the caller's: a Go function that
// enqueues it between the products, for all rows and this rank's heads, and that has the cache to itself.
// ovgen proves the rest, and that attention reads and writes nothing too early or too late.
var LlamaLayer = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Norm", Axes: []s.Axis{s.Dim(s.K)}},
		{Name: "Angles", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.W)}},
		{Name: "Wq", Axes: []s.Axis{s.Dim(s.N, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Wk", Axes: []s.Axis{s.Dim(s.N2, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Wv", Axes: []s.Axis{s.Dim(s.N2, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Wo", Axes: []s.Axis{s.Dim(s.K), s.Dim(s.N, s.DIDx(s.D))}},
		{Name: "Norm2", Axes: []s.Axis{s.Dim(s.K)}},
		{Name: "Gate", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Up", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Down", Axes: []s.Axis{s.Dim(s.K), s.Dim(s.F, s.DIDx(s.D))}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
	},
	Ops: []s.Op{
		s.Copy("X", "A", s.RMSNorm("Norm")),
		s.Linear("Query", "X", "Wq", s.Rotary("Angles")), s.Linear("Key", "X", "Wk", s.Rotary("Angles")),
		s.Linear("Value", "X", "Wv"),
		s.Call("O", "Attention", "mq,mk,mk->mq", "Query", "Key", "Value"),
		s.Linear("R", "O", "Wo", s.Add("A")),
		s.Copy("Y", "R", s.RMSNorm("Norm2")),
		s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate", s.SwiGLU("U")), s.Linear("C", "G", "Down", s.Add("R")),
	},
}

// Logits multiplies the last layer's result by the vocabulary's weight, which is spread over the ranks by words
// (Megatron's parallel output layer, gathered): each rank makes the logits of its words, and then copies the logits
// of its peers beside them in each row. A is the same on all ranks, as behind an all-reduce.
var Logits = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N)}},
	},
	Ops: []s.Op{s.Linear("C", "A", "B")},
}

// LayerNormLinear is a column-parallel layer of GPT as Transformer Engine's module of that name has it: each rank norms
// its own rows about their means, and the normed rows are gathered and multiplied. The norm adds 1e-6, as ViT has it.
var LayerNormLinear = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Norm", Axes: []s.Axis{s.Dim(s.K)}},
		{Name: "Offset", Axes: []s.Axis{s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Bias", Axes: []s.Axis{s.Dim(s.N, s.DIDx(s.D))}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N, s.DIDx(s.D))}},
	},
	Ops: []s.Op{
		s.Copy("X", "A", s.LayerNorm("Norm", "Offset").WithEpsilon(1e-6)), s.Linear("C", "X", "B", s.Bias("Bias")),
	},
}
