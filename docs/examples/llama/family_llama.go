package main

import (
	"ovgen/docs/examples/llama/generated/decode"
	"ovgen/docs/examples/llama/generated/decodeblocks"
	"ovgen/docs/examples/llama/generated/decodefp8"
	"ovgen/docs/examples/llama/generated/decodescaled"
	"ovgen/docs/examples/llama/generated/prefill"
	"ovgen/docs/examples/llama/generated/prefillscaled"
)

// llama is Llama 2 and 3.
var llama = family{
	forms: forms{
		few: layerOf(&decode.Program, decode.New, (*decode.Plan).Bind,
			func(p *decode.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate }),
		many: layerOf(&prefill.Program, prefill.New, (*prefill.Plan).Bind,
			func(p *prefill.Plan, own calls) { p.Attention = own.attention }),
	},
	eight: forms{
		few: layerOf(&decodefp8.Program, decodefp8.New, (*decodefp8.Plan).Bind,
			func(p *decodefp8.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate }),
		more: layerOf(&decodescaled.Program, decodescaled.New, (*decodescaled.Plan).Bind,
			func(p *decodescaled.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate }),
		many: layerOf(&prefillscaled.Program, prefillscaled.New, (*prefillscaled.Plan).Bind,
			func(p *prefillscaled.Plan, own calls) { p.Attention = own.attention }),
	},
	squares: forms{few: layerOf(&decodeblocks.Program, decodeblocks.New, (*decodeblocks.Plan).Bind,
		func(p *decodeblocks.Plan, own calls) { p.Attention, p.SwiGLU = own.attention, own.gate })},
	weights: []weight{
		{buffer: "Norm", tensor: "input_layernorm.weight", cut: wholeRow},
		{buffer: "Wq", tensor: "self_attn.q_proj.weight", cut: queryRows, joint: "Wqkv"},
		{buffer: "Wk", tensor: "self_attn.k_proj.weight", cut: keyRows, joint: "Wqkv"},
		{buffer: "Wv", tensor: "self_attn.v_proj.weight", cut: keyRows, joint: "Wqkv"},
		{buffer: "Wo", tensor: "self_attn.o_proj.weight", cut: columns(queryRows)},
		{buffer: "Norm2", tensor: "post_attention_layernorm.weight", cut: wholeRow},
		{buffer: "Gate", tensor: "mlp.gate_proj.weight", cut: gateRows, joint: "GateUp"},
		{buffer: "Up", tensor: "mlp.up_proj.weight", cut: gateRows, joint: "GateUp"},
		{buffer: "Down", tensor: "mlp.down_proj.weight", cut: columns(gateRows)},
	},
}

// mistral is Llama with a window of attention, or without.
var mistral = family{forms: llama.forms, eight: llama.eight, squares: llama.squares, weights: llama.weights,
	windowed: func(*Config) bool { return true }}
