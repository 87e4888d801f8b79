package schedules

import (
	"slices"

	s "ovgen/schedule"
)

// Gemma is Decode for Gemma 2: what attention and the MLP make is normed before the residual is added, too, norms
// multiply by 1 + their weights, and the gate is GELU's.
var Gemma = gemma([]s.Tensor{wqkv}, s.Linear("QKV", "X", "Wqkv"), together)

// GemmaNormed is Gemma with a norm of each head of queries and of keys, as Gemma 3 has them.
var GemmaNormed = gemma(normedHeads, apart(plusOne)...)

// GemmaFP8 and GemmaNormedFP8 are these layers by weights of eight bits.
var (
	GemmaFP8       = eight(Gemma)
	GemmaNormedFP8 = eight(GemmaNormed)
)

// gemma declares a layer of few rows of Gemma's, by its attention.
func gemma(heads []s.Tensor, attention ...s.Op) s.Schedule {
	layer := few(slices.Concat(heads, []s.Tensor{
		{Name: "Behind", Axes: []s.Axis{s.Dim(s.K)}}, {Name: "Behind2", Axes: []s.Axis{s.Dim(s.K)}},
		{Name: "Gate", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
		{Name: "Up", Axes: []s.Axis{s.Dim(s.F, s.DIDx(s.D)), s.Dim(s.K)}},
	}), nil, packets...)
	layer.Tensors = slices.DeleteFunc(layer.Tensors, func(t s.Tensor) bool { return t.Name == "GateUp" })
	layer.Ops = append(attention,
		s.Linear("Y", "O", "Wo", plusOne("Behind"), s.Add("A"), plusOne("Norm2")).Keeping("R", 2),
		s.Linear("U", "Y", "Up"), s.Linear("G", "Y", "Gate", s.GeGLU("U")),
		s.Linear("Z", "G", "Down", plusOne("Behind2"), s.Add("R"), plusOne("Next")).Keeping("C", 2))
	return weights(layer, func(t *s.Tensor) { t.Constant = true })
}

// plusOne is RMSNorm by 1 + the weight.
func plusOne(weight string) s.Func {
	norm := s.Times(s.X, s.RecipRoot(s.Plus(s.Mean(s.Times(s.X, s.X)), s.Param(s.Epsilon))))
	return s.Func{Word: "gemmanorm", Is: s.Times(norm, s.Plus(s.Num(1), s.Row(weight)))}
}
