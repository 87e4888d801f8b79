package main

import (
	"slices"

	"ovgen/docs/examples/llama/generated/gemma"
	"ovgen/docs/examples/llama/generated/gemmafp8"
	"ovgen/docs/examples/llama/generated/gemmanormed"
	"ovgen/docs/examples/llama/generated/gemmanormedfp8"
)

// gemma2 is Gemma 2: Llama with a norm behind attention and one behind the MLP too, norms by 1 + their weights, an
// embedding that grows by the root of its width, GELU's gate, and caps of scores and logits.
var gemma2 = family{
	forms: forms{few: layerOf(&gemma.Program, gemma.New, (*gemma.Plan).Bind,
		func(p *gemma.Plan, own calls) { p.Attention = own.attention })},
	eight: forms{few: layerOf(&gemmafp8.Program, gemmafp8.New, (*gemmafp8.Plan).Bind,
		func(p *gemmafp8.Plan, own calls) { p.Attention = own.attention })},
	weights: slices.Concat(llama.weights[:5], []weight{
		{buffer: "Behind", tensor: "post_attention_layernorm.weight", cut: wholeRow},
		{buffer: "Norm2", tensor: "pre_feedforward_layernorm.weight", cut: wholeRow},
		{buffer: "Gate", tensor: "mlp.gate_proj.weight", cut: gateRows},
		{buffer: "Up", tensor: "mlp.up_proj.weight", cut: gateRows},
		{buffer: "Down", tensor: "mlp.down_proj.weight", cut: columns(gateRows)},
		{buffer: "Behind2", tensor: "post_feedforward_layernorm.weight", cut: wholeRow},
	}),
	windowed: func(*Config) bool { return true },
	acts:     "gelu_pytorch_tanh",
	grown:    true,
	lacks: func(c *Config) {
		scores, logits := 50.0, 30.0
		c.Tied, c.Positions, c.QueryScalar, c.ScoreCap, c.LogitCap = true, 8192, 256, &scores, &logits
	},
}

// gemma3 is the text models of Gemma 3: Gemma 2 with norms of heads, without caps, and with another rotary embedding in
// layers whose attention has a window.
var gemma3 = family{
	forms: forms{few: layerOf(&gemmanormed.Program, gemmanormed.New, (*gemmanormed.Plan).Bind,
		func(p *gemmanormed.Plan, own calls) { p.Attention = own.attention })},
	eight: forms{few: layerOf(&gemmanormedfp8.Program, gemmanormedfp8.New, (*gemmanormedfp8.Plan).Bind,
		func(p *gemmanormedfp8.Plan, own calls) { p.Attention = own.attention })},
	weights:  slices.Concat(gemma2.weights, headNorms),
	apart:    true,
	windowed: gemma2.windowed,
	acts:     gemma2.acts,
	grown:    true,
	lacks: func(c *Config) {
		c.Tied, c.Positions, c.QueryScalar, c.Theta, c.LocalTheta, c.Pattern = true, 131072, 256, 1e6, 1e4, 6
	},
}
