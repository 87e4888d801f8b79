package main

import (
	"slices"

	"ovgen/docs/examples/llama/generated/normed"
)

// qwen3 is the dense models of Qwen 3: Llama with norms of each head of queries and of keys.
var qwen3 = family{
	few: layerOf(&normed.Program, normed.New, (*normed.Plan).Bind,
		func(p *normed.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate }),
	weights:  slices.Concat(llama.weights, headNorms),
	apart:    true,
	windowed: windowedQwen,
}

// headNorms are the weights of norms of each head.
var headNorms = []weight{
	{"NormQ", "self_attn.q_norm.weight", wholeHead, ""},
	{"NormK", "self_attn.k_norm.weight", wholeHead, ""},
}
