package main

import (
	"slices"

	"ovgen/docs/examples/llama/generated/biased"
)

// qwen2 is Qwen 2 and 2.5: Llama with biases of queries, keys and values.
var qwen2 = family{
	few: layerOf(&biased.Program, biased.New, (*biased.Plan).Bind,
		func(p *biased.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate }),
	weights: slices.Concat(llama.weights, []weight{
		{"Bq", "self_attn.q_proj.bias", bias(queryRows), "Bqkv"},
		{"Bk", "self_attn.k_proj.bias", bias(keyRows), "Bqkv"},
		{"Bv", "self_attn.v_proj.bias", bias(keyRows), "Bqkv"},
	}),
	windowed: windowedQwen,
}

// windowedQwen goes by a field of Qwen's: a sliding_window without it says nothing.
func windowedQwen(c *Config) bool { return c.Windowed }
