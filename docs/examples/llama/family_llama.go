package main

import (
	"ovgen/docs/examples/llama/generated/decode"
	"ovgen/docs/examples/llama/generated/prefill"
)

// llama is Llama 2 and 3.
var llama = family{
	few: layerOf(&decode.Program, decode.New, (*decode.Plan).Bind,
		func(p *decode.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate }),
	many: layerOf(&prefill.Program, prefill.New, (*prefill.Plan).Bind,
		func(p *prefill.Plan, own calls) { p.Attention = own.attention }),
	weights: []weight{
		{"Norm", "input_layernorm.weight", wholeRow, ""},
		{"Wq", "self_attn.q_proj.weight", queryRows, "Wqkv"},
		{"Wk", "self_attn.k_proj.weight", keyRows, "Wqkv"},
		{"Wv", "self_attn.v_proj.weight", keyRows, "Wqkv"},
		{"Wo", "self_attn.o_proj.weight", columns(queryRows), ""},
		{"Norm2", "post_attention_layernorm.weight", wholeRow, ""},
		{"Gate", "mlp.gate_proj.weight", gateRows, "GateUp"},
		{"Up", "mlp.up_proj.weight", gateRows, "GateUp"},
		{"Down", "mlp.down_proj.weight", columns(gateRows), ""},
	},
}

// mistral is Llama with a window of attention, or without.
var mistral = family{few: llama.few, many: llama.many, weights: llama.weights,
	windowed: func(*Config) bool { return true }}
