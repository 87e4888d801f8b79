package main

import (
	"slices"

	"ovgen/docs/examples/llama/generated/biased"
	"ovgen/docs/examples/llama/generated/biasedblocks"
	"ovgen/docs/examples/llama/generated/biasedfp8"
	"ovgen/docs/examples/llama/generated/biasedscaled"
)

// qwen2 is Qwen 2 and 2.5: Llama with biases of queries, keys and values.
var qwen2 = family{
	forms: forms{few: layerOf(&biased.Program, biased.New, (*biased.Plan).Bind,
		func(p *biased.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate })},
	eight: forms{
		few: layerOf(&biasedfp8.Program, biasedfp8.New, (*biasedfp8.Plan).Bind,
			func(p *biasedfp8.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate }),
		more: layerOf(&biasedscaled.Program, biasedscaled.New, (*biasedscaled.Plan).Bind,
			func(p *biasedscaled.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate }),
	},
	squares: forms{few: layerOf(&biasedblocks.Program, biasedblocks.New, (*biasedblocks.Plan).Bind,
		func(p *biasedblocks.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate })},
	weights: slices.Concat(llama.weights, []weight{
		{buffer: "Bq", tensor: "self_attn.q_proj.bias", cut: bias(queryRows), joint: "Bqkv"},
		{buffer: "Bk", tensor: "self_attn.k_proj.bias", cut: bias(keyRows), joint: "Bqkv"},
		{buffer: "Bv", tensor: "self_attn.v_proj.bias", cut: bias(keyRows), joint: "Bqkv"},
	}),
	windowed: windowedQwen,
}

// windowedQwen goes by a field of Qwen's: a sliding_window without it says nothing.
func windowedQwen(c *Config) bool { return c.Windowed }
