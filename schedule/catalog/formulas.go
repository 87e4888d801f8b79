package catalog

import s "ovgen/schedule"

// SquaredReLUMLP is an MLP whose first layer ends with the square of ReLU, as Nemotron's, and whose second one is
// scaled ahead of the residual, as Granite's. Both are formulas, made by kernels of their own: behind the products of
// each rank's rows, and behind the sum of all ranks' partial results.
var SquaredReLUMLP = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "B2", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.F, s.DIDx(s.D))}},
		{Name: "Residual", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
	},
	Ops: []s.Op{
		s.Linear("H", "A", "B", s.SquaredReLU()),
		s.Linear("C", "H", "B2", s.Scale(.25), s.Add("Residual")),
	},
	Teaches: true, // the cost of formulas; no other schedule computes the same
}

// NormedHeads makes the queries of Qwen3's attention: the linear of gathered rows, for this rank's heads, a norm of
// each head, W columns wide, and its rotary embedding, by one kernel. The Shape has the norms' epsilon, Qwen3's 1e-6.
var NormedHeads = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "B", Axes: []s.Axis{s.Dim(s.N, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Norm", Axes: []s.Axis{s.Dim(s.W)}},
		{Name: "Angles", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.W)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M, s.Stream(s.D)), s.Dim(s.N, s.DIDx(s.D))}},
	},
	Ops:     []s.Op{s.Linear("C", "A", "B", s.RMSNorm("Norm").PerHead(s.W), s.Rotary("Angles"))},
	Teaches: true, // the same of heads
}

// CappedLogits is the end of Gemma 2: each rank norms its rows of the last sum before it adds the residual, and norms
// them again; they are gathered, and the logits, of words that are spread over the ranks, stay within 30. R, the sum,
// leaves too.
var CappedLogits = s.Schedule{
	Tensors: []s.Tensor{
		{Name: "A", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "Down", Axes: []s.Axis{s.Dim(s.N), s.Dim(s.K, s.DIDx(s.D))}},
		{Name: "Norm", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "Residual", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "Norm2", Axes: []s.Axis{s.Dim(s.N)}},
		{Name: "Words", Axes: []s.Axis{s.Dim(s.N2, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "R", Axes: []s.Axis{s.Dim(s.M, s.DIDx(s.D)), s.Dim(s.N)}},
		{Name: "C", Axes: []s.Axis{s.Dim(s.M), s.Dim(s.N2)}},
	},
	Ops: []s.Op{
		s.Linear("R", "A", "Down", gemmaNorm("Norm"), s.Add("Residual")),
		s.Copy("X", "R", gemmaNorm("Norm2")),
		s.Linear("C", "X", "Words", s.SoftCap(30)),
	},
	Teaches: true, // the same of whole rows
}

// gemmaNorm is the norm of Gemma, whose weights are less by 1.
func gemmaNorm(weight string) s.Func {
	mean := s.Mean(s.Times(s.X, s.X))
	normed := s.Times(s.X, s.RecipRoot(s.Plus(mean, s.Num(1e-6))))
	return s.Func{Word: "gemmanorm", Is: s.Times(normed, s.Plus(s.Num(1), s.Row(weight)))}
}
