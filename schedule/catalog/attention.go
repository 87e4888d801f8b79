package catalog

import s "ovgen/schedule"

// RotaryAttention is the attention half of a layer of Llama under tensor and sequence parallelism: the norm
// of each rank's own rows and the gather of the normed rows; query, key and value of the rank's heads, with
// queries and keys turned by the angles of their positions; causal attention over the gathered
// rows; and the projection with its reduce-scatter and the residual. Heads are W columns wide; Angles has
// W/2 cosines and then as many sines for each row. The attention is a kernel in attention.cu beside this file, as
// plain as can be: set the Plan's field to call a faster one. BlockBehindAttention follows it.
var RotaryAttention = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Norm", Axes: []s.Axis{s.Dim(s.K)}},
		{Name: "Angles", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.W)}},
		{Name: "Wq", Axes: []s.Axis{s.Dim(s.N, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Wk", Axes: []s.Axis{s.Dim(s.N2, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Wv", Axes: []s.Axis{s.Dim(s.N2, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Wo", Axes: []s.Axis{s.Dim(s.K), s.Dim(s.N, s.DIDx(s.D))}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
	},
	Ops: []s.Op{
		s.Copy("X", "A", s.RMSNorm("Norm")),
		s.Linear("Query", "X", "Wq", s.Rotary("Angles")), s.Linear("Key", "X", "Wk", s.Rotary("Angles")),
		s.Linear("Value", "X", "Wv"),
		s.CallKernel("O", "Attention", "mq,mk,mk->mq", s.Kernel{File: "attention.cu", Name: "causal",
			Blocks: "M*(N/D/W)", Threads: 128, Args: []string{"M", "N/D", "N2/D", "W"}}, "Query", "Key", "Value"),
		s.Linear("C", "O", "Wo", s.Add("A")),
	},
}
