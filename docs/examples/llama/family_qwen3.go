package main

import (
	"slices"

	"ovgen/docs/examples/llama/generated/normed"
	"ovgen/docs/examples/llama/generated/normedblocks"
	"ovgen/docs/examples/llama/generated/normedfp8"
	"ovgen/docs/examples/llama/generated/normedscaled"
)

// qwen3 is the dense models of Qwen 3: Llama with norms of each head of queries and of keys.
var qwen3 = family{
	forms: forms{few: layerOf(&normed.Program, normed.New, (*normed.Plan).Bind,
		func(p *normed.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate })},
	eight: forms{
		few: layerOf(&normedfp8.Program, normedfp8.New, (*normedfp8.Plan).Bind,
			func(p *normedfp8.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate }),
		more: layerOf(&normedscaled.Program, normedscaled.New, (*normedscaled.Plan).Bind,
			func(p *normedscaled.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate }),
	},
	squares: forms{few: layerOf(&normedblocks.Program, normedblocks.New, (*normedblocks.Plan).Bind,
		func(p *normedblocks.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate })},
	weights:  slices.Concat(llama.weights, headNorms),
	apart:    true,
	windowed: windowedQwen,
}

// headNorms are the weights of norms of each head.
var headNorms = []weight{
	{buffer: "NormQ", tensor: "self_attn.q_norm.weight", cut: wholeHead},
	{buffer: "NormK", tensor: "self_attn.k_norm.weight", cut: wholeHead},
}
